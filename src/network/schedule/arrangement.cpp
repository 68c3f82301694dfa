#include "network/schedule/arrangement.hpp"

#include <algorithm>
#include <numeric>

namespace concord {

Arrangement::Arrangement(const ScheduleProblem& problem, double w, const Groups& groups)
    : problem_(problem),
      neighbours_(problem),
      order_(problem.size(), groups),
      loads_(problem.effort, groups),
      group_(problem.size()) {
  double signals = 0.0;
  for (const auto& received : problem.received) {
    for (const auto& [from, count] : received) {
      signals += count;
    }
  }
  const double work = std::accumulate(problem.effort.begin(), problem.effort.end(), 0.0);
  per_signal_ = signals > 0.0 ? (1.0 - w) / signals : 0.0;
  per_effort_ = w / work;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const std::size_t k : groups[g]) {
      group_[k] = g;
    }
  }
}

/// Neighbours of k in a group, in order.
void Arrangement::collect(std::size_t k, std::size_t group) {
  const auto who = neighbours_.of(k);
  const auto received = neighbours_.received_by(k), given = neighbours_.given_by(k);
  near_.clear();
  for (std::size_t e = 0; e < who.size(); ++e) {
    if (group_[who[e]] == group) {
      near_.push_back({order_.place(who[e]), received[e] - given[e], who[e]});
    }
  }
  std::sort(near_.begin(), near_.end(),
            [](const Neighbour& a, const Neighbour& b) { return a.place < b.place; });
}

/// Signals from and to k that are known where it is.
double Arrangement::known_now(std::size_t k) const {
  const auto who = neighbours_.of(k);
  const auto received = neighbours_.received_by(k), given = neighbours_.given_by(k);
  double known = 0.0;
  for (std::size_t e = 0; e < who.size(); ++e) {
    if (group_[who[e]] == group_[k]) {
      known += order_.place(who[e]) < order_.place(k) ? received[e] : given[e];
    }
  }
  return known;
}

Arrangement::Move Arrangement::best_move(std::size_t k, std::size_t group) {
  collect(k, group);
  const auto who = neighbours_.of(k);
  const auto given = neighbours_.given_by(k);
  double known = 0.0;
  for (std::size_t e = 0; e < who.size(); ++e) {
    known += group_[who[e]] == group ? given[e] : 0.0;
  }
  Move move{group, near_.empty() ? nobody : near_.front().who, false, known};
  for (std::size_t m = 0; m < near_.size(); ++m) {
    known += near_[m].gained;
    const bool between = m + 1 == near_.size() || near_[m + 1].who != near_[m].who;
    if (between && known > move.gain) {
      move = {group, near_[m].who, true, known};
    }
  }
  move.gain = per_signal_ * (move.gain - known_now(k));
  const std::size_t from = group_[k];
  if (group != from) {
    const double effort = problem_.effort[k];
    const double others = loads_.longest_without(from, group);
    const double before = std::max({others, loads_[from], loads_[group]});
    const double after = std::max({others, loads_[from] - effort, loads_[group] + effort});
    move.gain += per_effort_ * (before - after);
  }
  return move;
}

void Arrangement::make(std::size_t k, const Move& move) {
  order_.take_out(k);
  if (move.beside == nobody) {
    order_.put_in(k, order_.previous(order_.end()), order_.end());
  } else if (move.after) {
    order_.put_in(k, move.beside, order_.next(move.beside));
  } else {
    order_.put_in(k, order_.previous(move.beside), move.beside);
  }
  if (group_[k] != move.group) {
    loads_.move(problem_.effort[k], group_[k], move.group);
    group_[k] = move.group;
  }
}

Groups Arrangement::groups() const {
  Groups result;
  std::vector<std::size_t> position(problem_.size(), nobody);
  for (std::size_t k = order_.begin(); k != order_.end(); k = order_.next(k)) {
    if (position[group_[k]] == nobody) {
      position[group_[k]] = result.size();
      result.emplace_back();
    }
    result[position[group_[k]]].push_back(k);
  }
  return result;
}

}  // namespace concord
