#include "cli/starter_model.hpp"

namespace concord {
namespace {

constexpr const char* starter_body =
    R"(# Every key is explained in doc/model_file.md; `concord schema` makes editors know them.

# name: my system                     # optional: the file's name without its ending
experiment: {start: 0.0, stop: 10.0}  # seconds

parameters: {g: 9.81}                 # of the whole model: numbers, or expressions of each other

subsystems:
  mass:                               # gets a force, gives position and velocity
    equations:
      parameters: {m: 2}              # another value for one run: --set mass.m=3
      inputs: {f: 0, push: 0}         # start values; what nothing feeds stays at its own
      states: {x: 0.5, v: 0}          # start values: numbers, or expressions of parameters
      derivatives:                    # one for each state, of states, inputs, parameters and t
        x: v
        v: (f + push)/m - g
      outputs: {x: x, v: v}           # what others may be fed with, and what is recorded
      units: {x: m, v: m/s, f: N, push: N}  # optional: connected units are converted, or refused

  spring:                             # gets position and velocity, gives a force: no states
    equations:
      parameters: {k: 50, d: 1.5}
      inputs: {x: 0.5, v: 0}
      variables: {stretch: -x}        # optional: names for parts of expressions
      outputs: {f: k*stretch - d*v}
      units: {x: m, v: m/s, f: N}

# To try a controller that is sampled, put two blanks in place of #+, here and below:
#+controller:
#+  equations:
#+    parameters: {gain: 20, wanted: 0.2}
#+    inputs: {x: 0}
#+    discrete: {force: 0}            # constant between events; `when` changes it
#+    when:                           # at every tick, or, with condition:, where that becomes true
#+      - {every: 0.05, set: {force: gain*(wanted - x)}}
#+    outputs: {force: force}
#+    units: {x: m, force: N}

# Other kinds of subsystems, each with its own file:
# motor: {fmu: motor.fmu, parameters: {R: 0.5}}                   # FMI 1.0, 2.0 or 3.0
# road: {table: {file: road.csv, outputs: {height: z}}}            # columns over time
# wing: {native: {library: libwing.so, type: wing}}                # C++
# driver: {python: {file: driver.py, class: Driver}}               # Python
# bench: {remote: {connect: "tcp://127.0.0.1:5555"}, inputs: {u: 0}, outputs: {y: 0}}  # a process

connections:                          # output -> input; an output may feed many inputs
  - spring.f -> mass.f
  - mass.x -> spring.x
  - mass.v -> spring.v
#+- mass.x -> controller.x
#+- controller.force -> mass.push
)";

}  // namespace

std::string starter_model(const std::string& file, const std::string& results) {
  return "# A mass that hangs on a spring with a damper, in two subsystems: replace it piece by "
         "piece.\n#   concord check " +
         file + "   explains the model and finds mistakes; simulates nothing\n#   concord run " +
         file + "     simulates it and writes " + results + "\n#   concord plot " + results +
         "      draws the outputs\n" + starter_body;
}

}  // namespace concord
