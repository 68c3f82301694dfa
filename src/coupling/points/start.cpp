#include "coupling/points/start.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "concord/errors.hpp"
#include "coupling/points/touched_evaluation.hpp"
#include "coupling/problem/constraint_rows.hpp"
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

void throw_failure(RankNetwork& subsystems) {
  if (const auto failure = agree_on_text(subsystems.comm(), subsystems.failure())) {
    throw SimulationError(*failure);
  }
}

/// What holds in those that are not being initialised; whether it is other than it was.
bool find_what_holds(RankNetwork& subsystems, std::span<const Sample> inputs, double slack,
                     std::vector<Happening>& waiting) {
  if (!subsystems.network().has_events()) return false;
  waiting.clear();
  bool changed = false;
  subsystems.happen(EventPass::settle, inputs, slack, changed, waiting);
  throw_failure(subsystems);
  return agree_on_largest(subsystems.comm(), changed ? 1 : 0) != 0;
}

/// While they are being initialised, subsystems may answer to inputs to which they later don't.
/// Gives the conditions that hold and do not act.
std::vector<Happening> settle(RankNetwork& subsystems, ConsistentInputs& consistent, double slack,
                              CommunicationPoint& point) {
  constexpr int most_passes = 200;
  constexpr double settled = 1e-14;
  std::vector<Happening> waiting;
  make_consistent(subsystems, consistent, Wanted::values, point);
  for (int pass = 0; pass < most_passes; ++pass) {
    const std::vector<Sample> before = point.inputs;
    const bool told = subsystems.exchange_texts();
    const bool changed = find_what_holds(subsystems, point.inputs, slack, waiting) || told;
    make_consistent(subsystems, consistent, Wanted::values, point);
    const double moved = movement(before, point.inputs);
    if (agree_on_largest(subsystems.comm(), moved) <= settled && !changed) {
      return waiting;
    }
  }
  throw SimulationError(
      "the start values don't settle: what is delayed starts with the source's own value, which "
      "answers to it by more than it is; change the model so that it answers by less, or give the "
      "loop a subsystem with a state");
}

/// The same of those that have just ended their initialisation, whose events at the start are over.
void find_what_holds_in(std::span<const std::size_t> ended, RankNetwork& subsystems,
                        std::span<const Sample> inputs, double slack) {
  std::vector<Happening> waiting;
  EventChange change = EventChange::nothing;
  for (const std::size_t k : ended) {
    if (!subsystems.own(k).description().events) continue;
    const IndexRange own = subsystems.inputs_of(k);
    subsystems.at_point(k, [&] {
      subsystems.own(k).happen(EventPass::settle, inputs.subspan(own.first, own.size()), slack,
                               change, waiting);
    });
  }
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

bool everyone(const RankNetwork& subsystems, bool Capabilities::*capability) {
  int lacking = 0;
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    lacking += subsystems.own(k).description().capabilities.*capability ? 0 : 1;
  }
  return agree_on_largest(subsystems.comm(), lacking) == 0;
}

bool looks_ahead(const RankNetwork& subsystems) {
  bool found = false;
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    const SubsystemDescription& d = subsystems.own(k).description();
    found = found || (d.events && d.capabilities.equations);
  }
  return agree_on_largest(subsystems.comm(), found ? 1 : 0) > 0 &&
         everyone(subsystems, &Capabilities::state_outputs) &&
         everyone(subsystems, &Capabilities::output_derivatives);
}

Wanted wanted_at_points(const Hold& hold, const RankNetwork& subsystems) {
  const Wanted wanted = wanted_of(hold);
  return wanted == Wanted::values && looks_ahead(subsystems) ? Wanted::values_and_derivatives
                                                             : wanted;
}

void start_subsystems(RankNetwork& subsystems, const MacroStep& first, double stop) {
  subsystems.start(first, stop);
  throw_failure(subsystems);
}

void start_consistently(RankNetwork& subsystems, ConsistentInputs& consistent, Wanted wanted,
                        const MacroStep& first, double stop, CommunicationPoint& point) {
  start_subsystems(subsystems, first, stop);
  point.time = first.begin;
  point.inputs = subsystems.start_inputs();
  point.outputs.resize(subsystems.n_outputs());
  point.polynomials.resize(subsystems.n_inputs());
  put_out_unknowns(subsystems, point);
  end_initialization_with_events(subsystems, consistent, first, point);
  make_consistent(subsystems, consistent, wanted, point);
}

double share_of_instant(const RankNetwork& subsystems) {
  constexpr double exact = 1e-10, of_indirect = 1e-7;
  return ConstraintRows(subsystems).any_indirect() ? of_indirect : exact;
}

double slack_of(const MacroStep& step, double share_of_instant) {
  constexpr double rounding = 16.0 * std::numeric_limits<double>::epsilon();
  const double largest = std::max(std::abs(step.begin), std::abs(step.end));
  return std::max(share_of_instant * step.size(), rounding * largest);
}

void end_initialization(RankNetwork& subsystems, ConsistentInputs& consistent,
                        const MacroStep& first, CommunicationPoint& point) {
  if (agree_on_largest(subsystems.comm(), subsystems.initializing() ? 1 : 0) == 0) {
    return;
  }
  settle(subsystems, consistent, slack_of(first, share_of_instant(subsystems)), point);
  subsystems.end_initialization(point.inputs);
  throw_failure(subsystems);
}

void end_initialization_with_events(RankNetwork& subsystems, ConsistentInputs& consistent,
                                    const MacroStep& first, CommunicationPoint& point) {
  if (agree_on_largest(subsystems.comm(), subsystems.initializing() ? 1 : 0) == 0) {
    return;
  }
  const double slack = slack_of(first, share_of_instant(subsystems));
  auto& pass = subsystems.first_pass().emplace();
  pass.waiting = settle(subsystems, consistent, slack, point);
  pass.inputs = point.inputs;
  pass.outputs = point.outputs;
  pass.states.resize(subsystems.n_states());
  subsystems.gather_states(pass.states);
  std::vector<std::size_t> ending;
  std::ranges::copy_if(subsystems.all(), std::back_inserter(ending),
                       [&](std::size_t k) { return subsystems.own(k).initializing(); });
  bool changed = false;
  subsystems.happen(EventPass::happen, point.inputs, slack, changed, pass.happened);
  subsystems.end_initialization(point.inputs);
  find_what_holds_in(ending, subsystems, point.inputs, slack);
  throw_failure(subsystems);
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
