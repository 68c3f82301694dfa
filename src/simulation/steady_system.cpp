#include "simulation/steady_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "concord/errors.hpp"
#include "coupling/problem/row_major.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

double size_of(double nominal, double start) {
  if (nominal > 0.0) return nominal;
  return start != 0.0 ? std::abs(start) : 1.0;
}

std::string listed(const std::vector<std::string>& names) {
  return names.empty() ? "none" : joined(names);
}

std::size_t place_in(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

}  // namespace

SteadySystem::SteadySystem(SimulationCore& simulation, const SteadyWishes& wishes, double time)
    : subsystems_(simulation.subsystems()),
      plan_(simulation.plan()),
      simulation_(simulation),
      equations_(simulation.subsystems()),
      time_(time),
      duration_(plan_.settings.stop - plan_.settings.start),
      inputs_(simulation.stepper().point().inputs),
      f_(plan_.network.n_states()),
      y_(plan_.network.n_outputs()) {
  const OdeInterface whole = equations_.interface();
  for (const StateVariable& state : whole.states) {
    x_.push_back(state.start);
    sizes_.push_back(size_of(state.nominal, state.start));
  }
  const auto states = simulation.stepper().coupling().states();
  std::copy(states.begin(), states.end(), x_.begin());
  for (const auto& [name, value] : wishes.held) hold(name, value, whole);
  for (const auto& [name, value] : wishes.free) set_free(name, value);
  require_square();
  equations_.take_inputs(inputs_);
  find_moving();
  start_.resize(static_cast<Eigen::Index>(state_.size() + free_.size()));
  mass_ = Eigen::VectorXd::Zero(size());
  for (std::size_t i = 0; i < state_.size(); ++i) {
    start_[static_cast<Eigen::Index>(i)] = x_[state_[i]] / sizes_[state_[i]];
    mass_[static_cast<Eigen::Index>(i)] = 1.0;
  }
  for (std::size_t i = 0; i < free_.size(); ++i) {
    start_[static_cast<Eigen::Index>(state_.size() + i)] = free_[i].start / free_[i].size;
  }
}

void SteadySystem::hold(const std::string& name, double value, const OdeInterface& whole) {
  const Network& network = plan_.network;
  if (const std::size_t o = place_in(network.output_names(), name); o < network.n_outputs()) {
    held_.push_back({name, true, o, value, size_of(whole.outputs[o].nominal, value)});
  } else if (const std::size_t s = place_in(network.state_names(), name); s < network.n_states()) {
    held_.push_back({name, false, s, value, size_of(whole.states[s].nominal, value)});
  } else {
    const Settable what = simulation_.settable(name);
    if (what.kind() == Settable::Kind::parameter) {
      throw InputError("concord steady: '" + name + "' is a parameter, which --set " + name + "=" +
                       exact_number(value) +
                       " gives another value; --hold is for inputs, outputs "
                       "and states");
    }
    inputs_[what.index()] = {value, 0.0};
  }
}

void SteadySystem::set_free(const std::string& name, std::optional<double> value) {
  const Settable what = simulation_.settable(name);
  if (what.kind() == Settable::Kind::input) {
    value = inputs_[what.index()].value;
  } else if (!value) {
    throw InputError("concord steady: nothing tells the value of parameter '" + name +
                     "'; free a parameter of equations, or an input that nothing feeds, instead");
  }
  free_.push_back({name, what, *value, size_of(0.0, *value)});
}

void SteadySystem::require_square() const {
  if (held_.size() == free_.size()) return;
  throw InputError("concord steady: " + std::to_string(held_.size()) +
                   " outputs and states are held (" + listed(names_of(held_)) + ") and " +
                   std::to_string(free_.size()) + " parameters and inputs are free (" +
                   listed(names_of(free_)) + "): " +
                   (held_.size() > free_.size()
                        ? "the point is overdetermined; free as many with --free as are held"
                        : "the point is underdetermined; --hold an output or a state for each"));
}

/// Those whose columns are not zero here.
void SteadySystem::note_what_matters(std::vector<char>& matters) {
  const Derived derived = derive();
  for (std::size_t i = 0; i < x_.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    const auto acts_on = [&](const Held& held) {
      return held.is_output ? derived.g_x(static_cast<Eigen::Index>(held.index), column) != 0.0
                            : held.index == i;
    };
    if (derived.f_x.col(column).any() || std::ranges::any_of(held_, acts_on)) matters[i] = 1;
  }
}

/// At the start and at a second point, as what is zero at the start may be so by chance.
void SteadySystem::find_moving() {
  const std::vector<double> start = x_;
  std::vector<char> matters(x_.size(), 0);
  note_what_matters(matters);
  for (std::size_t i = 0; i < x_.size(); ++i) x_[i] += 0.37 * sizes_[i];
  try {
    note_what_matters(matters);
  } catch (const RecoverableFailure&) {
    // Beyond what the model is defined for: the start alone tells.
  }
  x_ = start;
  place_.assign(x_.size(), -1);
  for (std::size_t i = 0; i < x_.size(); ++i) {
    if (matters[i] == 0 && !indicated(i)) continue;
    place_[i] = static_cast<Eigen::Index>(state_.size());
    state_.push_back(i);
  }
}

std::vector<double> SteadySystem::indicators() {
  std::vector<Indicator> z(equations_.indicator_count());
  equations_.indicators(time_, x_, {}, z);
  std::vector<double> values;
  for (const Indicator& indicator : z) values.push_back(indicator.value);
  return values;
}

bool SteadySystem::indicated(std::size_t state) {
  if (equations_.indicator_count() == 0) return false;
  const double start = x_[state];
  const std::vector<double> before = indicators();
  x_[state] += sizes_[state];
  const std::vector<double> after = indicators();
  x_[state] = start;
  return before != after;
}

void SteadySystem::give(const Free& free, double value) {
  if (free.what.kind() == Settable::Kind::input) {
    inputs_[free.what.index()] = {value, 0.0};
    equations_.take_inputs(inputs_);
    return;
  }
  OdeModel* const model = subsystems_.own(free.what.subsystem()).equations();
  if (!model->set_parameter(free.what.index(), value)) {
    throw RecoverableFailure("parameter '" + free.name + "' cannot be " + short_number(value));
  }
}

void SteadySystem::move_to(const Eigen::VectorXd& z) {
  for (std::size_t i = 0; i < state_.size(); ++i) {
    x_[state_[i]] = z[static_cast<Eigen::Index>(i)] * sizes_[state_[i]];
  }
  for (std::size_t i = 0; i < free_.size(); ++i) {
    give(free_[i], z[static_cast<Eigen::Index>(state_.size() + i)] * free_[i].size);
  }
}

double SteadySystem::value_of(const Held& held, std::span<const double> y) const {
  return held.is_output ? y[held.index] : x_[held.index];
}

Eigen::VectorXd SteadySystem::residual(const Eigen::VectorXd& z) {
  move_to(z);
  equations_.derivatives(time_, x_, {}, f_);
  if (!held_.empty()) equations_.outputs(time_, x_, {}, y_);
  Eigen::VectorXd result(size());
  for (std::size_t i = 0; i < state_.size(); ++i) {
    result[static_cast<Eigen::Index>(i)] = f_[state_[i]] * duration_ / sizes_[state_[i]];
  }
  for (std::size_t i = 0; i < held_.size(); ++i) {
    result[static_cast<Eigen::Index>(state_.size() + i)] =
        (value_of(held_[i], y_) - held_[i].value) / held_[i].size;
  }
  if (!result.allFinite()) throw RecoverableFailure("a derivative is not a finite number");
  return result;
}

SteadySystem::Derived SteadySystem::derive() {
  const std::size_t n = x_.size(), outputs = y_.size();
  std::vector<double> f_x(n * n), g_x(outputs * n);
  if (!equations_.jacobians(time_, x_, {}, {f_x, {}, g_x, {}})) {
    throw InputError(
        "concord steady: a subsystem gives no Jacobians; write it as equations, or give them in "
        "C++");
  }
  const auto rows = [](std::size_t count) { return static_cast<Eigen::Index>(count); };
  return {row_major(f_x, rows(n), rows(n)), row_major(g_x, rows(outputs), rows(n))};
}

/// By the states exactly, by what is free by central differences.
Eigen::MatrixXd SteadySystem::jacobian(const Eigen::VectorXd& z) {
  move_to(z);
  const Derived derived = derive();
  const auto states = static_cast<Eigen::Index>(state_.size());
  Eigen::MatrixXd result(size(), size());
  for (Eigen::Index j = 0; j < states; ++j) {
    const std::size_t by = state_[static_cast<std::size_t>(j)];
    const auto column = static_cast<Eigen::Index>(by);
    for (Eigen::Index i = 0; i < states; ++i) {
      const std::size_t of = state_[static_cast<std::size_t>(i)];
      result(i, j) =
          derived.f_x(static_cast<Eigen::Index>(of), column) * duration_ * sizes_[by] / sizes_[of];
    }
    for (std::size_t h = 0; h < held_.size(); ++h) {
      const double slope = held_[h].is_output
                               ? derived.g_x(static_cast<Eigen::Index>(held_[h].index), column)
                               : static_cast<double>(held_[h].index == by);
      result(states + static_cast<Eigen::Index>(h), j) = slope * sizes_[by] / held_[h].size;
    }
  }
  const double part = std::cbrt(std::numeric_limits<double>::epsilon());
  for (Eigen::Index j = states; j < size(); ++j) {
    const double step = part * std::max(1.0, std::abs(z[j]));
    Eigen::VectorXd there = z, back = z;
    there[j] += step;
    back[j] -= step;
    result.col(j) = (residual(there) - residual(back)) / (2.0 * step);
  }
  move_to(z);
  return result;
}

bool SteadySystem::settle(const Eigen::VectorXd& z, std::vector<Happening>& waiting) {
  move_to(z);
  waiting.clear();
  if (!equations_.has_events()) return false;
  equations_.derivatives(time_, x_, {}, f_);
  const std::vector<double> rest(x_.size(), 0.0);
  return equations_.settle({time_, {}, {rest, {}}, 0.0}, x_, waiting);
}

std::vector<double> SteadySystem::states(const Eigen::VectorXd& z) {
  move_to(z);
  return x_;
}

std::vector<std::pair<std::string, double>> SteadySystem::freed(const Eigen::VectorXd& z) const {
  std::vector<std::pair<std::string, double>> result;
  for (std::size_t i = 0; i < free_.size(); ++i) {
    result.emplace_back(free_[i].name,
                        z[static_cast<Eigen::Index>(state_.size() + i)] * free_[i].size);
  }
  return result;
}

std::vector<double> SteadySystem::rates(const Eigen::VectorXd& z) {
  move_to(z);
  equations_.derivatives(time_, x_, {}, f_);
  return f_;
}

Eigen::MatrixXd SteadySystem::state_matrix(const Eigen::VectorXd& z) {
  move_to(z);
  return derive().f_x;
}

std::string SteadySystem::equation(Eigen::Index i) const {
  const auto k = static_cast<std::size_t>(i);
  return k < state_.size()
             ? "der(" + plan_.network.state_names()[state_[k]] + ") = 0"
             : held_[k - state_.size()].name + " = " + short_number(held_[k - state_.size()].value);
}

}  // namespace concord
