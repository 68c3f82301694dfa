#include "coupling/schedules.hpp"

#include "network/schedule/two_groups.hpp"

namespace concord {
namespace {

Groups no_groups(const Model& /*model*/, double /*weight*/) { return {}; }

/// One sequence of all.
Groups one_sequence(const Model& model, double /*weight*/) {
  const Groups groups = given_groups(model);
  const ScheduleProblem problem = schedule_problem(model, Network(model));
  Groups sequence(1);
  for (const auto& group : groups.empty() ? best_sequence(problem) : groups) {
    sequence[0].insert(sequence[0].end(), group.begin(), group.end());
  }
  return sequence;
}

Groups sequences_side_by_side(const Model& model, double weight) {
  const Groups groups = given_groups(model);
  const ScheduleProblem problem = schedule_problem(model, Network(model));
  return groups.empty() ? best_groups(problem, weight) : groups;
}

Groups two_halves(const Model& model, double /*weight*/) {
  return two_groups(Network(model), given_groups(model)).groups;
}

}  // namespace

constexpr Schedule Schedule::parallel{.word = "parallel", .groups = no_groups};
constexpr Schedule Schedule::sequential{
    .word = "sequential", .in_sequence = true, .groups = one_sequence};
constexpr Schedule Schedule::hierarchical{.word = "hierarchical",
                                          .in_sequence = true,
                                          .groups_on_ranks = true,
                                          .groups = sequences_side_by_side};
constexpr Schedule Schedule::staggered_grid{
    .word = "staggered_grid", .half_steps_apart = true, .groups = two_halves};

namespace {

constexpr Schedule schedules[] = {Schedule::parallel, Schedule::sequential, Schedule::hierarchical,
                                  Schedule::staggered_grid};

}  // namespace

std::span<const Schedule> all_schedules() { return schedules; }

template <>
std::span<const WordOf<Schedule>> words_of<Schedule>() {
  static const auto words = words_of_entries<Schedule>(schedules);
  return words;
}

}  // namespace concord
