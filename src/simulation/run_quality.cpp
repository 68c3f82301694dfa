#include "simulation/run_quality.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>

#include "settings/accuracy.hpp"
#include "simulation/run_summary.hpp"
#include "simulation/simulation_core.hpp"
#include "support/agreement.hpp"
#include "support/wording.hpp"
#include "units/units.hpp"

namespace concord {
namespace {

/// Of all ranks' outputs that with the largest error; nothing where none is known. Collective.
std::optional<NamedError> worst_of(const SimulationCore& simulation,
                                   std::span<const double> errors) {
  const RankNetwork& subsystems = simulation.subsystems();
  const Network& network = simulation.plan().network;
  double largest = -1.0;
  std::optional<std::size_t> which;
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    const IndexRange local = subsystems.outputs_of(k);
    const IndexRange global = network.outputs_of(subsystems.global(k));
    for (std::size_t o = 0; o < local.size(); ++o) {
      if (errors[local.first + o] > largest) {
        largest = errors[local.first + o];
        which = global.first + o;
      }
    }
  }
  const MPI_Comm comm = simulation.plan().comm;
  const double of_all = agree_on_largest(comm, largest);
  const auto worst = agree_on_text(
      comm, which && largest == of_all ? std::optional(network.output_name(*which)) : std::nullopt);
  return worst ? std::optional(NamedError{*worst, of_all}) : std::nullopt;
}

void forget(const SimulationCore& simulation, const std::string& output,
            std::vector<double>& errors) {
  const RankNetwork& subsystems = simulation.subsystems();
  const Network& network = simulation.plan().network;
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    const IndexRange local = subsystems.outputs_of(k);
    const std::size_t global = network.outputs_of(subsystems.global(k)).first;
    for (std::size_t o = 0; o < local.size(); ++o) {
      if (network.output_name(global + o) == output) {
        errors[local.first + o] = std::numeric_limits<double>::quiet_NaN();
      }
    }
  }
}

/// Of those that the model knows.
std::int32_t times_passed(const SimulationCore& simulation) {
  const Settings& settings = simulation.plan().settings;
  const auto& events = settings.events;
  return static_cast<std::int32_t>(std::count_if(events.begin(), events.end(), [&](double event) {
    return event > settings.start && event <= simulation.time();
  }));
}

/// Collective.
std::string driven_in(const SimulationCore& simulation) {
  const bool own = simulation.stepper().changes().any_input();
  return agree_on_largest(simulation.plan().comm, own ? 1 : 0) == 0
             ? ""
             : "inputs were set from outside between macro-steps: feedback through what sets them, "
               "which cannot be seen, is not in the estimated error";
}

/// Collective.
std::int64_t revived_in(const SimulationCore& simulation) {
  const RankNetwork& subsystems = simulation.subsystems();
  double own = 0.0;
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    own += static_cast<double>(subsystems.counters(k).revived);
  }
  return std::lround(agree_on_sum(simulation.plan().comm, own));
}

std::string by_the_clock(const RealtimeSettings& settings, const Lateness& lateness) {
  if (lateness.steps == 0) return {};
  return short_number(settings.factor) + " s in each second, " + lateness.describe();
}

}  // namespace

RunQuality quality_of(const SimulationCore& simulation, const RunSummary& summary) {
  if (!simulation.has_parts()) return {};
  const ErrorAccount& errors = simulation.stepper().errors();
  RunQuality known;
  known.output_errors = errors.relative_errors();
  known.no_estimate = errors.missing().value_or("");
  known.estimated_by = errors.missing() ? "" : errors.learnt() ? "halving" : "linearisation";
  known.diverged = errors.diverged().value_or("");
  known.at_noise = summary.at_noise;
  known.events = times_passed(simulation) + static_cast<std::int32_t>(summary.events);
  known.late_events = simulation.stepper().events().late();
  known.black_box_jumps = simulation.stepper().black_box_jumps();
  known.idle_at_start = simulation.stepper().events().idle_at_start();
  known.driven = driven_in(simulation);
  known.by_the_clock = by_the_clock(simulation.plan().settings.realtime, summary.lateness);
  known.revived = revived_in(simulation);
  if (const auto worst = worst_of(simulation, known.output_errors)) {
    known.worst = worst->second;
    known.worst_output = worst->first;
  }
  known.undecided = errors.undecided().told();
  known.deciding_share = errors.undecided().deciding_share();
  if (!known.undecided.empty()) {
    std::ranges::fill(known.output_errors, std::numeric_limits<double>::quiet_NaN());
  }
  if (!errors.missing() && known.undecided.empty()) {
    known.of_range = errors.in_tolerances({.relative = 1.0, .absolute = 0.0, .of_range = true});
  }
  if (simulation.plan().settings.by_accuracy) {
    known.accuracy =
        described_accuracy(simulation.plan().settings, known.of_range) +
        (known.undecided.empty()
             ? ""
             : "; NOT REACHED: an event is not decided; a smaller -cosim_accuracy decides");
  }
  return known;
}

RunStatus status_of(const SimulationCore& simulation, const RunQuality& quality) {
  constexpr double of_a_range = 0.1;
  return !simulation.finished()      ? RunStatus::interrupted
         : !quality.diverged.empty() ? RunStatus::diverged
         : !quality.undecided.empty() || quality.of_range.value_or(0.0) >= of_a_range
             ? RunStatus::inaccurate
             : RunStatus::completed;
}

std::vector<NamedError> worst_errors(const SimulationCore& simulation) {
  constexpr int shown = 3;
  std::vector<double> left = simulation.stepper().errors().relative_errors();
  std::vector<NamedError> worst;
  for (int i = 0; i < shown; ++i) {
    const auto next = worst_of(simulation, left);
    if (!next) {
      break;
    }
    worst.push_back(*next);
    forget(simulation, next->first, left);
  }
  return worst;
}

std::optional<std::string> largest_balance_error(const SimulationCore& simulation) {
  const BalanceErrors* balance = simulation.stepper().coupling().balance();
  if (balance == nullptr) {
    return std::nullopt;
  }
  const RankNetwork& subsystems = simulation.subsystems();
  const Network& network = simulation.plan().network;
  double largest = -1.0;
  std::string what;
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    const IndexRange local = subsystems.inputs_of(k);
    const IndexRange global = network.inputs_of(subsystems.global(k));
    for (std::size_t i = 0; i < local.size(); ++i) {
      const double error = balance->largest()[local.first + i];
      const auto connection = error > largest ? network.connection(global.first + i) : std::nullopt;
      if (connection) {
        largest = error;
        what = integral_unit(subsystems.own(k).description().inputs[i].unit) + " of " + *connection;
      }
    }
  }
  const double of_all = agree_on_largest(simulation.plan().comm, largest);
  const bool here = largest == of_all && !what.empty();
  char number[32];
  std::snprintf(number, sizeof number, "%.3e ", largest);
  return agree_on_text(simulation.plan().comm,
                       here ? std::optional<std::string>(number + what) : std::nullopt);
}

}  // namespace concord
