// What errors of states become at events, whose instants they move.
#include <algorithm>
#include <cmath>

#include "coupling/estimates/error_propagation.hpp"
#include "support/agreement.hpp"

namespace concord {

/// Of all inputs of own subsystem k where the last interval has ended: what they are fed there is
/// wrong by, not what was given on the way, as conditions are looked at with what they are fed.
std::vector<double> ErrorPropagation::input_errors(std::size_t k) const {
  const Part& part = parts_[k];
  const IndexRange inputs = subsystems_.inputs_of(k);
  std::vector<double> errors(inputs.size());
  for (std::size_t i = inputs.first; i < inputs.last; ++i)
    errors[i - inputs.first] = fed_[i].value - offsets_[i];
  for (std::size_t c = part.held.first; c < part.held.last; ++c)
    errors[subsystems_.held_inputs()[c] - inputs.first] =
        part.u_held()[static_cast<Eigen::Index>(c - part.held.first)];
  return errors;
}

/// Where outputs don't belong to what feeds inputs, instants shift one another, however far; else
/// none is wrong by more than a macro-step, whose indicator has crossed 0 in it.
double ErrorPropagation::take_errors(std::size_t k, std::span<const Sample> inputs,
                                     double h) const {
  const Part& part = parts_[k];
  const std::vector<double> of_inputs = input_errors(k);
  const std::span<const double> of_states(part.x().data(),
                                          static_cast<std::size_t>(part.x().size()));
  const std::span<const double> of_discrete(part.discrete.data(),
                                            static_cast<std::size_t>(part.discrete.size()));
  double result = 0.0;
  subsystems_.asking(k, [&] {
    result = part.teller->take_errors(inputs, {of_states, of_inputs}, of_discrete);
  });
  if (!std::isfinite(result)) return 0.0;
  return consistent_ ? std::clamp(result, -h, h) : result;
}

/// f at the point, with its inputs; false where the subsystem cannot tell.
bool ErrorPropagation::find_slopes(std::size_t k, std::span<const Sample> inputs,
                                   std::vector<double>& slopes) {
  const Capabilities& has = subsystems_.own(k).description().capabilities;
  slopes.resize(subsystems_.states_of(k).size());
  if (slopes.empty() || !has.states || !has.state_derivatives) return false;
  Outcome outcome = Outcome::failed;
  const auto thrown = subsystems_.at_point(
      k, [&] { outcome = subsystems_.own(k).state_derivatives(inputs, slopes); });
  return !thrown && outcome == Outcome::ok;
}

void ErrorPropagation::begin_instant(const CommunicationPoint& point) {
  if (!any_teller_) return;
  subsystems_.exchange(outputs_, fed_);
  const std::vector<Sample> inputs = inputs_that_move(point);
  double largest = 0.0;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Part& part = parts_[k];
    part.instant_error = 0.0;
    if (part.teller == nullptr) continue;
    const IndexRange range = subsystems_.inputs_of(k);
    part.instant_error =
        take_errors(k, std::span(inputs).subspan(range.first, range.size()), point.last_step);
    largest = std::max(largest, std::abs(part.instant_error));
  }
  if (agree_on_largest(subsystems_.comm(), largest) > 0.0) spread_instant_errors();
  note_slopes(point);
}

/// To those that an event reaches at once, through what follows its inputs and events that follow
/// from it: each is as late as the worst that feeds it, unless it finds its own.
void ErrorPropagation::spread_instant_errors() {
  constexpr int links = 3;
  std::vector<char> own(parts_.size());
  for (std::size_t k = 0; k < parts_.size(); ++k) own[k] = parts_[k].instant_error != 0.0 ? 1 : 0;
  std::vector<Sample> late(outputs_.size()), fed(fed_.size());
  for (int link = 0; link < links; ++link) {
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const bool passes_on = subsystems_.own(k).description().events || parts_[k].x().size() == 0;
      const IndexRange out = subsystems_.outputs_of(k);
      for (std::size_t o = out.first; o < out.last; ++o)
        late[o].value = passes_on ? parts_[k].instant_error : 0.0;
    }
    subsystems_.exchange(late, fed);
    for (const std::size_t i : subsystems_.connected_inputs())
      fed[i].value = per_output_[i] == 0.0 ? 0.0 : (fed[i].value - offsets_[i]) / per_output_[i];
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      if (own[k] != 0) continue;
      const IndexRange in = subsystems_.inputs_of(k);
      for (std::size_t i = in.first; i < in.last; ++i)
        if (std::abs(fed[i].value) > std::abs(parts_[k].instant_error))
          parts_[k].instant_error = fed[i].value;
    }
  }
}

/// What inputs are fed at the point, which is what conditions are looked at with: the coupling
/// leaves a little of the difference to what they were given. With slopes of what feeds them,
/// y' = C f + D u' + g_t, through a few links of direct feedthrough: what is held or extrapolated
/// has none, or poor ones.
std::vector<Sample> ErrorPropagation::inputs_that_move(const CommunicationPoint& point) {
  std::vector<Sample> inputs(point.inputs.begin(), point.inputs.end());
  std::vector<Sample> fed = inputs;
  subsystems_.exchange(point.outputs, fed);
  for (const std::size_t i : subsystems_.connected_inputs()) inputs[i].value = fed[i].value;
  if (consistent_ && !subsystems_.network().has_held()) return inputs;
  std::vector<std::vector<double>> f(parts_.size());
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const IndexRange range = subsystems_.inputs_of(k);
    if (!find_slopes(k, std::span(inputs).subspan(range.first, range.size()), f[k]))
      std::ranges::fill(f[k], 0.0);
  }
  std::vector<Sample> outputs(point.outputs.begin(), point.outputs.end());
  constexpr int links = 3;
  for (int link = 0; link < links; ++link) {
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      if (parts_[k].known) put_slopes(k, f[k], inputs, outputs);
    }
    subsystems_.exchange(outputs, fed);
    for (const std::size_t i : subsystems_.connected_inputs())
      inputs[i].derivative = fed[i].derivative;
    for (const std::size_t i : subsystems_.held_inputs()) inputs[i].derivative = fed[i].derivative;
  }
  return inputs;
}

void ErrorPropagation::put_slopes(std::size_t k, std::span<const double> f,
                                  std::span<const Sample> inputs, std::span<Sample> outputs) const {
  const Part& part = parts_[k];
  const Linearization& here = *part.newest;
  const IndexRange in = subsystems_.inputs_of(k), out = subsystems_.outputs_of(k);
  for (std::size_t o = 0; o < out.size(); ++o) {
    double slope = here.g_t.empty() ? 0.0 : here.g_t[o];
    const auto add = [&](const std::vector<double>& g, const RowPattern LinearPattern::*entries,
                         std::size_t columns, auto&& motion) {
      if (part.pattern) {
        const RowPattern& where = (*part.pattern).*entries;
        for (auto e = static_cast<std::size_t>(where.begins[o]);
             e < static_cast<std::size_t>(where.begins[o + 1]); ++e)
          slope += g[e] * motion(static_cast<std::size_t>(where.columns[e]));
      } else {
        for (std::size_t c = 0; c < columns; ++c) slope += g[o * columns + c] * motion(c);
      }
    };
    add(here.g_x, &LinearPattern::g_x, f.size(), [&](std::size_t s) { return f[s]; });
    add(here.g_u, &LinearPattern::g_u, in.size(),
        [&](std::size_t i) { return inputs[in.first + i].derivative; });
    outputs[out.first + o].derivative = slope;
  }
}

/// f- with the inputs that led here, which integrators have evaluated last; what is set reads
/// inputs that belong to the outputs.
void ErrorPropagation::note_slopes(const CommunicationPoint& point) {
  std::vector<Sample> inputs;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Part& part = parts_[k];
    part.restarts_before = subsystems_.touched().restarts(k);
    part.f_before.clear();
    part.u_before.clear();
    const IndexRange range = subsystems_.inputs_of(k);
    inputs.clear();
    for (std::size_t i = range.first; i < range.last; ++i) {
      inputs.push_back(point.polynomials[i].at(point.last_step));
      part.u_before.push_back(fed_[i].value - offsets_[i] +
                              inputs.back().derivative * part.instant_error);
    }
    if (part.instant_error != 0.0 && !find_slopes(k, inputs, part.f_before)) part.f_before.clear();
  }
}

void ErrorPropagation::end_instant(const CommunicationPoint& point) {
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    jump(k, point);
    parts_[k].instant_error = 0.0;
  }
}

void ErrorPropagation::jump(std::size_t k, const CommunicationPoint& point) {
  Part& part = parts_[k];
  const auto jumps = part.teller != nullptr ? part.teller->jumps() : std::span<const Jump>();
  const bool reached = part.restarts_before != subsystems_.touched().restarts(k);
  const IndexRange inputs = subsystems_.inputs_of(k);
  std::vector<double> f;
  const bool moves =
      reached && !part.f_before.empty() &&
      find_slopes(k, std::span(point.inputs).subspan(inputs.first, inputs.size()), f);
  if (!moves && jumps.empty()) return;
  const Eigen::VectorXd x = part.x(), g_discrete = part.g_discrete();
  const auto move = [&](const std::vector<double>& slopes, double dt) {
    part.x() += dt * Eigen::Map<const Eigen::VectorXd>(slopes.data(), part.x().size());
  };
  if (moves) move(part.f_before, part.instant_error);
  set(part, jumps);
  if (moves) move(f, -part.instant_error);
  pass_discrete(k, point);
  if (!part.known) return;
  const Eigen::VectorXd change = part.spread->c * (part.x() - x) + part.g_discrete() - g_discrete;
  const std::size_t first = subsystems_.outputs_of(k).first;
  for (Eigen::Index o = 0; o < change.size(); ++o)
    outputs_[first + static_cast<std::size_t>(o)].value += change[o];
}

void ErrorPropagation::set(Part& part, std::span<const Jump> jumps) const {
  while (!jumps.empty()) {
    const auto other = [&](const Jump& jump) { return jump.pass != jumps.front().pass; };
    const auto count = std::ranges::find_if(jumps, other) - jumps.begin();
    set_pass(part, jumps.first(static_cast<std::size_t>(count)));
    jumps = jumps.subspan(static_cast<std::size_t>(count));
  }
}

/// All with the errors of before the pass.
void ErrorPropagation::set_pass(Part& part, std::span<const Jump> pass) const {
  const auto states = static_cast<std::size_t>(part.x().size());
  const std::size_t inputs = part.u_before.size();
  const auto of = [&](std::size_t variable) {
    if (variable == 0) return part.instant_error;
    if (variable <= states) return part.x()[static_cast<Eigen::Index>(variable - 1)];
    if (variable <= states + inputs) return part.u_before[variable - 1 - states];
    return part.discrete[static_cast<Eigen::Index>(variable - 1 - states - inputs)];
  };
  std::vector<double> errors;
  for (const Jump& jump : pass) {
    double& error = errors.emplace_back(0.0);
    for (const auto& [variable, derivative] : jump.by) error += derivative * of(variable);
  }
  for (std::size_t i = 0; i < pass.size(); ++i) {
    double* const to = pass[i].state ? part.x().data() : part.discrete.data();
    to[pass[i].index] = errors[i];
  }
}

void ErrorPropagation::pass_discrete(std::size_t k, const CommunicationPoint& point) {
  Part& part = parts_[k];
  if (part.discrete.isZero(0.0)) {
    part.f_discrete().setZero();
    part.g_discrete().setZero();
    return;
  }
  const IndexRange inputs = subsystems_.inputs_of(k);
  const auto values = [](auto&& vector) {
    return std::span(vector.data(), static_cast<std::size_t>(vector.size()));
  };
  bool known = false;
  subsystems_.asking(k, [&] {
    known = part.teller->pass_discrete(std::span(point.inputs).subspan(inputs.first, inputs.size()),
                                       values(part.discrete), values(part.f_discrete()),
                                       values(part.g_discrete()));
  });
  if (!known) {
    part.f_discrete().setZero();
    part.g_discrete().setZero();
  }
}

}  // namespace concord
