#include "cli/watch_page.hpp"

#include <nlohmann/json.hpp>

#include "cli/html_page.hpp"

namespace concord {
namespace {

using PageJson = nlohmann::json;

constexpr const char* watch_frame = R"html(<main>
<header><h1 id="title">Waiting for the run</h1><p id="status"></p>
<p><progress id="progress" max="1" value="0" aria-label="how far the run is"></progress></p>
<p id="facts" class="soft"></p><p id="trouble" role="alert"></p></header>
<section id="settings-part" aria-labelledby="h-settings" hidden><h2 id="h-settings">Settings</h2>
<div id="settings" class="settings"></div></section>
<section aria-labelledby="h-traj"><h2 id="h-traj">Trajectories</h2>
<p class="soft">Drag to zoom, double-click or 0 for all; keys + - and arrows. All panels share the time.</p>
<div id="trajectories"></div></section>
<section aria-labelledby="h-events"><h2 id="h-events">Events</h2><div id="events"></div></section>
</main>
)html";

constexpr const char* watch_script = R"js(
const known = {since: null, events: 0, sets: 0}, settings = new Map();
const most = 4000;  /* rows that a page keeps; of more, every second one */
let group = null, times = [], curves = [], happened = [];

function seconds(x) {
  if (x < 120) return x.toFixed(x < 10 ? 1 : 0) + " s";
  const part = n => String(Math.floor(n) % 60).padStart(2, "0");
  return `${Math.floor(x / 3600)}:${part(x / 60)}:${part(x)}`;
}

function showState(news) {
  at("title").textContent = news.model;
  document.title = `${news.model}: ${news.status}`;
  const bad = ["failed", "diverged", "no more"].includes(news.status) ? "failed" : news.status;
  at("status").replaceChildren(make("span", {class: "status " + bad}, news.status),
    ` at t = ${short(news.now)} s` + (news.over ? ` \u00b7 exit code ${news.code}` : ""));
  const whole = news.stop === null ? 0 : news.stop - news.start;
  at("progress").value = whole > 0 ? (news.now - news.start) / whole : Number(news.over);
  at("facts").textContent = [whole > 0 ? (100 * (news.now - news.start) / whole).toFixed(1) + " %" : "",
    `${news.rows} rows, the last ${short(news.distance)} s apart`, `${news.events} events`,
    news.left !== null && !news.over ? "left " + seconds(news.left) : ""].filter(Boolean).join(" \u00b7 ");
}

function thinOut() {
  const keep = values => values.splice(0, values.length, ...values.filter((_, i) => i % 2 === 0 || i === values.length - 1));
  [times, ...curves.map(curve => curve.y)].forEach(keep);
}

function showRows(news) {
  if (!group) {
    curves = news.variables.map(one => ({...one, x: times, y: []}));
    group = drawPanels(at("trajectories"), curves);
  }
  news.times.forEach((t, i) => {
    times.push(t);
    news.values.forEach((values, k) => curves[k].y.push(values[i]));
  });
  if (news.times.length) known.since = times[times.length - 1];
  if (times.length > most) thinOut();
  if (news.times.length || news.happened.length) group.forEach(chart => chart.renew());
}

function showEvents(news) {
  known.events = news.happened_end;
  if (!news.happened.length && at("events").children.length) return;
  happened = happened.concat(news.happened).slice(-200);
  data.events.marks = happened.map(([t]) => t);
  at("events").replaceChildren(happened.length ?
    table("events", ["t [s]", "subsystem", "what"], [...happened].reverse().map(([t, who, what]) => [short(t), who || "(model)", what]), [0]) :
    make("p", {}, "None."));
}

/* Where no limits are given a slider reaches from 0 to twice what is set. */
function reachOf(one, value) {
  if (one.least !== null) return [one.least, one.most];
  return value > 0 ? [0, 2 * value] : value < 0 ? [2 * value, 0] : [-1, 1];
}

function addSetting(one) {
  const id = "set-" + settings.size, name = one.unit ? `${one.name} [${one.unit}]` : one.name;
  const slider = make("input", {type: "range", step: "any", id, "aria-label": name});
  const number = make("input", {type: "number", step: "any", "aria-label": name + ", number"});
  const told = make("output", {for: id});
  const show = value => {
    let [a, b] = [Number(slider.min), Number(slider.max)];
    if (!(a <= value && value <= b) || !slider.max) [slider.min, slider.max] = reachOf(one, value);
    slider.value = number.value = value;
  };
  const setting = {value: one.value, wanted: null, busy: false, said: (text, bad) => {
    told.textContent = text; told.className = bad ? "failed" : "";
  }, show};
  /* One at a time: while one is on its way, the last one waits. */
  const send = async () => {
    if (setting.busy || setting.wanted === null) return;
    const value = setting.wanted;
    [setting.busy, setting.wanted] = [true, null];
    try {
      const reply = await fetch("set" + location.search, {method: "POST", body: JSON.stringify({[one.name]: value})});
      if (!reply.ok) setting.said(await reply.text(), true);
    } catch { setting.said("nobody takes it: concord watch has ended", true); }
    setting.busy = false;
    send();
  };
  const want = value => { setting.wanted = value; setting.said(`${short(value)} is on its way`); send(); };
  slider.addEventListener("input", () => { number.value = slider.value; want(Number(slider.value)); });
  number.addEventListener("change", () => {
    if (number.value === "" || !Number.isFinite(Number(number.value))) return setting.said("give a finite number", true);
    want(Number(number.value));
  });
  settings.set(one.name, setting);
  at("settings").append(make("div", {class: "setting"}, make("label", {for: id}, name, number), slider, told));
  show(one.value);
}

function showSettings(news) {
  for (const one of news.targets) if (!settings.has(one.name)) addSetting(one);
  at("settings-part").hidden = !settings.size;
  known.sets = news.said_end;
  for (const one of news.said) {
    const setting = settings.get(one.name);
    if (!setting) { at("trouble").textContent = `${one.name}: ${one.why}`; continue; }
    if (one.kind === "planned") setting.said(`${short(one.value)} from t = ${short(one.time)} s on`);
    if (one.kind === "refused") { setting.said(one.why, true); setting.show(setting.value); }
    if (one.kind === "done") {
      setting.value = one.value;
      setting.said(`${short(one.value)} since t = ${short(one.time)} s`);
      if (!setting.busy && setting.wanted === null && !document.activeElement.matches("input")) setting.show(one.value);
    }
  }
  if (news.over) document.querySelectorAll("#settings input").forEach(input => { input.disabled = true; });
}

async function follow() {
  const asked = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(known)) if (value !== null) asked.set(name, value);
  let wait = 1000, over = false;
  try {
    const reply = await fetch("news?" + asked);
    if (!reply.ok) throw new Error(await reply.text());
    const news = await reply.json();
    at("trouble").textContent = "";
    if (news.model) showState(news);
    if (news.variables.length) { showEvents(news); showRows(news); }
    showSettings(news);
    [wait, over] = [1000 * news.every, news.over];
  } catch (error) {
    at("trouble").textContent = `No news from concord watch: ${error.message}`;
  }
  if (!over) setTimeout(follow, wait);
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (group || []).forEach(chart => chart.draw()));
follow();
)js";

const char* kind_of(ToldSet::Kind kind) {
  switch (kind) {
    case ToldSet::Kind::planned:
      return "planned";
    case ToldSet::Kind::done:
      return "done";
    case ToldSet::Kind::refused:
      break;
  }
  return "refused";
}

PageJson limit(const std::optional<double>& value) { return value ? PageJson(*value) : PageJson(); }

}  // namespace

std::string watch_page() {
  return html_page("concord watch", watch_frame, R"({"events": {"marks": []}})", watch_script);
}

std::string in_json(const PageNews& news, const PageServer::Known& known) {
  const WatchedRun& run = news.run;
  PageJson json{{"model", run.model},
                {"status", run.status},
                {"start", run.start},
                {"stop", limit(run.stop)},
                {"now", run.now},
                {"rows", run.rows},
                {"distance", run.last_distance},
                {"events", run.events},
                {"left", run.left},
                {"over", news.over},
                {"code", news.exit_code},
                {"times", news.rows.time},
                {"every", news.every},
                {"happened_end", news.events.end()},
                {"said_end", news.sets.end()}};
  for (const char* list : {"variables", "values", "happened", "targets", "said"})
    json[list] = PageJson::array();
  for (const WatchedRun::Variable& variable : news.rows.variables) {
    json["variables"].push_back({{"name", variable.name}, {"unit", variable.unit}});
    json["values"].push_back(variable.values);
  }
  for (const ToldEvent& event : news.events.from(known.events))
    json["happened"].push_back({event.time, event.subsystem, event.what});
  for (const StreamTarget& target : news.targets)
    json["targets"].push_back({{"name", target.name},
                               {"unit", target.unit},
                               {"value", target.start},
                               {"least", limit(target.least)},
                               {"most", limit(target.most)}});
  for (const ToldSet& one : news.sets.from(known.sets))
    json["said"].push_back({{"kind", kind_of(one.kind)},
                            {"name", one.name},
                            {"value", one.value},
                            {"time", one.time},
                            {"why", one.why}});
  return json.dump(-1, ' ', false, PageJson::error_handler_t::replace);
}

}  // namespace concord
