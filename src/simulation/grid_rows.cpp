#include "simulation/grid_rows.hpp"

#include <algorithm>

#include "concord/errors.hpp"
#include "support/ranks.hpp"
#include "support/wording.hpp"

namespace concord {

GridRows::GridRows(const Settings& settings, RankNetwork& subsystems, const Coupling& coupling)
    : grid_(settings.record.grid), subsystems_(subsystems), coupling_(coupling) {}

/// The rows of one macro-step are in memory together; the same on every rank.
void GridRows::require_room(const MacroStep& step) const {
  constexpr double most = 8e9;  // bytes
  const Network& network = subsystems_.network();
  const double share =
      static_cast<double>(sizeof(Sample) * (network.n_outputs() + network.n_inputs()) +
                          sizeof(double) * network.n_states()) /
      ranks_of(subsystems_.comm());
  const double rows = grid_.count(step.begin, step.end);
  const double most_rows = most / (sizeof(PassedPoint) + share);
  if (rows <= most_rows) return;
  const double room = step.size() * most_rows / rows;
  throw SimulationError(
      "t = " + short_number(step.begin) + " s, macro-step " + short_number(step.size()) +
      " s: " + short_number(rows) + " rows in one macro-step are more than memory has room for (" +
      short_number(most_rows) + "); give a longer -cosim_output_interval, or a -cosim_step of at " +
      "most " + short_number(room));
}

void GridRows::find_times(const MacroStep& step) {
  require_room(step);
  times_.clear();
  for (double t = grid_.next(step.begin); t < step.end && !grid_.same(t, step.end);
       t = grid_.next(t)) {
    times_.push_back(t);
  }
}

bool GridRows::begin(const MacroStep& step) {
  if (!grid_.given()) {
    return false;
  }
  const auto whole = coupling_.states();
  states_.assign(whole.begin(), whole.end());
  const double first = grid_.next(step.begin);
  return first < step.end && !grid_.same(first, step.end);
}

std::span<const PassedPoint> GridRows::follow(const PassedStep& passed,
                                              std::span<const Sample> inputs, Coupling& coupling) {
  missed_ = {};
  if (!grid_.given()) {
    return {};
  }
  find_times(passed.step);
  points_.resize(std::max(points_.size(), times_.size()));
  const auto points = std::span(points_).first(times_.size());
  for (std::size_t i = 0; i < times_.size(); ++i) {
    points[i].time = times_[i];
  }
  if (coupling.whole() != nullptr) {
    follow_whole(passed, inputs, coupling);
  } else if (!points.empty() && coupling.tells_inside()) {
    missed_ = coupling.tell_inside(points);
  } else if (!points.empty()) {
    subsystems_.passed_way().follow(passed, points);
  }
  return points;
}

/// Where the coupling integrates the states itself, inputs are P y; nobody has their slopes.
void GridRows::follow_whole(const PassedStep& passed, std::span<const Sample> inputs,
                            Coupling& coupling) {
  double begin = passed.step.begin;
  for (std::size_t i = 0; i < times_.size(); ++i) {
    PassedPoint& row = points_[i];
    row.inputs.assign(inputs.begin(), inputs.end());
    row.outputs.resize(subsystems_.n_outputs());
    if (!coupling.retrace({begin, row.time}, states_, row.outputs)) {
      throw SimulationError("t = " + short_number(row.time) +
                            " s: a row inside the macro-step cannot be found; use a "
                            "-cosim_output_interval that communication points meet");
    }
    subsystems_.exchange(row.outputs, row.inputs);
    for (Sample& input : row.inputs) input.derivative = std::numeric_limits<double>::quiet_NaN();
    row.states = states_;
    begin = row.time;
  }
}

}  // namespace concord
