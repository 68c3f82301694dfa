#include "settings/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <sstream>

#include "concord/errors.hpp"
#include "coupling/problem/error_norm.hpp"
#include "settings/idle_options.hpp"
#include "settings/model_choices.hpp"
#include "settings/unread_options.hpp"
#include "subsystem/fmu_options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

template <class T>
std::vector<std::string> allowed() {
  std::vector<std::string> result;
  for (const auto& one : words_of<T>()) {
    result.emplace_back(one.word);
  }
  return result;
}

/// "-cosim_type jacobi (-cosim_solve none with -cosim_hold zoh)".
std::string choices_of(const Method& method) {
  const std::string type = "-cosim_type " + method.type;
  return method.solve.as_one ? type
                             : type + " (-cosim_solve " + std::string(method.solve.word) +
                                   " with -cosim_hold " + std::string(method.hold.word) + ")";
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const auto& method : method_presets()) {
    names.push_back(method.type);
  }
  return names;
}

std::vector<OptionSpec> make_option_table() {
  return {
      {"cosim_type", "jfm", "", "coupling method: a preset of schedule, hold and solve",
       preset_names()},
      {"cosim_schedule", "by type", "", "who runs with whose new outputs", allowed<Schedule>()},
      {"cosim_schedule_weight",
       "0.5",
       "",
       "groups of -cosim_schedule hierarchical that the model file doesn't give: few extrapolated "
       "signals (0) to short macro-steps (1)",
       {}},
      {"cosim_schedule_efforts",
       "the model's, or states + 1",
       "",
       "results file of an earlier run: the times its subsystems took are their efforts in "
       "schedules",
       {}},
      {"cosim_hold", "by type", "", "inputs on the macro-step", allowed<Hold>()},
      {"cosim_hold_order",
       "0 (zoh), 1 (extrapolate, extripol)",
       "",
       "order of extrapolation: 0 to 3; extripol 0 or 1",
       {}},
      {"cosim_extrapolation", "lagrange", "",
       "explicit methods: extrapolate through values at the last communication points, or through "
       "values and slopes",
       allowed<Extrapolation>()},
      {"cosim_smooth_switching",
       "false",
       "",
       "explicit methods: from the last hold to the new one without a jump",
       {}},
      {"cosim_balance", "none", "",
       "explicit methods: give back what holds miss of the inputs' integrals, held constant or "
       "as a smooth bump",
       allowed<Balance>()},
      {"cosim_balance_spread",
       "1",
       "",
       "macro-steps over which a balance error is given back: 1 to 4",
       {}},
      {"cosim_solve", "by type", "", "coupling at the end of the macro-step", allowed<Solve>()},
      {"cosim_predictor", "by type", "", "first guess of an iterative solve", allowed<Predictor>()},
      {"cosim_step",
       "(stop - start)/1000",
       "s",
       "macro-step; the largest with -cosim_adapt, whose error estimates without it are the only "
       "limit",
       {}},
      {"cosim_step_min", "1e-6 cosim_step", "s", "smallest adaptive macro-step", {}},
      {"cosim_adapt", "none", "", "step-size control", allowed<Adapt>()},
      {"cosim_adapt_rtol", "1e-6", "", "relative tolerance of the step-size control", {}},
      {"cosim_adapt_atol",
       "rtol of each signal's size",
       "signal's unit",
       "absolute tolerance of the step-size control",
       {}},
      {"cosim_rtol", "1e-6", "", "relative coupling tolerance", {}},
      {"cosim_atol", "1e-6", "input's unit", "absolute coupling tolerance", {}},
      {"cosim_max_it", "50", "", "largest number of iterations per macro-step", {}},
      {"cosim_constraints", "projection", "",
       "explicit methods: unknowns of constraints at the end of the macro-step from all outputs, "
       "from a copy for each subsystem alone, combined, or from the last subsystem alone "
       "(staggered, to compare)",
       allowed<Constraints>()},
      {"cosim_consistent_outputs",
       "true in algebraic loops",
       "",
       "explicit methods: evaluate direct feedthrough again with the new inputs; by default where "
       "there is an algebraic loop whose subsystems all can",
       {}},
      {"cosim_diverged", "fail", "",
       "a run whose own error estimate is as large as its signals fails, or goes on with a warning",
       allowed<Diverged>()},
      {"cosim_start", "the model's", "s", "start time", {}},
      {"cosim_stop", "the model's", "s", "stop time", {}},
      {"cosim_output", "<model>.h5", "", "results file", {}},
      {"cosim_record",
       "outputs,inputs,states",
       "",
       "what is recorded: any of outputs,inputs,states,polynomials,balance, or none; the default "
       "includes balance where it is corrected",
       {}},
      {"cosim_record_variables", "*", "", "shell pattern of the variables to record", {}},
      {"cosim_record_every", "1", "", "record every n-th communication point", {}},
      {"cosim_time_limit", "none", "s", "wall time after which the run stops with exit code 3", {}},
      {"cosim_progress", "on a terminal", "", "progress line with the time left", {}},
      {"cosim_monitor", "false", "", "a line per macro-step", {}},
      {"cosim_view", "false", "", "effective settings", {}},
      {"missiles_defect", "constant", "", "defect correction of the estimators", allowed<Defect>()},
      {"missiles_laplace", "expm", "",
       "exponentials of the estimators; stehfest, which is less exact, only to compare",
       allowed<Response>()},
      {"subsystem_integrator", "auto", "",
       "integrator of a subsystem: explicit or implicit Runge-Kutta (erk, dirk), multistep "
       "(cvode_bdf, cvode_adams); auto: erk, and the cheaper of dirk and cvode_bdf where stiff",
       allowed<IntegratorKind>()},
      {"subsystem_rtol", "1e-8", "", "relative tolerance of the integrator", {}},
      {"subsystem_atol",
       "rtol/100 of each state's size",
       "state's unit",
       "absolute tolerance of the integrator",
       {}},
      {"subsystem_rollback", "true", "", "false withholds the capability", {}},
      {"subsystem_linearization", "true", "", "false withholds the capability", {}},
      {"subsystem_state_derivatives", "true", "", "false withholds the capability", {}},
      {"subsystem_fmu_interface", "auto", "",
       "what of an FMU is used; auto: model exchange where it is offered",
       allowed<FmuInterfaceChoice>()},
      {"subsystem_fmu_micro_steps",
       "10",
       "",
       "micro-steps per macro-step with held inputs, for FMUs that take no polynomials",
       {}},
      {"subsystem_fmu_input_derivatives",
       "3",
       "",
       "highest order of input derivatives given to FMUs that interpolate inputs",
       {}},
      {"subsystem_fmu_probe",
       "false",
       "",
       "try FMUs first, and withhold capabilities that they claim and don't have",
       {}},
      {"subsystem_fmu_log", "false", "", "messages of FMUs on stderr", {}},
  };
}

/// -..._rtol and -..._atol; an absolute tolerance that is given is in the variable's unit.
Tolerance read_tolerance(const std::string& prefix, Tolerance tolerance) {
  tolerance.relative = options::positive(prefix + "rtol").value_or(tolerance.relative);
  if (const auto absolute = options::positive(prefix + "atol")) {
    tolerance.absolute = *absolute;
    tolerance.of_size = false;
  }
  return tolerance;
}

/// Of integrators and step control, the absolute part in units of sizes goes with the relative one.
Tolerance read_proportional_tolerance(const std::string& prefix, const Tolerance& inherited) {
  Tolerance tolerance = read_tolerance(prefix, inherited);
  if (tolerance.of_size) {
    tolerance.absolute = inherited.absolute / inherited.relative * tolerance.relative;
  }
  return tolerance;
}

constexpr std::string_view subsystem_prefix = "subsystem_";

/// "subsystem_left_rtol" -> "subsystem_rtol" where `left` is a subsystem; else the name itself. Of
/// the subsystems `a` and `a_b`, the second is meant in subsystem_a_b_rtol.
std::string without_subsystem_name(const std::string& name, const Model& model) {
  std::string rest = name;
  for (const auto& entry : model.subsystems) {
    const std::string prefix = std::string(subsystem_prefix) + entry.description.name + "_";
    if (options::begins_with(name, prefix) &&
        subsystem_prefix.size() + name.size() - prefix.size() < rest.size()) {
      rest = std::string(subsystem_prefix) + name.substr(prefix.size());
    }
  }
  return rest;
}

[[noreturn]] void refuse_option(const std::string& name, const std::string& prefix,
                                const Model& model) {
  std::vector<std::string> allowed;
  for (const auto& option : option_table()) {
    if (option.name.starts_with(prefix)) {
      allowed.push_back("-" + option.name);
    }
  }
  std::vector<std::string> candidates = allowed;
  std::vector<std::string> subsystems;
  for (const auto& entry : model.subsystems) {
    subsystems.push_back(entry.description.name);
    for (std::size_t i = 0; prefix == subsystem_prefix && i < allowed.size(); ++i) {
      candidates.push_back("-" + prefix + subsystems.back() + "_" +
                           allowed[i].substr(1 + prefix.size()));
    }
  }
  const auto similar = nearest("-" + name, candidates);
  std::string message = "unknown option -" + name +
                        (similar ? "; did you mean " + *similar + "?" : ".") +
                        " Allowed: " + joined(allowed);
  if (prefix == subsystem_prefix) {
    message += "; for one subsystem -subsystem_<name>_...; " + known("subsystems", "", subsystems);
  }
  throw InputError(message);
}

void refuse_unknown_options(const Model& model) {
  for (const std::string prefix : {"cosim_", "subsystem_"}) {
    for (const auto& name : options::given(prefix)) {
      const std::string generic = without_subsystem_name(name, model);
      const auto& table = option_table();
      if (std::none_of(table.begin(), table.end(), [&](const OptionSpec& option) {
            return option.name.size() == generic.size() &&
                   options::begins_with(generic, option.name);
          })) {
        refuse_option(name, prefix, model);
      }
    }
  }
}

SubsystemSettings read_subsystem(const std::string& prefix, SubsystemSettings settings) {
  settings.integrator =
      options::choice<IntegratorKind>(prefix + "integrator").value_or(settings.integrator);
  settings.tolerance = read_proportional_tolerance(prefix, settings.tolerance);
  settings.rollback = options::flag(prefix + "rollback").value_or(settings.rollback);
  settings.linearization = options::flag(prefix + "linearization").value_or(settings.linearization);
  settings.state_derivatives =
      options::flag(prefix + "state_derivatives").value_or(settings.state_derivatives);
  return settings;
}

void read_subsystems(Model& model, Settings& settings) {
  settings.defaults = read_subsystem(std::string(subsystem_prefix), settings.defaults);
  const bool individual = options::given(std::string(subsystem_prefix)).size() > 0;
  for (auto& entry : model.subsystems) {
    auto& description = entry.description;
    const std::string prefix = std::string(subsystem_prefix) + description.name + "_";
    settings.subsystems.push_back(individual ? read_subsystem(prefix, settings.defaults)
                                             : settings.defaults);
    if (description.constraint) {
      continue;
    }
    description.capabilities.rollback &= settings.subsystems.back().rollback;
    description.capabilities.linearization &= settings.subsystems.back().linearization;
    description.capabilities.state_derivatives &= settings.subsystems.back().state_derivatives;
  }
}

RecordSettings read_record(const Model& model, const Method& method) {
  RecordSettings record;
  const auto stem = std::filesystem::path(model.source).stem().string();
  record.path = options::text("cosim_output").value_or((stem.empty() ? "concord" : stem) + ".h5");
  if (record.path.empty()) {
    throw InputError("option -cosim_output needs the name of a file");
  }
  record.pattern = options::text("cosim_record_variables").value_or("");
  record.every = options::integer("cosim_record_every", 1, 1000000000).value_or(1);
  const auto list = options::text("cosim_record");
  if (!list) {
    record.balance = method.balance != Balance::none;
    return record;
  }
  record.outputs = record.inputs = record.states = false;
  std::istringstream items(*list + ",");
  for (std::string item; std::getline(items, item, ',');) {
    if (item == "outputs") {
      record.outputs = true;
    } else if (item == "inputs") {
      record.inputs = true;
    } else if (item == "states") {
      record.states = true;
    } else if (item == "polynomials") {
      record.inputs = record.polynomials = true;
    } else if (item == "balance") {
      record.balance = true;
    } else if (item != "none" || *list != "none") {
      throw InputError("option -cosim_record: found '" + item +
                       "', but the value must be a list of: outputs, inputs, states, polynomials, "
                       "balance; or none");
    }
  }
  return record;
}

void refuse_contradictions(const Method& method) {
  if (const auto reasons = contradictions(method); !reasons.empty()) {
    throw InputError(joined(reasons, "; and "));
  }
}

/// What a method must do for the record, and cannot.
void fit_record(const RecordSettings& record, Method& method) {
  method.measures_balance = record.balance;
  refuse_contradictions(method);
  if (record.polynomials && (method.balance != Balance::none || method.smooth_switching)) {
    throw InputError(
        "-cosim_record polynomials holds one cubic per input and macro-step, which "
        "-cosim_balance and -cosim_smooth_switching put more on; leave polynomials out");
  }
}

std::string shown(const Location& location) { return location.empty() ? "" : location + ": "; }

/// Times that are nearer to each other than some spacings of floating-point numbers are one time;
/// holds divide by the cube of the macro-step.
double shortest_step(const Settings& settings) {
  constexpr double least = 1e-60;
  const double largest = std::max(std::abs(settings.start), std::abs(settings.stop));
  return std::max(16.0 * std::numeric_limits<double>::epsilon() * largest, least);
}

[[noreturn]] void refuse_times(const Model& model, const Settings& settings,
                               const std::string& problem) {
  std::ostringstream message;
  message.precision(15);
  message << shown(options::has("cosim_stop") ? "-cosim_stop" : model.stop_location)
          << "the stop time " << settings.stop << " s is " << problem << " the start time "
          << settings.start << " s; give another stop time";
  throw InputError(message.str());
}

void read_interval(const Model& model, Settings& settings) {
  settings.start = options::real("cosim_start").value_or(model.start);
  settings.stop = options::real("cosim_stop").value_or(model.stop);
  if (!(settings.stop > settings.start)) {
    refuse_times(model, settings, "not after");
  }
  if (!std::isfinite(settings.stop - settings.start)) {
    refuse_times(model, settings, "too far from");
  }
  if (settings.stop - settings.start < shortest_step(settings)) {
    refuse_times(model, settings, "too near to");
  }
}

void read_times(const Model& model, Settings& settings) {
  read_interval(model, settings);
  const double duration = settings.stop - settings.start;
  const double shortest = shortest_step(settings);
  const auto step = options::positive("cosim_step");
  if (step && (*step < shortest || duration / *step > 1e15)) {
    std::ostringstream message;
    message << "option -cosim_step: found " << *options::text("cosim_step")
            << ", which is too small for these start and stop times; give at least "
            << std::max(shortest, 1e-15 * duration);
    throw InputError(message.str());
  }
  settings.events = model.events;
  settings.step = std::min(step.value_or(std::max(duration / 1000.0, shortest)), duration);
  const auto step_min = options::positive("cosim_step_min");
  if (step_min && *step_min > settings.step) {
    throw InputError("option -cosim_step_min: found " + *options::text("cosim_step_min") +
                     ", which is larger than the macro-step; it must be at most -cosim_step");
  }
  settings.step_min = std::max(step_min.value_or(1e-6 * settings.step), shortest);
  const bool free = settings.method.estimate != ErrorEstimate::none && !step;
  settings.largest_step = free ? duration : settings.step;
}

}  // namespace

double read_schedule_weight() {
  const double weight = options::real("cosim_schedule_weight").value_or(0.5);
  if (!(weight >= 0.0 && weight <= 1.0)) {
    throw InputError("option -cosim_schedule_weight: found '" +
                     *options::text("cosim_schedule_weight") + "', but it must be from 0 to 1");
  }
  return weight;
}

const std::vector<OptionSpec>& option_table() {
  static const std::vector<OptionSpec> table = make_option_table();
  return table;
}

Method read_method() {
  const auto& presets = method_presets();
  Method method = presets.front();
  if (const auto type = options::text("cosim_type")) {
    const auto names = preset_names();
    const std::vector<std::string_view> views(names.begin(), names.end());
    method = presets[options::choice_index("cosim_type", *type, views)];
  }
  method.schedule = options::choice<Schedule>("cosim_schedule").value_or(method.schedule);
  method.hold = options::choice<Hold>("cosim_hold").value_or(method.hold);
  method.hold_order =
      options::integer("cosim_hold_order", 0, 3).value_or(method.hold.usual_order());
  method.extrapolation =
      options::choice<Extrapolation>("cosim_extrapolation").value_or(method.extrapolation);
  method.smooth_switching =
      options::flag("cosim_smooth_switching").value_or(method.smooth_switching);
  method.balance = options::choice<Balance>("cosim_balance").value_or(method.balance);
  method.balance_spread =
      options::integer("cosim_balance_spread", 1, 4).value_or(method.balance_spread);
  if (const auto solve = options::choice<Solve>("cosim_solve")) {
    method.solve = *solve;
    method.snes_type = method.snes_type.empty() ? presets.front().snes_type : method.snes_type;
  }
  method.predictor = options::choice<Predictor>("cosim_predictor").value_or(method.predictor);
  if (options::has("cosim_predictor") && !method.solve.iterates) {
    throw InputError("-cosim_predictor is the first guess of -cosim_solve snes, not of " +
                     choices_of(method) + "; leave it out, or use -cosim_solve snes");
  }
  method.tolerance = read_tolerance("cosim_", method.tolerance);
  method.max_it = options::integer("cosim_max_it", 1, 1000000).value_or(method.max_it);
  method.constraints =
      options::choice<Constraints>("cosim_constraints").value_or(method.constraints);
  method.consistent_outputs =
      options::flag("cosim_consistent_outputs").value_or(method.consistent_outputs);
  method.estimator.defect =
      options::choice<Defect>("missiles_defect").value_or(method.estimator.defect);
  method.estimator.response =
      options::choice<Response>("missiles_laplace").value_or(method.estimator.response);
  const Adapt adapt = options::choice<Adapt>("cosim_adapt").value_or(Adapt::none);
  method.estimate = adapt == Adapt::predictor             ? ErrorEstimate::predictor
                    : adapt == Adapt::richardson          ? ErrorEstimate::richardson
                    : adapt == Adapt::richardson_modified ? ErrorEstimate::richardson_modified
                                                          : ErrorEstimate::none;
  refuse_contradictions(method);
  return method;
}

namespace {

/// Errors of coupling and subsystems stay small beside the one that is controlled (Arnold 2012).
void tighten_inner_tolerances(Settings& settings) {
  Method& method = settings.method;
  const auto tighten = [](Tolerance& inner, const std::string& prefix, const Tolerance& outer) {
    if (!options::has(prefix + "rtol")) {
      inner.relative = std::min(inner.relative, inner_fraction * outer.relative);
    }
    if (!options::has(prefix + "atol") && inner.of_size == outer.of_size) {
      inner.absolute = std::min(inner.absolute, inner_fraction * outer.absolute);
    }
  };
  if (!options::has("cosim_atol") && !method.adapt_tolerance.of_size) {
    method.tolerance.absolute = inner_fraction * method.adapt_tolerance.absolute;
    method.tolerance.of_size = false;
  }
  tighten(method.tolerance, "cosim_", method.adapt_tolerance);
  tighten(settings.defaults.tolerance, "subsystem_", method.adapt_tolerance);
}

void read_adapt_tolerances(Settings& settings) {
  Method& method = settings.method;
  method.adapt_tolerance = read_proportional_tolerance("cosim_adapt_", method.adapt_tolerance);
  if (method.estimate != ErrorEstimate::none) {
    tighten_inner_tolerances(settings);
  }
}

}  // namespace

Settings read_settings_for_check(Model& model) {
  refuse_unknown_options(model);
  refuse_unread_options();
  Settings settings;
  settings.method = read_method();
  settings.adapt = options::choice<Adapt>("cosim_adapt").value_or(Adapt::none);
  if (settings.adapt == Adapt::iteration && settings.!method.solve.iterates) {
    throw InputError("-cosim_adapt iteration follows the iterations of -cosim_solve snes, not " +
                     choices_of(settings.method) + "; use -cosim_adapt none");
  }
  settings.diverged = options::choice<Diverged>("cosim_diverged").value_or(Diverged::fail);
  read_adapt_tolerances(settings);
  read_times(model, settings);
  refuse_unknown_missiles_options();
  read_schedule_weight();
  settings.time_limit = options::positive("cosim_time_limit");
  settings.record = read_record(model, settings.method);
  fit_record(settings.record, settings.method);
  settings.progress = options::flag("cosim_progress").value_or(isatty(STDERR_FILENO) != 0);
  settings.monitor = options::flag("cosim_monitor").value_or(false);
  settings.view = options::flag("cosim_view").value_or(false);
  read_subsystems(model, settings);
  tell_what_is_recorded(model, settings);
  settings.method.groups = settings.method.schedule.groups(model, read_schedule_weight());
  return settings;
}

Settings read_settings(Model& model) {
  Settings settings = read_settings_for_check(model);
  choose_consistent_outputs(settings.method, model);
  require_capabilities(settings.method, model);
  require_equal_steps(settings, model);
  choose_predictor(settings.method, model);
  return settings;
}

}  // namespace concord
