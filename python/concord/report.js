function drawNetwork() {
  const place = at("network"), nodes = data.subsystems, edges = data.connections;
  if (nodes.length > 60 || nodes.length < 1) {
    place.append(make("p", {}, `${nodes.length} subsystems are too many for a drawing.`));
    return;
  }
  const svg = (tag, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const boxWidth = node => Math.max(56, 8 * Math.min(24, node.name.length) + 20), boxHeight = 34;
  const widest = Math.max(...nodes.map(boxWidth)), n = nodes.length;
  const radius = n === 1 ? 0 : Math.max(110, n * 24), rx = radius + widest / 2, ry = 0.6 * radius;
  const width = 2 * rx + widest + 60, height = 2 * ry + boxHeight + 90;
  const picture = svg("svg", {viewBox: `0 0 ${width} ${height}`, width, role: "img",
    "aria-label": `${n} subsystems, ${edges.length} connections`});
  const defs = svg("defs", {});
  for (const [id, colour] of [["plain", ink("--soft")], ["loop", "#d55e00"]]) {
    const marker = svg("marker", {id: "arrow-" + id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8,
      markerHeight: 8, orient: "auto-start-reverse"});
    marker.append(svg("path", {d: "M0 0 L8 4 L0 8 z", fill: colour}));
    defs.append(marker);
  }
  picture.append(defs);
  const spots = nodes.map((node, i) => {
    const angle = Math.PI + 2 * Math.PI * i / n;
    return {x: width / 2 + rx * Math.cos(angle), y: height / 2 + ry * Math.sin(angle), w: boxWidth(node)};
  });
  const border = (from, to) => {
    const dx = to.x - from.x, dy = to.y - from.y;
    const share = Math.min((from.w / 2 + 3) / Math.abs(dx || 1e-9), (boxHeight / 2 + 3) / Math.abs(dy || 1e-9));
    return {x: from.x + dx * share, y: from.y + dy * share};
  };
  const bundles = new Map();
  for (const edge of edges) {
    const key = edge.from + "," + edge.to;
    if (!bundles.has(key)) bundles.set(key, {...edge, what: []});
    bundles.get(key).what.push(edge.what);
    if (edge.loop) bundles.get(key).loop = edge.loop;
  }
  for (const bundle of bundles.values()) {
    const from = spots[bundle.from], to = spots[bundle.to], kind = bundle.loop ? "loop" : "plain";
    const dx = to.x - from.x, dy = to.y - from.y;
    const bend = {x: (from.x + to.x) / 2 - 0.12 * dy, y: (from.y + to.y) / 2 + 0.12 * dx, w: 0};
    const itself = bundle.from === bundle.to;
    const a = border(from, bend), b = border(to, bend);
    const d = itself ? `M${from.x - 12} ${from.y - 20} c-12 -34 36 -34 24 0`
      : `M${a.x} ${a.y} Q${bend.x} ${bend.y} ${b.x} ${b.y}`;
    const path = svg("path", {d, fill: "none", stroke: bundle.loop ? "#d55e00" : ink("--soft"), "stroke-width": 1.5,
      "marker-end": `url(#arrow-${kind})`, ...(bundle.loop ? {"stroke-dasharray": "6 3"} : {})});
    path.append(svg("title", {}, bundle.what.join("\n")));
    picture.append(path);
    if (bundles.size <= 12 && !itself) {
      const text = bundle.what[0] + (bundle.what.length > 1 ? ` and ${bundle.what.length - 1} more` : "");
      picture.append(svg("text", {x: (a.x + 2 * bend.x + b.x) / 4, y: (a.y + 2 * bend.y + b.y) / 4 - 4,
        "text-anchor": "middle", fill: ink("--soft")}, text));
    }
  }
  nodes.forEach((node, i) => {
    const spot = spots[i], box = svg("rect", {x: spot.x - spot.w / 2, y: spot.y - boxHeight / 2, width: spot.w,
      height: boxHeight, rx: 6, fill: ink("--panel"), stroke: colours[node.rank % colours.length], "stroke-width": 2});
    box.append(svg("title", {}, `${node.name}: ${node.kind}, rank ${node.rank}`));
    const name = node.name.length > 24 ? node.name.slice(0, 23) + "\u2026" : node.name;
    picture.append(box, svg("text", {x: spot.x, y: spot.y + 4.5, "text-anchor": "middle", fill: ink("--ink")}, name));
  });
  place.append(picture);
  const ranks = new Set(nodes.map(node => node.rank)).size, loops = new Set(edges.map(edge => edge.loop)); loops.delete(0);
  place.append(make("p", {class: "soft"}, `${n} subsystems on ${ranks} rank${ranks > 1 ? "s" : ""} (colours), ` +
    `${edges.length} connections, ${loops.size || "no"} algebraic loop${loops.size > 1 ? "s" : ""}` +
    (loops.size ? " (dashed)" : "")));
  if (edges.length) place.append(details("All connections", table("connections", ["from", "to", "algebraic loop"],
    edges.slice(0, 2000).map(edge => [edge.output, edge.input, edge.loop || ""]))));
}

function drawTrajectories() {
  const place = at("trajectories"), group = drawPanels(place, data.variables);
  if (data.left_out.length) place.append(details(`${data.left_out.length} variables are left out (--variables)`,
    make("p", {}, data.left_out.join(", "))));
  if (data.thinned) place.append(make("p", {class: "soft"},
    "Long series are thinned: first, last, smallest and largest of each stretch of time."));
  return group;
}

function drawPhase() {
  const place = at("phase"), variables = data.variables;
  if (variables.length < 2) { place.append(make("p", {}, "Needs two variables.")); return; }
  const choose = (label, chosen) => {
    const box = make("select", {"aria-label": label});
    variables.forEach((v, i) => box.append(make("option", i === chosen ? {value: i, selected: ""} : {value: i}, v.name)));
    box.addEventListener("change", draw);
    return box;
  };
  const x = choose("variable over x", 0), y = choose("variable over y", 1), area = make("div");
  place.append(make("p", {class: "no-print"}, y, " over ", x), area);
  /* At the times of the first, by lines through the second. */
  function along(variable, times) {
    let i = 0;
    return times.map(t => {
      while (i + 1 < variable.x.length - 1 && variable.x[i + 1] <= t) ++i;
      const a = variable.x[i], b = variable.x[i + 1], p = variable.y[i], q = variable.y[i + 1];
      return b === undefined || b === a || p === null || q === null ? p : p + (q - p) * (t - a) / (b - a);
    });
  }
  function draw() {
    const one = variables[x.value], other = variables[y.value];
    const same = one.x.length === other.x.length && one.x.every((t, i) => t === other.x[i]);
    area.replaceChildren();
    const label = v => v.name + (v.unit ? " [" + v.unit + "]" : "");
    new Chart(area, label(other), [{name: other.name, x: one.y, y: same ? other.y : along(other, one.x)}],
      {phase: true, xLabel: label(one)});
  }
  draw();
}

function drawSteps(group) {
  const place = at("steps"), steps = data.steps;
  if (!steps.length) { place.append(make("p", {}, "No macro-step was recorded.")); return; }
  for (const panel of steps) new Chart(place, panel.title, panel.curves, {group, log: panel.log});
  place.append(table("macro-steps", ["", "least", "mean", "largest", "sum"],
    data.step_sums.map(row => [row[0], ...row.slice(1).map(short)]), [1, 2, 3, 4]));
}

at("title").textContent = data.model;
document.title = data.model + ": report";
const failed = ["failed", "diverged"].includes(data.status);
at("status").append(make("span", {class: "status " + (failed ? "failed" : data.status)}, data.status),
  ` at t = ${short(data.end)} s \u00b7 ${data.facts.join(" \u00b7 ")}`);
data.trust.forEach(line => at("trust").append(make("p", {}, line)));
if (data.errors.length) at("trust").append(table("estimated errors", ["output", "estimated error, relative to its size"],
  data.errors.map(([name, error]) => [name, short(error)]), [1]));
drawNetwork();
const shared = drawTrajectories();
drawPhase();
drawSteps(shared);
if (data.events.count) at("events").append(
  make("p", {}, `${data.events.count} events` + (data.events.count > data.events.list.length ?
    `, the first ${data.events.list.length} of them:` : ":")),
  table("events", ["t [s]", "subsystem", "what"], data.events.list.map(([t, who, what]) => [t, who || "(model)", what])));
else at("events").append(make("p", {}, "None."));
const costs = data.subsystems.filter(one => one.seconds > 0).sort((p, q) => q.seconds - p.seconds).slice(0, 100);
if (costs.length) at("time").append(table("time per subsystem",
  ["subsystem", "s", "", "rank", "integrations", "right-hand sides", "micro-steps"],
  costs.map(one => [one.name, short(one.seconds),
    make("span", {class: "bar", style: `width:${(12 * one.seconds / costs[0].seconds).toFixed(2)}rem`}),
    one.rank, one.advances, one.rhs, one.micro]), [1, 3, 4, 5, 6]));
if (data.phases.length) at("time").append(table("time per rank", ["rank", ...data.phase_names.map(name => name + " [s]")],
  data.phases.map((row, i) => [i, ...row.map(short)]), data.phase_names.map((_, i) => i + 1)));
if (!costs.length && !data.phases.length) at("time").append(make("p", {}, "Known when a run has ended."));
at("run").append(table("run", ["", ""], data.run));
if (data.options) at("run").append(details("Effective options", make("pre", {}, data.options)));
if (data.model_text) at("run").append(details("Model", make("pre", {}, data.model_text)));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => location.reload());
