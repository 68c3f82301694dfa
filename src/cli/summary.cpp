#include "cli/summary.hpp"

#include <algorithm>
#include <cstdio>
#include <set>
#include <string_view>

#include "cli/effective_settings.hpp"
#include "network/start_problem.hpp"
#include "simulation/own_paces.hpp"
#include "support/agreement.hpp"
#include "support/options.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

const char* word(RunStatus status) {
  return status == RunStatus::completed    ? "completed"
         : status == RunStatus::inaccurate ? "inaccurate"
         : status == RunStatus::diverged   ? "diverged, and went on to its end"
                                           : "stopped early";
}

void print_estimate(const Conclusion& conclusion) {
  if (!conclusion.quality.no_estimate.empty()) {
    std::printf("  estimated error       no estimate: %s\n",
                conclusion.quality.no_estimate.c_str());
    return;
  }
  if (!conclusion.quality.undecided.empty()) {
    std::printf("  estimated error       unknown, as an event is not decided\n");
    return;
  }
  std::string text;
  for (const auto& [name, error] : conclusion.errors) {
    char number[32];
    std::snprintf(number, sizeof number, "%.2g", error);
    text += (text.empty() ? "" : ", ") + name + " " + number;
  }
  const char* of_what = conclusion.quality.estimated_by == "halving"
                            ? "relative to each signal's size, by a second run in halves of the "
                              "macro-steps, which costs twice the first: -cosim_halving none does "
                              "without"
                            : "relative to each signal's size";
  std::printf("  estimated error       %s (%s)\n", text.empty() ? "none: no outputs" : text.c_str(),
              of_what);
}

/// "3 rejected: 1 error, 2 event"
std::string rejections(const RunSummary& summary) {
  std::string text = std::to_string(summary.rejections) + " rejected";
  const char* separator = ": ";
  for (std::size_t r = 0; r < rejection_words.size(); ++r) {
    if (summary.rejected_for[r] > 0) {
      text += separator + std::to_string(summary.rejected_for[r]) + " " + rejection_words[r];
      separator = ", ";
    }
  }
  return text;
}

/// "1.000 per macro-step"
void print_count(const char* what, std::int64_t count, double steps) {
  std::printf("  %-21s %lld, %.3f per macro-step\n", what, static_cast<long long>(count),
              static_cast<double>(count) / steps);
}

void print_cost(const RunSummary& summary, const Method& method) {
  const auto steps = static_cast<double>(std::max<std::int64_t>(summary.steps, 1));
  std::printf("  macro-steps           %lld (%s), size %.6g to %.6g s\n",
              static_cast<long long>(summary.steps), rejections(summary).c_str(),
              summary.smallest_step, summary.largest_step);
  if (method.solve.at_nodes) {
    print_count("sweeps", summary.iterations, steps);
    print_count("nodes", summary.nodes, steps);
  } else {
    print_count("coupling evaluations", summary.evaluations, steps);
  }
}

void print_remarkable(const RunSummary& summary, const RunQuality& quality) {
  if (quality.events > 0) {
    std::printf("  events                %d\n", quality.events);
  }
  if (quality.late_events > 0) {
    std::printf(
        "  too late              %lld events within macro-steps, told at their ends, as some "
        "subsystem cannot roll back or their instants move with the ends: errors there are of "
        "order 1\n",
        static_cast<long long>(quality.late_events));
  }
  if (quality.black_box_jumps > 0) {
    std::printf(
        "  jumps                 %lld jumps found in black boxes, which don't tell when: errors "
        "there "
        "are of order 1\n",
        static_cast<long long>(quality.black_box_jumps));
  }
  if (quality.revived > 0) {
    std::printf(
        "  revived               %lld times an isolated or remote subsystem, in a new process\n",
        static_cast<long long>(quality.revived));
  }
  if (summary.at_noise > 0) {
    std::printf(
        "  at noise              %lld macro-steps stopped above the coupling tolerance, at the "
        "noise of integrators and rounding, at most %.3g times the tolerance\n",
        static_cast<long long>(summary.at_noise), summary.noise);
  }
}

/// Of the rank that needs the longest for its subsystems.
void print_time(const std::vector<RankCosts>& ranks) {
  constexpr double megabyte = 1e6;
  const auto advance = static_cast<std::size_t>(Phase::advance);
  const auto busiest =
      std::max_element(ranks.begin(), ranks.end(), [&](const auto& one, const auto& other) {
        return one.phases[advance] < other.phases[advance];
      });
  std::string text;
  for (std::size_t p = 0; p < n_phases; ++p) {
    if (busiest->phases[p] > 0.0) {
      char part[64];
      std::snprintf(part, sizeof part, "%s%s %.3g", text.empty() ? "" : ", ", phase_words[p],
                    busiest->phases[p]);
      text += part;
    }
  }
  std::printf("  time in s             %s\n", text.c_str());
  double memory = 0.0;
  for (const RankCosts& rank : ranks) {
    memory = std::max(memory, rank.memory);
  }
  std::printf("  memory                %.0f MB%s\n", memory / megabyte,
              ranks.size() > 1 ? " at most on a rank" : "");
  if (ranks.size() > 1) {
    std::printf("  load balance          %.2f (mean over longest integration)\n",
                load_balance(ranks));
  }
}

}  // namespace

void print_roles(const SimulationPlan& plan) {
  const IterationRoles roles = iteration_roles(plan.model);
  if (!plan.settings.method.solve.iterates || roles.estimated.empty()) {
    return;
  }
  std::printf("  iterated              %s\n",
              roles.iterated.empty() ? "none" : joined(roles.iterated).c_str());
  std::printf("  by estimators         %s (no rollback; integrated once per macro-step)\n",
              joined(roles.estimated).c_str());
}

/// Empty where every input is fed.
std::string note_on_unfed_inputs(const Model& model) {
  constexpr std::size_t most = 5;
  std::set<std::string> fed;
  for (const ConnectionEntry& connection : model.connections) fed.insert(connection.to);
  std::size_t found = 0;
  std::string names;
  for (const SubsystemEntry& entry : model.subsystems) {
    for (const auto& input : entry.description.inputs) {
      const std::string name = entry.description.name + "." + input.name;
      if (fed.contains(name) || ++found > most) continue;
      names += (names.empty() ? "" : ", ") + name;
    }
  }
  if (found == 0) return "";
  if (found > most) names += " and " + std::to_string(found - most) + " more";
  return std::string(found == 1 ? "an input that nothing feeds stays at its start value: "
                                : "inputs that nothing feeds stay at their start values: ") +
         names;
}

void print_paces(const SimulationPlan& plan) {
  if (plan.settings.paces == OwnPaces::automatic && plan.model.paces)
    std::printf("  paces                 %s\n", described(*plan.model.paces).c_str());
}

std::string note_on_idle_conditions(const std::string& conditions) {
  return "true at the start, so that it did not become true and did not act: " + conditions +
         "; `initially: true` makes a condition act there, too";
}

Conclusion conclusion_of(const SimulationCore& simulation, const RunSummary& summary) {
  Conclusion conclusion;
  judge(simulation, summary, conclusion);
  conclusion.balance = largest_balance_error(simulation);
  const std::string own = simulation.subsystems().passed_way().interpolated();
  conclusion.interpolated =
      agree_on_text(simulation.plan().comm, own.empty() ? std::nullopt : std::optional(own))
          .value_or("");
  conclusion.costs = costs_of(simulation);
  return conclusion;
}

void judge(const SimulationCore& simulation, const RunSummary& summary, Conclusion& conclusion) {
  conclusion.quality = quality_of(simulation, summary);
  if (conclusion.quality.undecided.empty()) {
    conclusion.errors = worst_errors(simulation);
  }
  conclusion.status = status_of(simulation, conclusion.quality);
}

void print_summary(const SimulationCore& simulation, const RunSummary& summary,
                   const Conclusion& conclusion, const std::string& stop_reason, double wall_time) {
  const SimulationPlan& plan = simulation.plan();
  const int ranks = ranks_of(plan.comm);
  std::printf("%s: %s at t = %.9g s%s%s\n", plan.model.name.c_str(), word(conclusion.status),
              simulation.time(), stop_reason.empty() ? "" : ": ", stop_reason.c_str());
  if (!conclusion.quality.diverged.empty()) {
    std::printf("  diverged              %s\n", conclusion.quality.diverged.c_str());
  }
  if (!conclusion.quality.undecided.empty()) {
    std::printf("  undecided             %s: whether it happens is not decided, nor what follows\n",
                conclusion.quality.undecided.c_str());
  }
  std::printf("  method                %s\n", plan.settings.method.type.c_str());
  if (!plan.settings.against_better.empty()) {
    std::printf("  chosen                as others cannot run: %s\n",
                plan.settings.against_better.c_str());
  }
  if (const FoundStart* found = plan.model.found_start.get()) {
    std::printf("  initial equations     %zu solved, residual %.2g\n", found->equations,
                found->residual);
  }
  print_paces(plan);
  print_roles(plan);
  print_cost(summary, plan.settings.method);
  print_estimate(conclusion);
  if (!conclusion.quality.accuracy.empty()) {
    std::printf("  accuracy              %s\n", conclusion.quality.accuracy.c_str());
  }
  print_remarkable(summary, conclusion.quality);
  if (!conclusion.quality.by_the_clock.empty()) {
    std::printf("  by the clock          %s\n", conclusion.quality.by_the_clock.c_str());
  }
  print_without_effect(plan.settings);
  print_unread_options();
  for (const std::string& note : plan.model.notes) {
    std::printf("  note                  %s\n", note.c_str());
  }
  if (const std::string unfed = note_on_unfed_inputs(plan.model); !unfed.empty()) {
    std::printf("  note                  %s\n", unfed.c_str());
  }
  if (!conclusion.quality.idle_at_start.empty()) {
    std::printf("  note                  %s\n",
                note_on_idle_conditions(conclusion.quality.idle_at_start).c_str());
  }
  if (!conclusion.interpolated.empty()) {
    std::printf("  rows interpolated     %s: no rollback, or events inside\n",
                conclusion.interpolated.c_str());
  }
  if (conclusion.balance) {
    std::printf("  balance error         at most %s\n", conclusion.balance->c_str());
  }
  std::printf("  wall time             %.3f s on %d rank%s\n", wall_time, ranks,
              ranks == 1 ? "" : "s");
  print_time(conclusion.costs.ranks);
  std::printf("  results               %s\n", plan.settings.record.path.c_str());
  std::fflush(stdout);
}

}  // namespace concord
