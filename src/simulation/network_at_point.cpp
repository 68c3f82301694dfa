#include "simulation/network_at_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "concord/errors.hpp"
#include "coupling/problem/row_major.hpp"
#include "support/wording.hpp"

namespace concord {

double size_of(double nominal, double value) {
  if (nominal > 0.0) return nominal;
  return value != 0.0 ? std::abs(value) : 1.0;
}

NetworkAtPoint::NetworkAtPoint(RankNetwork& subsystems, std::span<const Sample> inputs,
                               std::span<const double> states, double time, double duration)
    : subsystems_(&subsystems),
      equations_(subsystems),
      time_(time),
      duration_(duration),
      inputs_(inputs.begin(), inputs.end()),
      x_(states.begin(), states.end()),
      f_(subsystems.n_states()),
      y_(subsystems.n_outputs()) {
  const OdeInterface whole = equations_->interface();
  for (const StateVariable& state : whole.states)
    sizes_.push_back(size_of(state.nominal, state.start));
  for (const OutputVariable& output : whole.outputs) nominal_outputs_.push_back(output.nominal);
  equations_->take_inputs(inputs_);
}

void NetworkAtPoint::stand_on(RankNetwork& subsystems, std::span<const Sample> inputs) {
  subsystems_ = &subsystems;
  equations_.emplace(subsystems);
  inputs_.assign(inputs.begin(), inputs.end());
  for (const auto& [input, value] : set_inputs_) {
    subsystems.note_given(input);
    inputs_[input] = {value, 0.0};
  }
  equations_->take_inputs(inputs_);
  go_along_homotopy(part_);
}

bool NetworkAtPoint::go_along_homotopy(double part) {
  part_ = part;
  return equations_->go_along_homotopy(part);
}

void NetworkAtPoint::set_input(std::size_t input, double value) {
  set_inputs_[input] = value;
  subsystems_->note_given(input);
  inputs_[input] = {value, 0.0};
  equations_->take_inputs(inputs_);
}

void NetworkAtPoint::set_parameter(std::size_t subsystem, std::size_t parameter, double value) {
  Subsystem& owner = subsystems_->own(subsystems_->local(subsystem));
  if (!owner.equations()->set_parameter(parameter, value)) {
    throw RecoverableFailure("parameter '" + owner.description().name + "." +
                             owner.description().parameters[parameter] + "' cannot be " +
                             short_number(value));
  }
}

std::span<const double> NetworkAtPoint::rates() {
  equations_->derivatives(time_, x_, {}, f_);
  return f_;
}

std::span<const double> NetworkAtPoint::outputs() {
  equations_->outputs(time_, x_, {}, y_);
  return y_;
}

NetworkAtPoint::Derived NetworkAtPoint::derive() {
  const std::size_t n = x_.size(), outputs = y_.size();
  std::vector<double> f_x(n * n), g_x(outputs * n);
  if (!equations_->jacobians(time_, x_, {}, {f_x, {}, g_x, {}})) return differences();
  const auto rows = [](std::size_t count) { return static_cast<Eigen::Index>(count); };
  return {row_major(f_x, rows(n), rows(n)), row_major(g_x, rows(outputs), rows(n))};
}

/// Central ones, of the whole network.
NetworkAtPoint::Derived NetworkAtPoint::differences() {
  const double part = std::cbrt(std::numeric_limits<double>::epsilon());
  const auto states = static_cast<Eigen::Index>(x_.size());
  const auto here = [](std::span<const double> values) {
    return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(values.data(), std::ssize(values)));
  };
  Derived result{{states, states}, {static_cast<Eigen::Index>(y_.size()), states}};
  for (Eigen::Index j = 0; j < states; ++j) {
    const auto state = static_cast<std::size_t>(j);
    const double x = x_[state], step = part * std::max(sizes_[state], std::abs(x));
    x_[state] = x + step;
    const Eigen::VectorXd f = here(rates()), g = here(outputs());
    x_[state] = x - step;
    result.f_x.col(j) = (f - here(rates())) / (2.0 * step);
    result.g_x.col(j) = (g - here(outputs())) / (2.0 * step);
    x_[state] = x;
  }
  return result;
}

bool NetworkAtPoint::settle(std::vector<Happening>& waiting) {
  waiting.clear();
  if (!equations_->has_events()) return false;
  equations_->derivatives(time_, x_, {}, f_);
  const std::vector<double> rest(x_.size(), 0.0);
  return equations_->settle({time_, {}, {rest, {}}, 0.0}, x_, waiting);
}

std::vector<double> NetworkAtPoint::indicators() {
  std::vector<Indicator> z(equations_->indicator_count());
  equations_->indicators(time_, x_, {}, z);
  std::vector<double> values;
  for (const Indicator& indicator : z) values.push_back(indicator.value);
  return values;
}

bool NetworkAtPoint::indicated(std::size_t state) {
  if (equations_->indicator_count() == 0) return false;
  const double start = x_[state];
  const std::vector<double> before = indicators();
  x_[state] += sizes_[state];
  const std::vector<double> after = indicators();
  x_[state] = start;
  return before != after;
}

}  // namespace concord
