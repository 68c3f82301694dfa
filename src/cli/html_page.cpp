#include "cli/html_page.hpp"

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
th { color: var(--soft); font-weight: 500; }
td.number, th.number { text-align: right; white-space: nowrap; }
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
.settings { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); gap: .8rem 1.5rem; }
.setting label { display: flex; justify-content: space-between; gap: .6rem; overflow-wrap: anywhere; }
.setting input[type=range] { width: 100%; accent-color: #0072b2; }
input[type=number] { font: inherit; color: inherit; background: var(--panel); width: 9rem;
  border: 1px solid var(--line); border-radius: 4px; padding: .15rem .4rem; }
.setting output { font-size: .85rem; color: var(--soft); min-height: 1.3em; display: block; }
.setting output.failed { color: var(--bad); }
progress { width: 100%; accent-color: #0072b2; }
@media print { body { max-width: none; } .no-print { display: none; } pre { max-height: none; } }
)css";

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

std::string html_page(const std::string& title, const std::string& body, const std::string& data,
                      const std::string& script) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<title>" +
         escaped(title) + "</title>\n<style>" + looks + "</style>\n</head>\n<body>\n" + body +
         "<noscript>This page draws with JavaScript, which is switched off.</noscript>\n"
         "<script type=\"application/json\" id=\"data\">" +
         inside_script(data) + "</script>\n<script>" + drawing_script + script +
         "</script>\n</body>\n</html>\n";
}

}  // namespace concord
