#include "cli/report_page.hpp"

#include "cli/html_page.hpp"

namespace concord {
namespace {

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
)html";

}  // namespace

std::string report_page(const std::string& title, const std::string& data) {
  return html_page(title, frame, data, report_script);
}

}  // namespace concord
