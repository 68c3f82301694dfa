#include "modelfile/yaml/model_keys.hpp"

#include "modelfile/yaml/table_words.hpp"

namespace concord {
namespace {

using Kind = EntryShape::Kind;

constexpr EntryShape number{Kind::number}, expression{Kind::expression}, text{Kind::text},
    flag{Kind::flag}, value{Kind::value}, number_or_nothing{Kind::number, true},
    text_or_nothing{Kind::text, true};

constexpr EntryShape names_of(const EntryShape& each) {
  return {Kind::names, true, nullptr, &each};
}
constexpr EntryShape paths_of(const EntryShape& each) {
  return {Kind::paths, true, nullptr, &each};
}
constexpr EntryShape vectors_of(const EntryShape& each) {
  return {Kind::vectors, true, nullptr, &each};
}
constexpr EntryShape listable(EntryShape map) {
  map.listable = true;
  return map;
}
constexpr EntryShape list_of(const EntryShape& each) { return {Kind::list, true, nullptr, &each}; }
constexpr EntryShape record_of(Keys keys) { return {Kind::record, false, keys}; }
constexpr EntryShape choice_of(std::span<const std::string_view> words) {
  return {Kind::choice, false, nullptr, nullptr, 0, words};
}

constexpr EntryShape range{Kind::list, false, nullptr, &number, 2},
    rounds{Kind::names, false, nullptr, &range, 1};
constexpr EntryShape subsystem = record_of(subsystem_keys), a_template = record_of(template_keys),
                     connection{Kind::either, false, connection_keys, &text},
                     constraint = record_of(constraint_keys),
                     initial{Kind::either, false, initial_keys, &text}, group = list_of(text),
                     when = record_of(when_keys), a_map = record_of(map_keys);
constexpr EntryShape sets = vectors_of(expression),
                     whens{Kind::list, true, nullptr, &when, 0, {}, false, &sets};
constexpr auto interpolation_words = words_of(interpolations);
constexpr auto beyond_words = words_of(rules_beyond);
constexpr auto outside_words = words_of(rules_outside);
constexpr std::string_view hold_words[] = {"zoh"};
constexpr std::string_view offer_words[] = {"state", "polynomials", "slopes"};
constexpr EntryShape offer = choice_of(offer_words);
constexpr std::string_view order_words[] = {"kept", "free"};
constexpr std::string_view message_words[] = {"numbers", "texts", "bytes"};
constexpr EntryShape channel = record_of(channel_keys);

constexpr Key name{"name", text, "of the model: one line"};
constexpr Key functions{"functions", paths_of(expression), "name(arguments): expression"};
constexpr Key repeat{"repeat", rounds, "{i: [1, 100]}: as many of them, of which i is the index"};

/// What a subsystem is made of.
constexpr Key equations{.name = "equations",
                        .shape = record_of(equations_keys),
                        .meaning = "an ODE written here",
                        .alternative = true},
    table{.name = "table",
          .shape = record_of(table_keys),
          .meaning = "signals from a CSV or a results file",
          .alternative = true},
    fmu{.name = "fmu",
        .shape = text,
        .meaning = "FMI 1.0, 2.0 or 3.0: a path relative to this file",
        .alternative = true},
    native{.name = "native",
           .shape = record_of(native_keys),
           .meaning = "a C++ class",
           .alternative = true},
    python{.name = "python",
           .shape = record_of(python_keys),
           .meaning = "a class in Python",
           .alternative = true},
    remote{.name = "remote",
           .shape = record_of(remote_keys),
           .meaning = "a process outside, here or elsewhere",
           .alternative = true},
    messages{.name = "messages",
             .shape = record_of(messages_keys),
             .meaning = "a network of messages: delays, queues, losses, a CAN bus",
             .alternative = true},
    system_{.name = "system",
            .shape = {Kind::either, false, system_keys, &text},
            .meaning = "subsystems within, or a file of such: a path relative to this file",
            .alternative = true};
constexpr Key run{"run", record_of(run_keys),
                  "of a system: one subsystem with steps of its own, not part of the whole"};
constexpr Key isolated{"isolated", flag,
                       "of fmu, native and python: true: in a process of its own"};
constexpr Key inputs{"inputs", listable(names_of(number_or_nothing)),
                     "of remote: start values, or a list of names without, which must be "
                     "connected"},
    outputs{"outputs", names_of(number), "of remote: start values"},
    units{"units", names_of(text_or_nothing), "of remote: of inputs and outputs"};
constexpr Key values{"parameters", paths_of(value), "values of parameters"},
    start{"start", paths_of(value), "start values of states and inputs"},
    effort{"effort", number, "what a macro-step of it costs, in any unit"},
    step{"step", number, "s: takes one step over several macro-steps (explicit methods)"},
    rank{"rank", number, "the MPI rank that has it, modulo their number"};

}  // namespace

std::string place_of_key(std::string_view name) {
  constexpr std::pair<std::string_view, Keys> maps[] = {
      {"experiment", experiment_keys}, {"equations", equations_keys},
      {"table", table_keys},           {"when", when_keys},
      {"native", native_keys},         {"python", python_keys},
      {"remote", remote_keys},         {"messages", messages_keys},
      {"schedule", schedule_keys},     {"system", system_keys}};
  for (const auto& [map, keys] : maps)
    for (const Key& key : keys())
      if (key.name == name)
        return "; '" + std::string(name) + "' belongs under '" + std::string(map) + "'";
  return "";
}

std::span<const Key> model_keys() {
  static constexpr Key keys[] = {
      name,
      {"experiment", record_of(experiment_keys), "the time that is simulated"},
      {"parameters", names_of(number), "of the whole model, in every expression"},
      {"maps", names_of(a_map), "functions that look up what is between points"},
      functions,
      {"templates", names_of(a_template), "what several subsystems are made of"},
      {"subsystems", names_of(subsystem), "one entry each"},
      {"connections", list_of(connection), "subsystem.output -> subsystem.input"},
      {"constraints", list_of(constraint), "equations that outputs must satisfy"},
      {"initial", list_of(initial), "equations that hold at the start beside start values: A = B"},
      {"schedule", record_of(schedule_keys), "groups of subsystems that run in sequence"},
      {"events", list_of(number), "times in s at which something jumps"},
      {"include", list_of(text), "other files, whose content takes part, relative to this one"}};
  return keys;
}

std::span<const Key> experiment_keys() {
  static constexpr Key keys[] = {{"start", number, "start time in s; 0 without it"},
                                 {"stop", number, "stop time in s", "stop: <end time in seconds>"}};
  return keys;
}

std::span<const Key> subsystem_keys() {
  static constexpr Key keys[] = {equations,
                                 table,
                                 fmu,
                                 native,
                                 python,
                                 remote,
                                 messages,
                                 system_,
                                 {.name = "template",
                                  .shape = text,
                                  .meaning = "the name of one of the templates",
                                  .alternative = true},
                                 repeat,
                                 inputs,
                                 outputs,
                                 units,
                                 isolated,
                                 values,
                                 start,
                                 effort,
                                 step,
                                 rank,
                                 run};
  return keys;
}

std::span<const Key> template_keys() {
  static constexpr Key keys[] = {equations, table,   fmu,    native,  python, remote,
                                 messages,  system_, inputs, outputs, units,  isolated,
                                 values,    start,   effort, step,    run};
  return keys;
}

std::span<const Key> system_keys() {
  static constexpr Key keys[] = {
      {"name", text, "of a file: one line"},
      {"experiment", record_of(experiment_keys), "of a file that is a model, too: not taken"},
      {"parameters", names_of(number), "of the system, in every expression within"},
      {"maps", names_of(a_map), "functions that look up what is between points"},
      functions,
      {"templates", names_of(a_template), "what subsystems within are made of"},
      {"subsystems", names_of(subsystem), "one entry each", "subsystems: with one entry each"},
      {"connections", list_of(connection), "subsystem.output -> subsystem.input"},
      {"initial", list_of(initial), "equations of what is within that hold at the start: A = B"},
      {"inputs", names_of(value), "name: subsystem.input within, or a list of these"},
      {"outputs", names_of(text), "name: subsystem.output within"}};
  return keys;
}

std::span<const Key> run_keys() {
  static constexpr Key keys[] = {
      {"type", text, "monolithic: what is within is integrated as one"},
      {"accuracy", number, "of each signal's range; without it as the whole's"}};
  return keys;
}

std::span<const Key> equations_keys() {
  static constexpr Key keys[] = {
      {"parameters", vectors_of(number), "numbers or expressions of parameters"},
      {"inputs", listable(vectors_of(number_or_nothing)),
       "start values, or a list of names without, which must be connected"},
      {"states", vectors_of(number), "start values"},
      {"discrete", vectors_of(number), "start values; changed by 'when' only"},
      functions,
      {"variables", vectors_of(expression), "names of expressions, in any order"},
      {"derivatives", vectors_of(expression), "of each state, over time in s"},
      {"outputs", listable(vectors_of(expression)),
       "expressions, or a list of names of what is put out as it is"},
      {"when", whens, "what conditions and ticks set; or a map, condition: what it sets"},
      {"units", vectors_of(text_or_nothing), "of parameters, inputs, states and outputs"},
      {"display", vectors_of(text), "units to show them in, in the place of their own"},
      {"nominal", vectors_of(number), "usual magnitudes of inputs, states and outputs"}};
  return keys;
}

std::span<const Key> when_keys() {
  static constexpr Key keys[] = {
      {"condition", expression, "acts when it becomes true"},
      {"initially", flag, "whether it acts at the start, too, where it is true there"},
      {"every", number, "time between ticks, in s, in the place of a condition"},
      {"offset", number, "of the first tick, in s"},
      {"set", sets, "states and discrete variables, from the values before",
       "set: {<state or discrete variable>: <expression>}"},
      repeat};
  return keys;
}

std::span<const Key> table_keys() {
  static constexpr Key keys[] = {
      {"file", text, "CSV or results file, relative to this file", "file: rows.csv"},
      {"time_column", text, "of a CSV file; the first one without it"},
      {"time_unit", text, "of a CSV file's times: ms, min, h, d; s without it"},
      {"interpolation", choice_of(interpolation_words), "between rows"},
      {"before", choice_of(beyond_words), "before the first row"},
      {"after", choice_of(beyond_words), "after the last row"},
      {"shift", number, "everything so much later, in s"},
      {"outputs", names_of(text), "name: column, or variable of a results file"},
      {"units", names_of(text), "of the outputs"}};
  return keys;
}

std::span<const Key> map_keys() {
  static constexpr Key keys[] = {
      {"file", text, "CSV or results file, relative to this file"},
      {"points", names_of(value), "in the place of a file: names of inputs and value: numbers"},
      {"inputs", list_of(text), "columns, 1 to 3; without it all but the value"},
      {"value", text, "column; without it that with the map's name, or the last"},
      {"interpolation", choice_of(interpolation_words), "between points; cubic is Akima's"},
      {"outside", choice_of(outside_words), "beyond the first or last points"},
      {"smooth", flag, "true: kinks are no events"},
      {"units", paths_of(text), "of inputs and value"}};
  return keys;
}

std::span<const Key> native_keys() {
  static constexpr Key keys[] = {{"library", text, "a shared library, relative to this file"},
                                 {"type", text, "the name under which the C++ class is registered",
                                  "type: <the name under which the C++ class is registered>"}};
  return keys;
}

std::span<const Key> python_keys() {
  static constexpr Key keys[] = {
      {"file", text, "with the class, relative to this file", "file: <a Python file>"},
      {"class", text, "its name in the file", "class: <the name of a class in the file>"}};
  return keys;
}

std::span<const Key> remote_keys() {
  static constexpr Key keys[] = {
      {"connect", text,
       "the address at which a process listens: tcp://host:port, ipc://path, shm://name"},
      {"listen", text, "the address to which a process connects, in its place"},
      {"timeout", number, "s that it may take to come and to answer; 60 without it"},
      {"offers", list_of(offer), "what it can do beyond steps with held inputs"},
      {"whole", flag, "true: `concord serve` is there, and is asked for all that it has"}};
  return keys;
}

std::span<const Key> messages_keys() {
  static constexpr Key keys[] = {
      {"channels", names_of(channel), "name: what its messages are"},
      {"delay", value, "s that a message travels; [least, most]: evenly distributed between"},
      {"rate", number, "bit/s; without it sending takes no time"},
      {"overhead", number, "bytes that each message has beside its own"},
      {"queue", number, "messages that may wait while others are sent; more are dropped"},
      {"loss", number, "probability that a message is lost"},
      {"order", choice_of(order_words), "kept: none overtakes another; free: as delays make it"},
      {"seed", number, "of delays and losses, a whole number; 1 without it"},
      {"can", record_of(can_keys), "in the place of delay, rate, overhead, loss, order: a CAN bus"},
      {"nodes", list_of(text), "of a CAN bus: names of those that speak FMI-LS-BUS"}};
  return keys;
}

std::span<const Key> channel_keys() {
  static constexpr Key keys[] = {
      {"every", number, "s between numbers sent; without it channel.send says when"},
      {"offset", number, "s behind the start, of the first"},
      {"size", number, "bytes of a number's message; 8 without it"},
      {"start", number, "the number received before the first message; 0 without it"},
      {"type", choice_of(message_words), "what its messages are; numbers without it"},
      {"id", number, "on a CAN bus: of its frames"},
      {"extended", flag, "on a CAN bus: true: an identifier of 29 bits"}};
  return keys;
}

std::span<const Key> can_keys() {
  static constexpr Key keys[] = {
      {"baudrate", number, "bit/s; without it the first node that says it"}};
  return keys;
}

std::span<const Key> connection_keys() {
  static constexpr Key keys[] = {
      {"connect", text, "subsystem.output -> subsystem.input",
       "connect: subsystem.output -> subsystem.input"},
      repeat,
      {"delay", number, "s: what arrives was put out so long before"},
      {"hold", choice_of(hold_words), "zoh: constant between communication points"}};
  return keys;
}

std::span<const Key> constraint_keys() {
  static constexpr Key keys[] = {
      {"unknown", text, "its name", "unknown: <name>"},
      {"start", number, "first guess"},
      {"equation", expression, "of subsystem.output, kept at zero at communication points",
       "equation: <expression to be kept at zero>"},
      {"feeds", paths_of(number), "subsystem.input: factor", "feeds: {subsystem.input: factor}"}};
  return keys;
}

std::span<const Key> initial_keys() {
  static constexpr Key keys[] = {
      {"equation", text, "A = B, of states, der(state), outputs, inputs, parameters and t",
       "equation: der(subsystem.state) = 0"},
      {"free", value,
       "states, parameters or inputs that are found by it; without it what stands "
       "alone on the left"},
      repeat};
  return keys;
}

std::span<const Key> schedule_keys() {
  static constexpr Key keys[] = {{"groups", list_of(group),
                                  "members of a group run in sequence, groups in parallel",
                                  "groups: [[<first>, <second>], [<parallel to these>]]"}};
  return keys;
}

}  // namespace concord
