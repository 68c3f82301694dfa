#include "cli/command.hpp"
#include "cli/presentation.hpp"
#include "cli/session.hpp"

namespace concord {
namespace {

const RegisteredCommand plot({
    .name = "plot",
    .place = 60,
    .usage = "RESULT.h5 [OTHER.h5 ...] [--variables V] [--phase X,Y] [--network] [-o out.png]",
    .summary =
        "variables over time, or over each other, as a\npicture; several runs in one; the network",
    .brief = "variables as a picture; several runs in one",
    .description =
        "Draws variables over time as a picture (PNG, SVG or PDF), with one panel per unit "
        "(variables\nwithout unit: one panel per name after the dot), in display units where the "
        "model gives them, time in s, min, h or d. Variables have colours and marks, runs dashes; "
        "what "
        "lies on\nanother curve is said; what swings too fast to be seen is an envelope. Jumps at "
        "events are "
        "upright "
        "lines;\nwhere macro-steps are long, curves go between rows as polynomials of high order. "
        "Needs "
        "matplotlib.",
    .words = {{.name = "variables",
               .letter = 'v',
               .value = "NAMES",
               .help = "comma-separated names or patterns: left.x,cell[*].x; many take\n"
                       "several pages, out.png, out_2.png ..., or those of one PDF\n"
                       "(default: the outputs, or the inputs, or the states, whichever is\n"
                       "recorded; of many, the first ones)"},
              {.name = "output",
               .letter = 'o',
               .value = "FILE",
               .help = "picture to write: .png, .svg or .pdf (default: the first results file's\n"
                       "name with .png)"},
              {.name = "phase",
               .letter = 'p',
               .value = "X,Y",
               .help = "the second variable over the first one"},
              {.name = "range", .letter = 'r', .value = "T0,T1", .help = "only this time, in s"},
              {.name = "log",
               .letter = 'l',
               .value = "AXES",
               .help = "logarithmic axes: x, y or xy; what is not positive is left out"},
              {.name = "title",
               .letter = 't',
               .value = "TEXT",
               .help = "instead of the model's name; '' for none"},
              {.name = "width",
               .letter = 'w',
               .value = "84mm",
               .help = "on paper, in mm, cm or in: fonts of 8 points, legends above where it\n"
                       "is narrow, PNG with 300 dots per inch"},
              {.name = "font", .value = "PT", .help = "points; 14 and --width 254mm for slides"},
              {.name = "letters", .help = "(a), (b) ... at panels"},
              {.name = "network",
               .letter = 'n',
               .help = "subsystems and connections instead, with algebraic loops (red) and\n"
                       "ranks (colours), laid out by Graphviz (default: <results>_network.png)"},
              {.name = "follow",
               .letter = 'f',
               .help = "draw anew every two seconds until the run that writes the file ends"}},
    .example = "plot model.h5 -v 'left.*' -o left.png",
    .run =
        [](const Arguments& arguments) {
          return without_session(
              [&]() -> int { go_on_in_python(plot, read_words(plot, after_name(arguments))); });
        },
});

}  // namespace
}  // namespace concord
