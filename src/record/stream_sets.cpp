#include "record/stream_sets.hpp"

#include <algorithm>
#include <cmath>

#include "files/replaceable.hpp"
#include "files/text_output.hpp"
#include "network/planned_parameters.hpp"
#include "support/wording.hpp"

namespace concord {

StreamSets::StreamSets(SimulationCore& simulation) : simulation_(simulation) {
  for (const StreamTarget& target : targets()) {
    const auto parameter = [&](const char* name) {
      return simulation.settable(target.subsystem + "." + name);
    };
    const Settable time = parameter(planned_time_name);
    places_.push_back(
        {time, parameter(planned_side_name), parameter(planned_goal_name), time.subsystem()});
    values_.push_back(target.start);
  }
  sides_.assign(places_.size(), 1.0);
  planned_times_.assign(places_.size(), never);
  planned_values_ = values_;
}

std::optional<std::size_t> StreamSets::find(std::string_view name) const {
  const auto found = std::ranges::find(targets(), name, &StreamTarget::name);
  if (found == targets().end()) return std::nullopt;
  return static_cast<std::size_t>(found - targets().begin());
}

std::optional<std::string> StreamSets::refusal(std::string_view name, double value) const {
  const auto target = find(name);
  if (!target) {
    std::vector<std::string> names;
    for (const StreamTarget& each : targets()) names.push_back(each.name);
    return in_quotes(std::string(name)) + " is not among what may be set; " +
           known("names", std::string(name), names);
  }
  if (!std::isfinite(value)) return "give a finite number";
  const auto& [least, most] = std::pair(targets()[*target].least, targets()[*target].most);
  if (least && (value < *least || value > *most))
    return short_number(value) + " is not between its limits, " + short_number(*least) + " and " +
           short_number(*most);
  return std::nullopt;
}

bool StreamSets::plan(std::span<const Wish> wishes) {
  const double time = simulation_.stepper().earliest_plan();
  if (!(time < simulation_.plan().settings.stop)) return false;
  for (const auto& [target, value] : wishes) {
    const Place& place = places_[target];
    planned_values_[target] = value;
    simulation_.plan(place.goal, value);
    if (planned_times_[target] != never) continue;
    planned_times_[target] = time;
    simulation_.plan(place.side, sides_[target]);
    simulation_.plan(place.time, time);
    sides_[target] = -sides_[target];
  }
  simulation_.look_ahead();
  return true;
}

std::vector<StreamSets::Done> StreamSets::take_done(const StepReport& report) {
  std::vector<Done> result;
  for (std::size_t target = 0; target < places_.size(); ++target) {
    const auto acts = [&](const EventReport& event) {
      return event.subsystem == places_[target].subsystem && event.what == targets()[target].says;
    };
    const bool done = planned_times_[target] != never && std::ranges::any_of(report.events, acts);
    if (!done) continue;
    planned_times_[target] = never;
    values_[target] = planned_values_[target];
    result.push_back({target, report.step.end, values_[target]});
    done_targets_.push_back(target);
    done_times_.push_back(report.step.end);
    done_values_.push_back(values_[target]);
  }
  if (!result.empty()) write_log();
  return result;
}

void StreamSets::keep_log(const std::string& path) {
  require_replaceable(path, FileContent::text);
  log_ = path;
  write_log();
}

/// Each target is named at the start, so that the run that repeats this one has the same equations.
void StreamSets::write_log() const {
  if (log_.empty()) return;
  TextOutput file(log_);
  const auto action = [&](double time, std::size_t target, double value) {
    file.write("  - {at: " + exact_number(time) + ", set: {\"" + targets()[target].name +
               "\": " + exact_number(value) + "}}\n");
  };
  file.write(
      "# What those who watched have set (-cosim_stream_set). The same run again:\n"
      "# concord run MODEL with its options and -cosim_scenario, in their place, with this "
      "file\nactions:\n");
  for (std::size_t target = 0; target < places_.size(); ++target)
    action(simulation_.plan().settings.start, target, targets()[target].start);
  for (std::size_t i = 0; i < done_times_.size(); ++i)
    action(done_times_[i], done_targets_[i], done_values_[i]);
  file.close();
}

}  // namespace concord
