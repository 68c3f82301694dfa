#include "cli/command.hpp"
#include "cli/presentation.hpp"
#include "cli/session.hpp"

namespace concord {
namespace {

const RegisteredCommand report_run({
    .name = "report",
    .place = 65,
    .usage = "RESULT.h5 [--variables V] [-o report.html]",
    .summary = "one page on a run: network, trajectories,\nmacro-steps, events, estimates, time",
    .brief = "one page on a run: network, trajectories, events, estimates",
    .description =
        "Writes one page of HTML that needs no network and nothing beside it: how far to trust "
        "the\n"
        "run, its network with algebraic loops and ranks, trajectories to zoom, a phase plot,\n"
        "macro-steps with their iterations and error estimates, events, where the time went, "
        "options\n"
        "and model. Of runs that were interrupted, failed or still go on it shows what is there.",
    .words = {{.name = "variables",
               .letter = 'v',
               .value = "NAMES",
               .help = "comma-separated names or patterns: left.x,cell[*].x\n"
                       "(default: outputs, inputs and states; of many, the first ones)"},
              {.name = "output",
               .letter = 'o',
               .value = "FILE",
               .help = "page to write (default: the results file's name with .html)"}},
    .example = "report model.h5 -o report.html",
    .run =
        [](const Arguments& arguments) {
          return without_session([&]() -> int {
            go_on_in_python(report_run, read_words(report_run, after_name(arguments)));
          });
        },
});

}  // namespace
}  // namespace concord
