#include "cli/report_page.hpp"

namespace concord {

const char* const report_script = R"js(
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#b8a800"];
const at = id => document.getElementById(id);
const ink = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
function short(x) {
  if (x === null) return "?";
  const rounded = Number(x.toPrecision(5)), size = Math.abs(rounded);
  return size !== 0 && (size < 1e-3 || size >= 1e7) ? rounded.toExponential() : rounded.toString();
}

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function table(caption, head, rows, numbers = []) {
  const kind = i => numbers.includes(i) ? {class: "number"} : {};
  return make("div", {class: "wide"}, make("table", {"aria-label": caption},
    make("thead", {}, make("tr", {}, ...head.map((text, i) => make("th", {scope: "col", ...kind(i)}, text)))),
    make("tbody", {}, ...rows.map(row =>
      make("tr", {}, ...row.map((cell, i) => make("td", kind(i), cell instanceof Node ? cell : String(cell))))))));
}

function details(summary, ...content) {
  return make("details", {}, make("summary", {}, summary), ...content);
}

/* Values at round distances, or powers of ten. */
function ticks(from, to, log) {
  if (log) {
    const result = [], a = Math.ceil(Math.log10(from)), b = Math.floor(Math.log10(to));
    for (let e = a; e <= b; e += Math.max(1, Math.ceil((b - a) / 6))) result.push(10 ** e);
    if (result.length > 1) return result;
  }
  const raw = (to - from) / 6, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw);
  const result = [];
  for (let k = Math.ceil(from / step); k * step <= to; ++k) result.push(Number((k * step).toPrecision(12)));
  return result;
}

/* Curves {name, x, y} over x; charts of one group share their x axis. */
class Chart {
  constructor(parent, title, curves, options = {}) {
    this.curves = curves.map((curve, i) => ({...curve, colour: colours[i % colours.length], shown: true}));
    this.options = options;
    this.group = options.group || [];
    this.group.push(this);
    this.whole = this.reach("x");
    this.view = [...this.whole];
    this.canvas = make("canvas", {tabindex: 0, role: "img", "aria-label": title + ": " + this.inWords()});
    this.tip = make("div", {class: "tip"});
    const legend = make("div", {class: "legend"});
    this.curves.forEach(curve => {
      const box = make("input", {type: "checkbox", checked: ""});
      box.addEventListener("change", () => { curve.shown = box.checked; this.draw(); });
      legend.append(make("label", {}, box, make("i", {style: "background:" + curve.colour}), curve.name));
    });
    parent.append(make("div", {class: "chart"}, make("strong", {}, title), legend, this.canvas, this.tip));
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  inWords() {
    return this.curves.slice(0, 8).map(curve => {
      const y = curve.y.filter(v => v !== null);
      return y.length ? `${curve.name} from ${short(Math.min(...y.slice(0, 1e4)))}` +
        ` to ${short(Math.max(...y.slice(0, 1e4)))}, last ${short(y[y.length - 1])}` : curve.name;
    }).join("; ");
  }

  reach(axis, shownOnly = false) {
    let low = Infinity, high = -Infinity;
    const log = axis === "y" && this.options.log;
    for (const curve of this.curves) {
      if (shownOnly && !curve.shown) continue;
      for (let i = 0; i < curve.x.length; ++i) {
        const v = curve[axis][i];
        if (v === null || (log && v <= 0)) continue;
        if (axis === "y" && !this.options.phase && (curve.x[i] < this.view[0] || curve.x[i] > this.view[1])) continue;
        low = Math.min(low, v); high = Math.max(high, v);
      }
    }
    if (!(low <= high)) [low, high] = log ? [0.1, 1] : [0, 1];
    if (log) return low === high ? [low / 2, high * 2] : [low / 1.3, high * 1.3];
    const margin = axis === "x" && !this.options.phase ? 0 : 0.05 * (high - low) || 0.05 * Math.abs(high) || 1;
    return [low - margin, high + margin];
  }

  draw() {
    const scale = window.devicePixelRatio || 1, width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    this.canvas.width = width * scale; this.canvas.height = height * scale;
    const c = this.canvas.getContext("2d");
    c.scale(scale, scale);
    const box = this.box = {left: 66, right: width - 12, top: 10, bottom: height - 34};
    const [x0, x1] = this.view, [y0, y1] = this.reach("y", true), log = this.options.log;
    const part = (v, a, b) => log ? Math.log(v / a) / Math.log(b / a) : (v - a) / (b - a);
    this.toX = x => box.left + (x - x0) / (x1 - x0) * (box.right - box.left);
    const toY = y => box.bottom - part(y, y0, y1) * (box.bottom - box.top);
    c.font = "12px system-ui, sans-serif"; c.lineWidth = 1;
    c.fillStyle = ink("--soft"); c.strokeStyle = ink("--line");
    c.textAlign = "center"; c.textBaseline = "top";
    for (const x of ticks(x0, x1)) {
      c.beginPath(); c.moveTo(this.toX(x), box.top); c.lineTo(this.toX(x), box.bottom); c.stroke();
      c.fillText(short(x), this.toX(x), box.bottom + 4);
    }
    c.textAlign = "right"; c.textBaseline = "middle";
    for (const y of ticks(y0, y1, log)) {
      c.beginPath(); c.moveTo(box.left, toY(y)); c.lineTo(box.right, toY(y)); c.stroke();
      c.fillText(short(y), box.left - 6, toY(y));
    }
    c.textAlign = "right"; c.textBaseline = "bottom";
    c.fillText(this.options.xLabel || "t [s]", box.right, height - 1);
    c.save(); c.beginPath(); c.rect(box.left, box.top, box.right - box.left, box.bottom - box.top); c.clip();
    if (!this.options.phase) {
      c.strokeStyle = ink("--soft"); c.globalAlpha = 0.35;
      const inView = data.events.marks.filter(t => t >= x0 && t <= x1);
      if (inView.length < 300) for (const t of inView) {
        c.beginPath(); c.moveTo(this.toX(t), box.top); c.lineTo(this.toX(t), box.bottom); c.stroke();
      }
      c.globalAlpha = 1;
    }
    c.lineWidth = 1.6; c.lineJoin = "round";
    for (const curve of this.curves) {
      if (!curve.shown) continue;
      c.strokeStyle = curve.colour; c.beginPath();
      let open = false;
      for (let i = 0; i < curve.x.length; ++i) {
        const y = curve.y[i];
        if (y === null || (log && y <= 0)) { open = false; continue; }
        if (open) c.lineTo(this.toX(curve.x[i]), toY(y)); else c.moveTo(this.toX(curve.x[i]), toY(y));
        open = true;
      }
      c.stroke();
    }
    if (this.drag) {
      c.globalAlpha = 0.15; c.fillStyle = ink("--ink");
      c.fillRect(Math.min(...this.drag), box.top, Math.abs(this.drag[1] - this.drag[0]), box.bottom - box.top);
    }
    c.restore();
  }

  show(view) {
    const [a, b] = this.whole, least = (b - a) * 1e-6;
    const from = Math.max(a, view[0]), to = Math.min(b, view[1]);
    if (to - from < least) return;
    for (const chart of this.group) { chart.view = [from, to]; chart.draw(); }
  }

  zoom(factor, shift = 0) {
    const [a, b] = this.view, middle = (a + b) / 2 + shift * (b - a), half = (b - a) / 2 * factor;
    this.show([middle - half, middle + half]);
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("mousemove", event => {
      if (this.drag) { this.drag[1] = event.offsetX; this.draw(); }
      if (!this.options.phase) this.explain(event.offsetX, event.offsetY);
    });
    canvas.addEventListener("mouseleave", () => { this.tip.style.display = "none"; });
    if (this.options.phase) return;
    const toTime = px => this.view[0] + (px - this.box.left) / (this.box.right - this.box.left) *
      (this.view[1] - this.view[0]);
    canvas.addEventListener("mousedown", event => { this.drag = [event.offsetX, event.offsetX]; });
    window.addEventListener("mouseup", () => {
      if (!this.drag) return;
      const [a, b] = this.drag.map(toTime).sort((p, q) => p - q), far = Math.abs(this.drag[1] - this.drag[0]) > 5;
      this.drag = null;
      if (far) this.show([a, b]); else this.draw();
    });
    canvas.addEventListener("dblclick", () => this.show(this.whole));
    const keys = {"+": [0.5], "-": [2], "ArrowLeft": [1, -0.25], "ArrowRight": [1, 0.25]};
    canvas.addEventListener("keydown", event => {
      if (event.key === "0") this.show(this.whole);
      else if (keys[event.key]) this.zoom(...keys[event.key]);
      else return;
      event.preventDefault();
    });
  }

  explain(px, py) {
    if (!this.toX || px < this.box.left || px > this.box.right) { this.tip.style.display = "none"; return; }
    const t = this.view[0] + (px - this.box.left) / (this.box.right - this.box.left) * (this.view[1] - this.view[0]);
    const lines = ["t = " + short(t)];
    for (const curve of this.curves.filter(one => one.shown).slice(0, 12)) {
      let low = 0, high = curve.x.length - 1;
      while (high - low > 1) { const mid = (low + high) >> 1; if (curve.x[mid] <= t) low = mid; else high = mid; }
      lines.push(curve.name + " = " + short(curve.y[t - curve.x[low] < curve.x[high] - t ? low : high]));
    }
    this.tip.textContent = lines.join("\n");
    this.tip.style.display = "block";
    const left = px < this.canvas.clientWidth / 2 ? px + 16 : px - this.tip.offsetWidth - 16;
    this.tip.style.left = Math.max(0, left) + "px";
    this.tip.style.top = this.canvas.offsetTop + Math.min(py, this.canvas.clientHeight - this.tip.offsetHeight) + "px";
  }
}

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
  const place = at("trajectories"), group = [], panels = new Map();
  for (const variable of data.variables) {
    const key = variable.unit ? "[" + variable.unit + "]" : variable.name.slice(variable.name.lastIndexOf(".") + 1);
    if (!panels.has(key)) panels.set(key, []);
    panels.get(key).push(variable);
  }
  for (const [key, all] of panels)
    for (let i = 0; i < all.length; i += 8) {
      const curves = all.slice(i, i + 8);
      const names = new Set(curves.map(v => v.name.slice(v.name.lastIndexOf(".") + 1)));
      const name = names.size === 1 && key.startsWith("[") ? [...names][0] + " " + key : key;
      new Chart(place, name, curves, {group});
    }
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
)js";

}  // namespace concord
