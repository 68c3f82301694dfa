#include "coupling/implicit/network_equations.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "concord/errors.hpp"

namespace concord {

NetworkEquations::NetworkEquations(RankNetwork& subsystems, std::vector<std::size_t> given)
    : subsystems_(subsystems),
      given_(std::move(given)),
      point_(subsystems),
      consistent_(subsystems),
      inputs_(subsystems.start_inputs()),
      outputs_(subsystems.n_outputs()),
      derivatives_(subsystems, given_),
      events_(subsystems, point_) {}

OdeInterface NetworkEquations::interface() const {
  OdeInterface whole;
  whole.time_dependent = false;
  for (std::size_t k = 0; k < subsystems_.n_own(); ++k) {
    const auto& d = subsystems_.own(k).description();
    const auto x = subsystems_.own(k).states();
    for (std::size_t i = 0; i < x.size(); ++i) {
      whole.states.push_back(
          {d.name + "." + d.states[i].name, d.states[i].unit, x[i], d.states[i].nominal});
    }
    for (const auto& output : d.outputs) {
      whole.outputs.push_back({d.name + "." + output.name, output.unit, output.nominal});
    }
    whole.time_dependent =
        whole.time_dependent || (!point_.stands_for_constraint(k) &&
                                 subsystems_.own(k).equations()->interface().time_dependent);
  }
  return whole;
}

void NetworkEquations::derivatives(double t, std::span<const double> x, std::span<const double> u,
                                   std::span<double> dxdt) {
  eliminate_inputs(t, x, u);
  for (std::size_t k = 0; k < subsystems_.n_own(); ++k) {
    if (point_.stands_for_constraint(k)) {
      continue;
    }
    const IndexRange states = subsystems_.states_of(k);
    point_.naming(k, [&](OdeModel& equations) {
      equations.derivatives(t, point_.states_of(k), point_.inputs_of(k),
                            dxdt.subspan(states.first, states.size()));
    });
  }
}

void NetworkEquations::outputs(double t, std::span<const double> x, std::span<const double> u,
                               std::span<double> y) {
  eliminate_inputs(t, x, u);
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = outputs_[i].value;
  }
}

void NetworkEquations::complete_step(double t, std::span<const double> x) {
  eliminate_inputs(t, x, {});
  for (std::size_t k = 0; k < subsystems_.n_own(); ++k) {
    if (!subsystems_.own(k).complete_step(t, point_.states_of(k), point_.inputs_of(k))) {
      throw SimulationError("subsystem '" + subsystems_.own(k).description().name +
                            "' has an event, which monolithic cannot handle; choose another "
                            "-cosim_type");
    }
  }
}

bool NetworkEquations::go_along_homotopy(double part) {
  bool result = false;
  for (std::size_t k = 0; k < subsystems_.n_own(); ++k) {
    auto* const equations = dynamic_cast<HomotopyModel*>(subsystems_.own(k).equations());
    result = (equations != nullptr && equations->go_along_homotopy(part)) || result;
  }
  return result;
}

bool NetworkEquations::jacobians(double t, std::span<const double> x, std::span<const double> u,
                                 const Jacobians& result) {
  eliminate_inputs(t, x, u);
  return derivatives_.find(point_, inputs_, result);
}

bool NetworkEquations::output_slopes(double t, std::span<const double> x, std::span<const double> u,
                                     const Motion& motion, std::span<double> dydt) {
  const Outcome outcome = solve_moving(t, x, u, motion);
  for (std::size_t i = 0; i < dydt.size(); ++i) {
    dydt[i] = outputs_[i].derivative;
  }
  return point_.slopes_given() && outcome == Outcome::ok;
}

void NetworkEquations::indicators(double t, std::span<const double> x, std::span<const double> u,
                                  std::span<Indicator> z) {
  eliminate_inputs(t, x, u);
  events_.indicators(z);
}

void NetworkEquations::indicator_slopes(double t, std::span<const double> x,
                                        std::span<const double> u, const Motion& motion,
                                        std::span<double> slopes) {
  move_inputs(t, x, u, motion);
  events_.indicator_slopes(slopes);
}

bool NetworkEquations::is_decisive(std::size_t i, bool beyond, double t, std::span<const double> x,
                                   std::span<const double> u) {
  eliminate_inputs(t, x, u);
  return events_.is_decisive(i, beyond);
}

bool NetworkEquations::settle(const EventPoint& point, std::span<const double> x,
                              std::vector<Happening>& what) {
  move_inputs(point.inside, x, point.u, point.motion);
  return events_.settle(point, what);
}

bool NetworkEquations::happen(const EventPoint& point, std::span<double> x,
                              std::vector<Happening>& what) {
  move_inputs(point.inside, x, point.u, point.motion);
  states_at_pass_.assign(x.begin(), x.end());
  const bool changed = events_.happen(point, x, what);
  if (changed) note_jumps(point, states_at_pass_);
  return changed;
}

void NetworkEquations::begin_instant() {
  jumped_at_ = std::numeric_limits<double>::quiet_NaN();
  events_.begin_instant();
}

/// `x`: of before the pass.
void NetworkEquations::note_jumps(const EventPoint& point, std::span<const double> x) {
  if (std::exchange(jumped_at_, point.t) != point.t) {
    jumps_.clear();
    events_.forget_jumps();
  }
  ++pass_;
  inputs_by_.clear();
  bool found = false, looked = false;
  const auto pass_on_input = [&](Jump& jump, std::size_t input, double by) {
    if (!std::exchange(looked, true)) found = find_inputs_by(point.inside, x, point.u);
    if (found) pass_on(jump, input, by);
  };
  for (Jump& jump : events_.new_jumps(point.t, given_.size(), pass_on_input)) {
    jump.pass = pass_;
    jumps_.push_back(std::move(jump));
  }
}

/// False where a subsystem has no Jacobians.
bool NetworkEquations::find_inputs_by(double t, std::span<const double> x,
                                      std::span<const double> u) {
  eliminate_inputs(t, x, u);
  if (!derivatives_.take(point_, inputs_)) return false;
  const auto add = [&](std::span<const double> du) {
    inputs_by_.emplace_back(du.begin(), du.end());
  };
  const std::vector<double> rest(std::max(x.size(), inputs_.size()), 0.0);
  std::vector<double> f(x.size()), g(outputs_.size());
  for (std::size_t k = 0; k < subsystems_.n_own(); ++k) {
    const IndexRange out = subsystems_.outputs_of(k);
    const std::size_t states = subsystems_.states_of(k).size();
    const Motion none{std::span(rest).first(states),
                      std::span(rest).first(subsystems_.inputs_of(k).size())};
    if (!point_.stands_for_constraint(k))
      subsystems_.own(k).equations()->output_slopes(t, point_.states_of(k), point_.inputs_of(k),
                                                    none,
                                                    std::span(g).subspan(out.first, out.size()));
  }
  add(derivatives_.by_outputs(g));
  for (std::size_t k = 0; k < subsystems_.n_own(); ++k)
    for (std::size_t j = 0; j < subsystems_.states_of(k).size(); ++j)
      add(derivatives_.by_state(k, j));
  for (std::size_t i = 0; i < given_.size(); ++i) add(derivatives_.by_given(i));
  std::vector<double> discrete(events_.discrete_count());
  for (double& one : discrete) {
    one = 1.0;
    events_.discrete_slopes(discrete, f, g);
    add(derivatives_.by_outputs(g));
    one = 0.0;
  }
  return true;
}

void NetworkEquations::pass_on(Jump& jump, std::size_t input, double by) const {
  for (std::size_t variable = 0; variable < inputs_by_.size(); ++variable)
    if (const double derivative = inputs_by_[variable][input]; derivative != 0.0)
      jump.by.emplace_back(static_cast<std::uint32_t>(variable), by * derivative);
}

void NetworkEquations::discrete_slopes(double t, std::span<const double> x,
                                       std::span<const double> u, std::span<const double> discrete,
                                       std::span<double> f, std::span<double> g) {
  eliminate_inputs(t, x, u);
  events_.discrete_slopes(discrete, f, g);
  if (derivatives_.take(point_, inputs_)) derivatives_.add_inputs(derivatives_.by_outputs(g), f, g);
}

void NetworkEquations::discrete_indicator_slopes(double t, std::span<const double> x,
                                                 std::span<const double> u,
                                                 std::span<const double> discrete,
                                                 std::span<double> slopes) {
  eliminate_inputs(t, x, u);
  events_.discrete_indicator_slopes(discrete, slopes);
}

void NetworkEquations::take_inputs(std::span<const Sample> inputs) {
  std::copy(inputs.begin(), inputs.end(), inputs_.begin());
}

/// Without slopes they rest.
void NetworkEquations::give(std::span<const double> u, std::span<const double> dudt) {
  for (std::size_t i = 0; i < given_.size(); ++i)
    inputs_[given_[i]] = {u[i], dudt.empty() ? 0.0 : dudt[i]};
}

void NetworkEquations::eliminate_inputs(double t, std::span<const double> x,
                                        std::span<const double> u) {
  give(u, {});
  point_.stand_at(t, x);
  if (consistent_.solve(point_, Wanted::values, inputs_, outputs_) != Outcome::ok) {
    throw RecoverableFailure(consistent_.failure());
  }
  point_.take(inputs_, Wanted::values);
}

Outcome NetworkEquations::solve_moving(double t, std::span<const double> x,
                                       std::span<const double> u, const Motion& motion) {
  give(u, motion.dudt);
  point_.stand_at(t, x);
  point_.move_by(motion.dxdt);
  return consistent_.solve(point_, Wanted::values_and_derivatives, inputs_, outputs_);
}

/// Eliminated inputs with their slopes.
void NetworkEquations::move_inputs(double t, std::span<const double> x, std::span<const double> u,
                                   const Motion& motion) {
  if (solve_moving(t, x, u, motion) != Outcome::ok) {
    throw RecoverableFailure(consistent_.failure());
  }
  point_.take(inputs_, Wanted::values_and_derivatives);
}

}  // namespace concord
