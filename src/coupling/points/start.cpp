#include "coupling/points/start.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "concord/errors.hpp"
#include "coupling/points/touched_evaluation.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

/// Of constraints, as they were given: they are connected back to what they came from.
void put_out_unknowns(const RankNetwork& subsystems, CommunicationPoint& point) {
  for (const std::size_t k : subsystems.all()) {
    if (subsystems.own(k).description().constraint) {
      const std::size_t first = subsystems.outputs_of(k).first;
      point.outputs[first + constraint_value] = point.outputs[first + constraint_corrected] =
          point.inputs[subsystems.inputs_of(k).first];
    }
  }
}

/// How far the inputs have moved, relative to each and to what they were.
double movement(std::span<const Sample> before, std::span<const Sample> now) {
  double largest = 0.0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const double size = std::max(std::abs(before[i].value), std::abs(now[i].value));
    const double moved = std::abs(now[i].value - before[i].value);
    largest = moved > 0.0 ? std::max(largest, moved / size) : largest;
  }
  return largest;
}

/// While they are being initialised, subsystems may answer to inputs to which they later don't.
void settle(RankNetwork& subsystems, ConsistentInputs& consistent, CommunicationPoint& point) {
  constexpr int most_passes = 200;
  constexpr double settled = 1e-14;
  make_consistent(subsystems, consistent, Wanted::values, point);
  for (int pass = 0; pass < most_passes; ++pass) {
    const std::vector<Sample> before = point.inputs;
    make_consistent(subsystems, consistent, Wanted::values, point);
    if (agree_on_largest(subsystems.comm(), movement(before, point.inputs)) <= settled) {
      return;
    }
  }
  throw SimulationError(
      "the start values don't settle: what is delayed starts with the source's own value, which "
      "answers to it by more than it is; change the model so that it answers by less, or give the "
      "loop a subsystem with a state");
}

/// Throws SimulationError on every rank. Collective.
void solve_at_point(RankNetwork& subsystems, ConsistentInputs& consistent,
                    PointEvaluation& evaluation, Wanted wanted, CommunicationPoint& point) {
  const Outcome outcome = consistent.solve(evaluation, wanted, point.inputs, point.outputs);
  const auto failure = agree_on_text(subsystems.comm(), subsystems.failure());
  if (outcome != Outcome::ok && !consistent.failure().empty()) {
    throw SimulationError(consistent.failure() + (failure ? "; " + *failure : ""));
  }
  if (failure) {
    throw SimulationError(*failure);
  }
  point.slopes_known = wanted != Wanted::values;
}

}  // namespace

void start_subsystems(RankNetwork& subsystems, const MacroStep& first, double stop) {
  subsystems.start(first, stop);
  if (const auto failure = agree_on_text(subsystems.comm(), subsystems.failure())) {
    throw SimulationError(*failure);
  }
}

void start_consistently(RankNetwork& subsystems, ConsistentInputs& consistent, Wanted wanted,
                        const MacroStep& first, double stop, CommunicationPoint& point) {
  start_subsystems(subsystems, first, stop);
  point.time = first.begin;
  point.inputs = subsystems.start_inputs();
  point.outputs.resize(subsystems.n_outputs());
  point.polynomials.resize(subsystems.n_inputs());
  put_out_unknowns(subsystems, point);
  end_initialization(subsystems, consistent, point);
  make_consistent(subsystems, consistent, wanted, point);
}

void end_initialization(RankNetwork& subsystems, ConsistentInputs& consistent,
                        CommunicationPoint& point) {
  if (agree_on_largest(subsystems.comm(), subsystems.initializing() ? 1 : 0) == 0) {
    return;
  }
  settle(subsystems, consistent, point);
  subsystems.end_initialization(point.inputs);
  if (const auto failure = agree_on_text(subsystems.comm(), subsystems.failure())) {
    throw SimulationError(*failure);
  }
}

void make_consistent(RankNetwork& subsystems, ConsistentInputs& consistent, Wanted wanted,
                     CommunicationPoint& point) {
  CommunicationPointEvaluation evaluation(subsystems);
  solve_at_point(subsystems, consistent, evaluation, wanted, point);
}

void make_touched_consistent(RankNetwork& subsystems, ConsistentInputs& consistent, Wanted wanted,
                             CommunicationPoint& point) {
  subsystems.exchange(point.outputs, point.inputs);
  TouchedEvaluation evaluation(subsystems, point);
  solve_at_point(subsystems, consistent, evaluation, wanted, point);
}

}  // namespace concord
