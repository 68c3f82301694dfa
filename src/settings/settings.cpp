#include "settings/settings.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <sstream>

#include "concord/errors.hpp"
#include "coupling/problem/error_norm.hpp"
#include "settings/accuracy.hpp"
#include "settings/model_choices.hpp"
#include "settings/option_table.hpp"
#include "settings/order.hpp"
#include "settings/unknown_options.hpp"
#include "settings/unread_options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// "-cosim_type jacobi (-cosim_solve none with -cosim_hold zoh)".
std::string choices_of(const Method& method) {
  const std::string type = "-cosim_type " + method.type;
  return method.solve.holds_inputs()
             ? type + " (-cosim_solve " + std::string(method.solve.word) + " with -cosim_hold " +
                   std::string(method.hold.word) + ")"
             : type;
}

void refuse_contradictions(const Method& method) {
  if (const auto reasons = contradictions(method); !reasons.empty()) {
    throw InputError(joined(reasons, "; and "));
  }
}

void refuse_idle_choices(const Settings& settings) {
  const Method& method = settings.method;
  if (options::has("cosim_predictor") && !method.solve.iterates) {
    throw InputError("-cosim_predictor is the first guess of -cosim_solve snes, not of " +
                     choices_of(method) + "; leave it out, or use -cosim_solve snes");
  }
  if (settings.adapt == Adapt::iteration && !method.solve.iterates) {
    throw InputError("-cosim_adapt iteration follows the iterations of -cosim_solve snes, not " +
                     choices_of(method) + "; use -cosim_adapt none");
  }
}

/// What a method must do for the record, and cannot.
void refuse_records(const RecordSettings& record, const Method& method) {
  if (record.polynomials && (method.balance != Balance::none || method.smooth_switching)) {
    throw InputError(
        "-cosim_record polynomials holds one cubic per input and macro-step, which "
        "-cosim_balance and -cosim_smooth_switching put more on; leave polynomials out");
  }
  if (record.grid.given() && record.balance && options::has("cosim_record")) {
    throw InputError(
        "-cosim_record balance is known at communication points only, not between them as "
        "-cosim_output_interval and -cosim_output_times ask for; leave balance out");
  }
}

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

void check_interval(const Model& model, const Settings& settings) {
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

void resolve_times(const Model& model, Settings& settings) {
  check_interval(model, settings);
  const double duration = settings.stop - settings.start;
  const double shortest = shortest_step(settings);
  const bool given = settings.step > 0.0;
  if (given && (settings.step < shortest || duration / settings.step > 1e15)) {
    std::ostringstream message;
    message << "option -cosim_step: found " << *options::text("cosim_step")
            << ", which is too small for these start and stop times; give at least "
            << std::max(shortest, 1e-15 * duration);
    throw InputError(message.str());
  }
  settings.events = model.events;
  settings.listed_events = model.listed_events;
  settings.step = model.step_share *
                  std::min(given ? settings.step : std::max(duration / 1000.0, shortest), duration);
  if (settings.step_min > settings.step) {
    throw InputError("option -cosim_step_min: found " + *options::text("cosim_step_min") +
                     ", which is larger than the macro-step; it must be at most -cosim_step");
  }
  if (settings.step_min == 0.0 && given) {
    settings.step_min = std::max(1e-6 * settings.step, shortest);
  }
  const bool free = settings.method.estimate != ErrorEstimate::none && !given;
  settings.largest_step = !free                  ? settings.step
                          : settings.by_accuracy ? largest_step_by_accuracy(settings, model)
                                                 : duration;
  settings.record.grid.lay(settings.start, settings.stop);
}

/// What the model says where no option does.
Settings settings_of(const Model& model) {
  Settings settings;
  const auto stem = std::filesystem::path(model.source).stem().string();
  settings.start = model.start;
  settings.stop = model.stop;
  settings.record.path = (stem.empty() ? "concord" : stem) + ".h5";
  return settings;
}

void withhold(const SubsystemSettings& settings, SubsystemDescription& description) {
  description.capabilities.rollback &= settings.rollback;
  description.capabilities.linearization &= settings.linearization;
  description.capabilities.state_derivatives &= settings.state_derivatives;
}

/// Of each subsystem: the default, and what is said of it alone.
std::vector<SubsystemSettings> settings_of_each(const Model& model, const Settings& settings) {
  std::vector<SubsystemSettings> result(model.subsystems.size(), settings.defaults);
  const bool individual = !options::given(subsystem_prefix).empty();
  for (std::size_t k = 0; k < result.size(); ++k) {
    result[k].open_end = settings.checkpoint.writes();
    result[k].rollback = result[k].rollback && model.subsystems[k].type->false_states.empty();
    if (individual) {
      read_all(subsystem_options(), prefix_of(model.subsystems[k].description.name), result[k]);
    }
  }
  return result;
}

void read_subsystems(Model& model, Settings& settings) {
  read_all(subsystem_options(), subsystem_prefix, settings.defaults);
  settings.subsystems = settings_of_each(model, settings);
  for (std::size_t k = 0; k < model.subsystems.size(); ++k) {
    if (!model.subsystems[k].description.constraint) {
      withhold(settings.subsystems[k], model.subsystems[k].description);
    }
  }
}

}  // namespace

ErrorEstimate estimate_of(Adapt adapt) {
  switch (adapt) {
    case Adapt::predictor:
      return ErrorEstimate::predictor;
    case Adapt::richardson:
      return ErrorEstimate::richardson;
    case Adapt::richardson_modified:
      return ErrorEstimate::richardson_modified;
    default:
      return ErrorEstimate::none;
  }
}

Settings read_settings_for_check(Model& model) {
  refuse_unknown_options(model);
  refuse_unread_options();
  Settings settings = settings_of(model);
  read_all(run_options(), "", settings);
  Method& method = settings.method;
  if (settings.record.grid.given() && !options::has("cosim_record")) {
    settings.record.balance = false;
  }
  method.measures_balance = settings.record.balance;
  settings.by_accuracy = accuracy_decides();
  settings.aim = model.aim * settings.accuracy;
  if (!settings.by_accuracy && method.estimate != ErrorEstimate::none) {
    tighten_inner_tolerances(settings);
  }
  read_subsystems(model, settings);
  if (settings.by_accuracy) {
    choose_by_accuracy(settings, model);
  } else {
    choose_what_runs(settings, model);
  }
  choose_order(settings, model);
  if (settings.by_accuracy) {
    integrate_by_accuracy(settings);
    settings.subsystems = settings_of_each(model, settings);
    integrate_groups_by_accuracy(settings, model);
  }
  refuse_idle_choices(settings);
  refuse_contradictions(method);
  refuse_records(settings.record, method);
  resolve_times(model, settings);
  refuse_unknown_missiles_options();
  tell_what_is_recorded(model, settings);
  method.groups = method.schedule.groups(model, settings.schedule_weight);
  settings.defaults.taken_back = settings.takes_back();
  for (SubsystemSettings& each : settings.subsystems) each.taken_back = settings.takes_back();
  return settings;
}

CheckpointSettings read_checkpoint_settings() {
  Settings settings;
  read_all(run_options(), "", settings);
  return settings.checkpoint;
}

Settings read_settings(Model& model) {
  Settings settings = read_settings_for_check(model);
  choose_consistent_outputs(settings.method, model);
  require_capabilities(settings.method, model);
  require_equal_steps(settings, model);
  give_slow_steps(settings, model);
  choose_predictor(settings.method, model);
  return settings;
}

namespace {

template <class Target>
Target read_own(const OptionTable<Target>& table, const std::string& subsystem, Target options) {
  read_all(table, subsystem_prefix, options);
  read_all(table, prefix_of(subsystem), options);
  return options;
}

}  // namespace

FmuOptions read_fmu_options(const std::string& subsystem, FmuOptions options) {
  return read_own(fmu_options(), subsystem, options);
}

IsolationOptions read_isolation_options(const std::string& subsystem, IsolationOptions options) {
  options = read_own(isolation_options(), subsystem, options);
  if (options.call_limit == 0.0) {
    options.call_limit = read_hang_limit().value_or(0.0);
  }
  return options;
}

std::optional<double> read_hang_limit() { return duration().given("cosim_hang_limit"); }

}  // namespace concord
