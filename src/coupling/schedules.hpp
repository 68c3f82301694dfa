#pragma once

#include "network/network.hpp"
#include "network/schedule/schedule.hpp"
#include "support/words.hpp"

namespace concord {

/// Who runs with whose new outputs, as data.
struct Schedule {
  static const Schedule parallel, sequential, hierarchical, staggered_grid;

  /// The groups of a model; `weight` is -cosim_schedule_weight. Throws InputError.
  using GroupsOf = Groups (*)(const Model& model, double weight);

  std::string_view word;          ///< of -cosim_schedule
  bool in_sequence = false;       ///< members of a group run one after another
  bool groups_on_ranks = false;   ///< a group stays on one rank
  bool half_steps_apart = false;  ///< two groups, whose grids are shifted by half a macro-step
  GroupsOf groups = nullptr;

  bool is_parallel() const { return !in_sequence && !half_steps_apart; }

  friend bool operator==(const Schedule& a, const Schedule& b) { return a.word == b.word; }
};

/// All of them, default first.
std::span<const Schedule> all_schedules();

template <>
std::span<const WordOf<Schedule>> words_of<Schedule>();

}  // namespace concord
