#include "cli/effective_settings.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <sstream>

#include "settings/idle_options.hpp"
#include "settings/option_table.hpp"
#include "settings/unread_options.hpp"

namespace concord {
namespace {

template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

std::string described_hold(const Method& method) {
  if (!method.solve.from_past) {
    return text(method.hold.word, ", from a guess of the end of the macro-step");
  }
  return text(method.hold.word, ", order ", method.hold_order, ", from the past",
              method.hold_order > 0 ? text(" by ", word(method.extrapolation)) : std::string(),
              method.smooth_switching ? ", switched smoothly" : "");
}

std::string described_balance(const Method& method) {
  return method.balance == Balance::none
             ? std::string(word(method.balance))
             : text(word(method.balance), ", over ", method.balance_spread,
                    method.balance_spread == 1 ? " macro-step" : " macro-steps");
}

std::string described_solve(const Solve& solve, const Method& method) {
  return text(solve.word, solve.describe != nullptr ? solve.describe(method) : "");
}

std::string described_steps(const Settings& settings) {
  if (settings.adapt == Adapt::none) {
    return text("none: ", settings.step, " s each");
  }
  const std::string smallest =
      settings.step_min > 0.0 ? text("from ", settings.step_min, " to ") : "up to ";
  const std::string limits = text(smallest, settings.largest_step, " s by ", word(settings.adapt));
  return settings.adapt == Adapt::iteration
             ? limits
             : text(limits, ", rtol ", settings.method.adapt_tolerance.relative, ", atol ",
                    settings.method.adapt_tolerance.absolute);
}

void print_option(const std::string& name, const std::string& value) {
  std::printf("  -%-31s %s\n", name.c_str(), value.empty() ? "none" : value.c_str());
}

/// Of a subsystem alone, where they differ from those of all.
void print_own_options(const std::string& subsystem, const SubsystemSettings& own,
                       const SubsystemSettings& of_all) {
  for (const auto& option : subsystem_options()) {
    if (option.written(own) != option.written(of_all)) {
      print_option(prefix_of(subsystem) + option.name(), option.written(own));
    }
  }
}

/// What every option has come to, given or not.
void print_options(const Settings& settings, const Model& model) {
  std::printf("options in effect\n");
  for (const auto& option : run_options()) {
    print_option(option.name(), option.written(settings));
  }
  for (const auto& option : subsystem_options()) {
    print_option(subsystem_prefix + option.name(), option.written(settings.defaults));
  }
  for (std::size_t k = 0; k < settings.subsystems.size(); ++k) {
    print_own_options(model.subsystems[k].description.name, settings.subsystems[k],
                      settings.defaults);
  }
}

std::string described_events(const std::vector<double>& events) {
  std::string times;
  for (const double time : events) {
    times += text(times.empty() ? "" : ", ", time);
  }
  return times.empty() ? "none" : times + " s";
}

}  // namespace

std::string described_schedule(const Method& method, const Model& model) {
  return method.groups.empty() ? text(method.schedule.word, ": all subsystems at once")
                               : text(method.schedule.word, ": ", written(method.groups, model));
}

std::string described_events(const std::vector<double>& events, const Model& model) {
  constexpr std::size_t most = 5;
  std::string names;
  std::size_t count = 0;
  for (const SubsystemEntry& entry : model.subsystems) {
    if (entry.description.events && ++count <= most) {
      names += (count == 1 ? "" : ", ") + entry.description.name;
    }
  }
  if (count == 0) {
    return described_events(events);
  }
  names += count > most ? text(" and ", count - most, " more") : "";
  return (events.empty() ? "" : described_events(events) + "; ") + "of " + names +
         ", found as they come";
}

std::vector<double> events_outside(const Settings& settings) {
  std::vector<double> outside;
  std::copy_if(settings.events.begin(), settings.events.end(), std::back_inserter(outside),
               [&](double time) { return time < settings.start || time > settings.stop; });
  return outside;
}

void print_without_effect(const Settings& settings) {
  for (const auto& option : idle_options(settings)) {
    std::printf("  without effect        %s\n", option.c_str());
  }
  if (const std::size_t times = settings.record.grid.outside(); times > 0) {
    std::printf(
        "  without effect        %zu of the times of -cosim_output_times: outside the "
        "experiment\n",
        times);
  }
  const auto outside = events_outside(settings);
  if (!outside.empty()) {
    std::printf("  without effect        events at %s: outside the experiment\n",
                described_events(outside).c_str());
  }
}

void print_unread_options() {
  for (const auto& option : options_left_unread()) {
    std::printf("  without effect        %s\n", option.c_str());
  }
}

void print_effective(const Settings& settings, const Model& model) {
  const Method& method = settings.method;
  const auto line = [](const char* name, const std::string& value) {
    std::printf("  %-21s %s\n", name, value.c_str());
  };
  std::printf("method %s\n", method.type.c_str());
  if (!settings.against_better.empty()) {
    line("chosen", "as others cannot run: " + settings.against_better);
  }
  if (method.solve.holds_inputs()) {
    line("schedule", described_schedule(method, model));
    line("hold", described_hold(method));
  }
  if (method.solve.from_past) {
    line("balance", described_balance(method));
  }
  line("solve", described_solve(method.solve, method));
  line("step control", described_steps(settings));
  line("events", described_events(settings.events, model));
  print_options(settings, model);
}

}  // namespace concord
