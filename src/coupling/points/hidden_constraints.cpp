#include "coupling/points/hidden_constraints.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coupling/points/loop_factors.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

/// Change of d gamma/dt, relative to what it is a sum of, from which it counts as an answer.
constexpr double answer = 1e-7;

/// Increments of an unknown whose size nobody knows are tried in units of its own and in others.
constexpr int tries = 12;
constexpr double next_try = 1e3;

/// What Newton's method leaves of the rows, beside what increments make of them.
constexpr double solved = 1e-9, usable = 1e-5;
constexpr int most_iterations = 10;

/// Increments of time beside the macro-step.
constexpr double time_share = 1e-3;

/// So that unknowns that act against each other don't cancel.
double uneven(std::size_t c) { return 1.0 + std::fmod(0.618 * static_cast<double>(c), 1.0); }

/// Those of whose y' d gamma/dt of indirect constraints is made: what their equations name, and
/// what passes through that directly.
std::vector<char> subsystems_in_slopes(const Network& network) {
  std::vector<char> result(network.n_subsystems()), seen(network.n_outputs());
  std::vector<std::size_t> inputs;
  for (std::size_t g = 0; g < network.n_subsystems(); ++g) {
    const IndexRange in = network.inputs_of(g);
    for (std::size_t i = in.first + 1;
         network.constraint(g) == ConstraintKind::indirect && i < in.last; ++i)
      inputs.push_back(i);
  }
  while (!inputs.empty()) {
    const auto& link = network.links()[inputs.back()];
    inputs.pop_back();
    if (!link || seen[link->output] != 0) continue;
    seen[link->output] = 1;
    result[network.subsystem_of_output(link->output)] = 1;
    for (const Feedthrough& through : network.feedthrough_to(link->output))
      inputs.push_back(through.input);
  }
  return result;
}

}  // namespace

/// Outputs at (t, x) + s (1, f), f given per own subsystem.
class HiddenConstraints::Displaced : public PointEvaluation {
 public:
  Displaced(RankNetwork& subsystems, double s, const std::vector<Values>& slopes)
      : subsystems_(subsystems), s_(s), slopes_(slopes) {}

  Outcome outputs(std::size_t k, std::span<const Sample> inputs, Wanted wanted,
                  std::span<Sample> outputs) override {
    Subsystem& subsystem = subsystems_.own(k);
    if (subsystem.description().constraint) {
      return subsystems_.point_outputs(k, inputs, wanted, outputs);
    }
    const auto x = subsystem.states();
    moved_.assign(x.begin(), x.end());
    for (std::size_t i = 0; i < moved_.size(); ++i) {
      moved_[i] += s_ * slopes_[k][i];
    }
    const IndexRange in = subsystems_.inputs_of(k), out = subsystems_.outputs_of(k);
    Outcome outcome = Outcome::failed;
    subsystems_.asking(k, [&] {
      outcome = subsystem.outputs_at(
          {time(), subsystems_.step(), moved_, inputs.subspan(in.first, in.size())},
          outputs.subspan(out.first, out.size()));
    });
    return outcome;
  }

  bool feedthrough(std::size_t, std::span<const Sample>, std::vector<double>&) override {
    return false;
  }
  bool whole() const override { return false; }
  double time() const override { return subsystems_.time() + s_; }

 private:
  RankNetwork& subsystems_;
  double s_;
  const std::vector<Values>& slopes_;
  std::vector<double> moved_;
};

HiddenConstraints::HiddenConstraints(RankNetwork& subsystems, ConsistentInputs& consistent,
                                     const CommunicationPoint& point)
    : subsystems_(subsystems),
      consistent_(consistent),
      point_(point),
      indirect_(subsystems),
      answers_(indirect_.count(), true) {
  bool slopes = true, states = true;
  const std::vector<char> moves = subsystems_in_slopes(subsystems.network());
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    const auto& has = subsystems.own(k).description().capabilities;
    const bool tells = has.output_derivatives && has.point_outputs;
    slopes = slopes && (tells || moves[subsystems.global(k)] == 0);
    states = states && has.states && has.state_derivatives && has.state_outputs;
  }
  double missing[2] = {slopes ? 0.0 : 1.0, states ? 0.0 : 1.0};
  agree_on_largest(subsystems.comm(), missing);
  slopes_are_there_ = missing[0] == 0.0;
  states_are_there_ = missing[1] == 0.0;
}

bool HiddenConstraints::all_answer() const {
  return std::all_of(answers_.begin(), answers_.end(), [](bool does) { return does; });
}

/// Leaves consistent inputs and outputs.
std::optional<std::vector<Sample>> HiddenConstraints::at(const Values& unknowns) {
  inputs_ = point_.inputs;
  outputs_ = point_.outputs;
  for (std::size_t c = 0; c < indirect_.own().size(); ++c) {
    const std::size_t k = indirect_.own()[c];
    const Sample unknown{unknowns[indirect_.positions()[c]], 0.0};
    const std::size_t first = subsystems_.outputs_of(k).first;
    inputs_[subsystems_.inputs_of(k).first] = unknown;
    outputs_[first + constraint_value] = outputs_[first + constraint_corrected] = unknown;
  }
  CommunicationPointEvaluation evaluation(subsystems_);
  const Wanted wanted = slopes_are_there_ ? Wanted::values_and_derivatives : Wanted::values;
  if (consistent_.solve(evaluation, wanted, inputs_, outputs_) != Outcome::ok) {
    return std::nullopt;
  }
  return indirect_.equations(outputs_);
}

std::optional<std::vector<Sample>> HiddenConstraints::equations() {
  return at(indirect_.unknowns(point_.inputs));
}

/// What d gamma/dt is a sum of tells what counts as an answer.
std::vector<bool> HiddenConstraints::answers() {
  const Values unknowns = indirect_.unknowns(point_.inputs);
  const auto gamma = at(unknowns);
  answers_.assign(count(), false);
  scales_.assign(count(), 0.0);
  for (std::size_t c = 0; c < indirect_.own().size(); ++c) {
    const IndexRange in = subsystems_.inputs_of(indirect_.own()[c]);
    for (std::size_t i = in.first + 1; i < in.last; ++i) {
      scales_[indirect_.positions()[c]] +=
          subsystems_.equation_weights()[i] * std::abs(inputs_[i].derivative);
    }
  }
  agree_on_sum(subsystems_.comm(), scales_);
  double change = 1.0;
  for (int n = 0; gamma && n < tries;
       ++n, change = n % 2 == 1 ? std::pow(next_try, (n + 1) / 2) : std::pow(next_try, -n / 2)) {
    Values moved = unknowns;
    for (std::size_t c = 0; c < count(); ++c) {
      moved[c] += change * uneven(c) * (moved[c] != 0.0 ? std::abs(moved[c]) : 1.0);
    }
    const auto changed = at(moved);
    for (std::size_t c = 0; changed && c < count(); ++c) {
      const double difference = std::abs((*changed)[c].derivative - (*gamma)[c].derivative);
      answers_[c] = answers_[c] || difference > answer * scales_[c];
    }
    if (all_answer()) {
      break;
    }
  }
  return answers_;
}

/// f of all own subsystems for inputs_; nothing where it fails on some rank.
std::optional<std::vector<HiddenConstraints::Values>> HiddenConstraints::state_slopes() {
  std::vector<Values> result(subsystems_.n_own());
  bool ok = true;
  for (const std::size_t k : subsystems_.all()) {
    const IndexRange in = subsystems_.inputs_of(k);
    result[k].resize(subsystems_.states_of(k).size());
    Outcome outcome = Outcome::failed;
    subsystems_.asking(k, [&] {
      outcome = subsystems_.own(k).state_derivatives(
          std::span<const Sample>(inputs_).subspan(in.first, in.size()), result[k]);
    });
    ok = ok && outcome == Outcome::ok;
  }
  return agree_on_largest(subsystems_.comm(), ok ? 0 : 1) == 0 ? std::optional(result)
                                                               : std::nullopt;
}

std::optional<std::vector<Sample>> HiddenConstraints::displaced(double s,
                                                                const std::vector<Values>& slopes) {
  Displaced evaluation(subsystems_, s, slopes);
  if (consistent_.solve(evaluation, Wanted::values_and_derivatives, inputs_, outputs_) !=
      Outcome::ok) {
    return std::nullopt;
  }
  return indirect_.equations(outputs_);
}

/// d gamma/dt of constraints that answer, d2 gamma/dt2 of the others by (-3, 4, -1)/(2 s).
std::optional<HiddenConstraints::Values> HiddenConstraints::rows(const Values& unknowns) {
  const auto here = at(unknowns);
  if (!here) {
    return std::nullopt;
  }
  Values result(count());
  for (std::size_t c = 0; c < count(); ++c) {
    result[c] = (*here)[c].derivative;
  }
  if (all_answer()) {
    return result;
  }
  const double t = subsystems_.time();
  const volatile double ahead = t + time_share * subsystems_.step();
  const double s = ahead - t;
  const auto slopes = states_are_there_ && s > 0.0 ? state_slopes() : std::nullopt;
  const auto near = slopes ? displaced(s, *slopes) : std::nullopt;
  const auto far = near ? displaced(2.0 * s, *slopes) : std::nullopt;
  if (!far) {
    return std::nullopt;
  }
  for (std::size_t c = 0; c < count(); ++c) {
    if (!answers_[c]) {
      result[c] = (4.0 * (*near)[c].derivative - (*far)[c].derivative - 3.0 * result[c]) / (2 * s);
    }
  }
  return result;
}

/// Such that they change the rows about as much as these are off: unknowns mostly act linearly.
bool HiddenConstraints::find_increments(const Values& unknowns, const Values& rows_here) {
  increments_.resize(count());
  for (std::size_t c = 0; c < count(); ++c) {
    increments_[c] = unknowns[c] != 0.0 ? std::abs(unknowns[c]) : 1.0;
  }
  constexpr double near = 100.0;
  for (int n = 0; n < tries; ++n) {
    Values moved = unknowns;
    for (std::size_t c = 0; c < count(); ++c) {
      moved[c] += increments_[c] * uneven(c);
    }
    const auto changed = rows(moved);
    bool good = changed.has_value();
    for (std::size_t c = 0; c < count(); ++c) {
      const double change = changed ? std::abs((*changed)[c] - rows_here[c]) : 0.0;
      const double wanted = std::abs(rows_here[c]);
      if (!changed) {
        increments_[c] /= next_try;
      } else if (change == 0.0 && wanted > 0.0) {
        increments_[c] *= next_try;
        good = false;
      } else if (wanted > near * change || near * wanted < change) {
        increments_[c] *= wanted > 0.0 ? wanted / change : 1.0;
        good = good && wanted == 0.0;
      }
    }
    if (good) {
      return true;
    }
  }
  return false;
}

/// -J^-1 r, J by differences; scales_ become what increments make of the rows.
std::optional<HiddenConstraints::Values> HiddenConstraints::correction(const Values& unknowns,
                                                                       const Values& rows_here) {
  std::vector<Values> columns;
  for (std::size_t colour = 0; colour < indirect_.n_colours(); ++colour) {
    Values moved = unknowns;
    for (std::size_t c = 0; c < count(); ++c) {
      moved[c] += indirect_.colour(c) == colour ? increments_[c] : 0.0;
    }
    const auto changed = rows(moved);
    if (!changed) {
      return std::nullopt;
    }
    columns.push_back(*changed);
  }
  scales_.assign(count(), 0.0);
  std::vector<std::size_t> row_starts{0}, places;
  Values values;
  for (std::size_t row = 0; row < count(); ++row) {
    for (const std::size_t c : indirect_.answering(row)) {
      places.push_back(c);
      values.push_back(columns[indirect_.colour(c)][row] - rows_here[row]);
      scales_[row] = std::max(scales_[row], std::abs(values.back()));
    }
    row_starts.push_back(places.size());
  }
  LoopFactors factors;
  if (!factors.compute(row_starts, places, values)) {
    return std::nullopt;
  }
  Values result(count());
  factors.solve(rows_here, result);
  for (std::size_t c = 0; c < count(); ++c) {
    result[c] *= -increments_[c];
  }
  return result;
}

/// Until the rows no longer fall.
std::optional<HiddenConstraints::Values> HiddenConstraints::newton(Values unknowns) {
  auto here = rows(unknowns);
  if (!here || !find_increments(unknowns, *here)) {
    return std::nullopt;
  }
  const auto left = [&](const Values& values) {
    double worst = 0.0;
    for (std::size_t c = 0; c < count(); ++c) {
      worst = values[c] == 0.0 ? worst : std::max(worst, std::abs(values[c]) / scales_[c]);
    }
    return worst;
  };
  double worst = std::numeric_limits<double>::infinity();
  for (int it = 0; it < most_iterations; ++it) {
    const auto change = correction(unknowns, *here);
    worst = change ? left(*here) : worst;
    if (!change || worst <= solved) {
      break;
    }
    Values next = unknowns;
    for (std::size_t c = 0; c < count(); ++c) {
      next[c] += (*change)[c];
    }
    const auto there = rows(next);
    if (!there || !(left(*there) < 0.5 * worst)) {
      break;
    }
    unknowns = next;
    here = there;
    worst = left(*there);
  }
  return worst <= usable ? std::optional(unknowns) : std::nullopt;
}

void HiddenConstraints::solve(CommunicationPoint& point) {
  if (count() == 0) {
    return;
  }
  const bool known = slopes_are_there_ && (all_answer() || states_are_there_);
  const Values before = indirect_.unknowns(point.inputs);
  if (at(known ? newton(before).value_or(before) : before)) {
    point.inputs = inputs_;
    point.outputs = outputs_;
  }
}

}  // namespace concord
