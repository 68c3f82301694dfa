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
    this.title = title;
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

  /* The curves have grown: the view too, where it has shown all of them. */
  renew() {
    const all = this.view.every((x, i) => x === this.whole[i]);
    this.whole = this.reach("x");
    if (all) this.view = [...this.whole];
    this.canvas.setAttribute("aria-label", this.title + ": " + this.inWords());
    this.draw();
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

/* Of one unit in one chart, which are few enough to tell apart. */
function drawPanels(place, variables) {
  const group = [], panels = new Map();
  for (const variable of variables) {
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
  return group;
}
