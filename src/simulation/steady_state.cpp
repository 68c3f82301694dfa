#include "simulation/steady_state.hpp"

#include <algorithm>
#include <cmath>

#include "concord/errors.hpp"
#include "simulation/point_solve.hpp"
#include "simulation/steady_system.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Vector = Eigen::VectorXd;

/// "der(tank.level) = 0 is left with 0.3, ...": the largest ones.
std::string left_over(PointSystem& system, const Vector& g) {
  const std::vector<Eigen::Index> order = by_size(g);
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, order.size()); ++i) {
    text += (i == 0 ? "" : ", ") + system.equation(order[i]) + " is missed by " +
            short_number(std::abs(g[order[i]]));
  }
  return text;
}

[[noreturn]] void not_found(PointSystem& system, const Vector& left) {
  throw SimulationError(
      "at t = " + short_number(system.time()) +
      " s no steady state was found from the start values, neither by Newton's method nor in "
      "pseudo-time, nor by continuation: " +
      left_over(system, left) +
      " (beside sizes, over the experiment's duration); what flows in may never flow out, or the "
      "point is far: --hold or --free what decides it, or --set start values closer to it");
}

[[noreturn]] void recedes(PointSystem& system, const PointSearch& search) {
  throw SimulationError(
      "at t = " + short_number(system.time()) +
      " s no steady state was found from the start values: rates fall off without "
      "an end, and '" +
      system.unknown(search.receding) +
      "' goes on and on; --hold or --free what decides it, or --set start values "
      "on another side");
}

Vector found_by(PointSearch& search, PointSystem& system) {
  switch (search.search(system)) {
    case PointOutcome::found:
      break;
    case PointOutcome::nothing_found:
      not_found(system, system.residual(search.z));
    case PointOutcome::relations_chatter:
      throw SimulationError(
          "at t = " + short_number(system.time()) +
          " s no steady state was found: relations change their truth from one attempt to the "
          "next; the model may chatter where it should rest");
    case PointOutcome::recedes:
      recedes(system, search);
    case PointOutcome::homotopy_ends:
      throw SimulationError("at t = " + short_number(system.time()) +
                            " s no steady state was found: " + homotopy_ends(search.part));
  }
  return search.z;
}

}  // namespace

OperatingPoint steady_state(SimulationCore& simulation, const SteadyWishes& wishes,
                            double time) try {
  SteadySystem steady(simulation, wishes, time);
  PointSystem& system = steady.equations();
  PointSearch search{where_held(system)};
  const Vector z = found_by(search, system);
  OperatingPoint point;
  point.waiting = search.waiting;
  point.steps = search.steps;
  point.by_pseudo_time = search.by_pseudo_time;
  point.from_simplified = search.from_simplified;
  point.time = time;
  system.move_to(z);
  point.states = steady.network().states();
  const auto rates = steady.network().rates();
  point.rates.assign(rates.begin(), rates.end());
  point.freed = system.freed(z);
  point.a = steady.network().derive().f_x;
  for (std::size_t i = 0; i < point.states.size(); ++i) {
    if (steady.moves(i)) point.moving.push_back(i);
  }
  return point;
} catch (const RecoverableFailure& failure) {
  throw SimulationError(
      "at t = " + short_number(time) +
      " s no steady state can be looked for, as derivatives have no values at the "
      "start: " +
      failure.what() + "; --set other start values");
}

}  // namespace concord
