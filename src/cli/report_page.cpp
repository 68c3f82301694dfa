#include "cli/report_page.hpp"

namespace concord {
namespace {

constexpr const char* looks = R"css(
:root { --page: #ffffff; --ink: #1c1f24; --soft: #6a717c; --line: #d9dde3; --panel: #f6f7f9;
        --good: #0f7b4b; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14171b; --ink: #e7eaee; --soft: #9aa3af; --line: #333941; --panel: #1c2026;
          --good: #4cc38a; --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 75rem; background: var(--page);
       color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; border-bottom: 1px solid var(--line); }
p { margin: .4rem 0; }
.soft { color: var(--soft); }
.status { font-weight: 600; } .status.completed { color: var(--good); }
.status.failed, .status.diverged { color: var(--bad); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid var(--line);
         vertical-align: top; overflow-wrap: anywhere; }
th { color: var(--soft); font-weight: 500; } td.number, th.number { text-align: right; }
.wide { overflow-x: auto; }
pre { background: var(--panel); padding: .8rem; overflow: auto; max-height: 24rem; }
details { margin: .5rem 0; } summary { cursor: pointer; }
.chart { position: relative; margin: .4rem 0 1rem; }
.chart canvas { width: 100%; height: 240px; display: block; touch-action: pan-y;
                border: 1px solid var(--line); border-radius: 4px; }
.chart canvas:focus-visible { outline: 2px solid #0072b2; }
.legend { display: flex; flex-wrap: wrap; gap: .1rem .9rem; margin: .2rem 0; font-size: .9rem; }
.legend label { cursor: pointer; } .legend i { display: inline-block; width: .9rem; height: .25rem;
  margin: 0 .3rem; vertical-align: middle; }
.tip { position: absolute; pointer-events: none; background: var(--panel); padding: .2rem .5rem;
       border: 1px solid var(--line); border-radius: 4px; font-size: .85rem; display: none;
       white-space: pre; z-index: 1; }
.bar { display: block; height: .8rem; background: #0072b2; border-radius: 2px; min-width: 1px; }
svg { max-width: 100%; height: auto; } svg text { font: 13px system-ui, sans-serif; }
select, button { font: inherit; color: inherit; background: var(--panel); max-width: 100%;
                 border: 1px solid var(--line); border-radius: 4px; padding: .15rem .4rem; }
@media print { body { max-width: none; } .no-print { display: none; } pre { max-height: none; } }
)css";

constexpr const char* frame = R"html(<main>
<header><h1 id="title"></h1><p id="status"></p></header>
<section aria-labelledby="h-trust"><h2 id="h-trust">How far to trust it</h2><div id="trust"></div></section>
<section aria-labelledby="h-net"><h2 id="h-net">Network</h2><div id="network"></div></section>
<section aria-labelledby="h-traj"><h2 id="h-traj">Trajectories</h2>
<p class="soft no-print">Drag to zoom, double-click or 0 for all; keys + - and arrows. All panels share the time.</p>
<div id="trajectories"></div></section>
<section aria-labelledby="h-phase"><h2 id="h-phase">Phase plot</h2><div id="phase"></div></section>
<section aria-labelledby="h-steps"><h2 id="h-steps">Macro-steps</h2><div id="steps"></div></section>
<section aria-labelledby="h-events"><h2 id="h-events">Events</h2><div id="events"></div></section>
<section aria-labelledby="h-time"><h2 id="h-time">Where the time went</h2><div id="time"></div></section>
<section aria-labelledby="h-run"><h2 id="h-run">What was run</h2><div id="run"></div></section>
</main>
<noscript>This page draws with JavaScript, which is switched off.</noscript>
)html";

/// As text between tags.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text)
    result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return result;
}

/// JSON that ends no script element: "<" occurs in its strings only.
std::string inside_script(const std::string& json) {
  std::string result;
  for (const char c : json) result += c == '<' ? "\\u003c" : std::string(1, c);
  return result;
}

}  // namespace

std::string report_page(const std::string& title, const std::string& data) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         escaped(title) + "</title>\n<style>" + looks + "</style>\n</head>\n<body>\n" + frame +
         "<script type=\"application/json\" id=\"data\">" + inside_script(data) +
         "</script>\n<script>" + report_script + "</script>\n</body>\n</html>\n";
}

}  // namespace concord
