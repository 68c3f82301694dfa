#include "network/schedule/arrangement.hpp"

#include <algorithm>
#include <numeric>

namespace concord {

Arrangement::Arrangement(const ScheduleProblem& problem, double w, const Groups& groups)
    : problem_(problem),
      first_(problem.size() + 1, 0),
      group_(problem.size()),
      members_(problem.size(), 0),
      next_(problem.size() + 1),
      previous_(problem.size() + 1),
      place_(problem.size() + 1),
      load_(problem.size(), 0.0) {
  const std::size_t n = problem.size();
  double signals = 0.0;
  for (std::size_t k = 0; k < n; ++k) {
    for (const auto& [from, count] : problem.received[k]) {
      signals += count;
      first_[k + 1] += from == k ? 0 : 1;
      first_[from + 1] += from == k ? 0 : 1;
    }
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  who_.resize(first_.back());
  received_.assign(who_.size(), 0.0);
  given_.assign(who_.size(), 0.0);
  std::vector<std::size_t> end(first_.begin(), first_.end() - 1);
  for (std::size_t k = 0; k < n; ++k) {
    for (const auto& [from, count] : problem.received[k]) {
      if (from != k) {
        who_[end[k]] = from;
        received_[end[k]++] = count;
        who_[end[from]] = k;
        given_[end[from]++] = count;
      }
    }
  }
  const double work = std::accumulate(problem.effort.begin(), problem.effort.end(), 0.0);
  per_signal_ = signals > 0.0 ? (1.0 - w) / signals : 0.0;
  per_effort_ = w / work;
  std::size_t last = n;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const std::size_t k : groups[g]) {
      group_[k] = g;
      load_[g] += problem.effort[k];
      ++members_[g];
      next_[last] = k;
      previous_[k] = last;
      last = k;
    }
  }
  next_[last] = n;
  previous_[n] = last;
  for (std::size_t g = 0; g < n; ++g) {
    loads_.insert({load_[g], g});
    if (members_[g] == 0) {
      empty_.push_back(g);
    }
  }
  number();
}

std::span<const std::size_t> Arrangement::neighbours(std::size_t k) const {
  return std::span(who_).subspan(first_[k], first_[k + 1] - first_[k]);
}

/// Evenly spaced places.
void Arrangement::number() {
  double place = 0.0;
  for (std::size_t k = next_[problem_.size()]; k != problem_.size(); k = next_[k]) {
    place_[k] = place += 1.0;
  }
  place_[problem_.size()] = 0.0;
}

/// Neighbours of k in a group, in order.
void Arrangement::collect(std::size_t k, std::size_t group) {
  near_.clear();
  for (std::size_t e = first_[k]; e < first_[k + 1]; ++e) {
    const std::size_t j = who_[e];
    if (group_[j] == group) {
      near_.push_back({place_[j], received_[e] - given_[e], j});
    }
  }
  std::sort(near_.begin(), near_.end(),
            [](const Neighbour& a, const Neighbour& b) { return a.place < b.place; });
}

/// Signals from and to k that are known where it is.
double Arrangement::known_now(std::size_t k) const {
  double known = 0.0;
  for (std::size_t e = first_[k]; e < first_[k + 1]; ++e) {
    const std::size_t j = who_[e];
    if (group_[j] == group_[k]) {
      known += place_[j] < place_[k] ? received_[e] : given_[e];
    }
  }
  return known;
}

/// The longest of all groups but two.
double Arrangement::longest_without(std::size_t a, std::size_t b) const {
  for (auto longest = loads_.rbegin(); longest != loads_.rend(); ++longest) {
    if (longest->second != a && longest->second != b) {
      return longest->first;
    }
  }
  return 0.0;
}

Arrangement::Move Arrangement::best_move(std::size_t k, std::size_t group) {
  collect(k, group);
  double known = 0.0;
  for (std::size_t e = first_[k]; e < first_[k + 1]; ++e) {
    known += group_[who_[e]] == group ? given_[e] : 0.0;
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
    const double others = longest_without(from, group);
    const double before = std::max({others, load_[from], load_[group]});
    const double after = std::max({others, load_[from] - effort, load_[group] + effort});
    move.gain += per_effort_ * (before - after);
  }
  return move;
}

void Arrangement::take_out(std::size_t k) {
  next_[previous_[k]] = next_[k];
  previous_[next_[k]] = previous_[k];
}

void Arrangement::put_in(std::size_t k, std::size_t before, std::size_t after) {
  next_[before] = k;
  previous_[k] = before;
  next_[k] = after;
  previous_[after] = k;
  const double low = place_[before];
  const double high = after == problem_.size() ? low + 2.0 : place_[after];
  place_[k] = 0.5 * (low + high);
  if (!(low < place_[k] && place_[k] < high)) {
    number();
  }
}

void Arrangement::make(std::size_t k, const Move& move) {
  const std::size_t from = group_[k];
  take_out(k);
  if (move.beside == nobody) {
    put_in(k, previous_[problem_.size()], problem_.size());
  } else if (move.after) {
    put_in(k, move.beside, next_[move.beside]);
  } else {
    put_in(k, previous_[move.beside], move.beside);
  }
  if (from == move.group) {
    return;
  }
  for (const std::size_t g : {from, move.group}) {
    loads_.erase({load_[g], g});
  }
  load_[from] = --members_[from] == 0 ? 0.0 : load_[from] - problem_.effort[k];
  load_[move.group] += problem_.effort[k];
  ++members_[move.group];
  group_[k] = move.group;
  for (const std::size_t g : {from, move.group}) {
    loads_.insert({load_[g], g});
  }
  if (!empty_.empty() && empty_.back() == move.group) {
    empty_.pop_back();
  }
  if (members_[from] == 0) {
    empty_.push_back(from);
  }
}

Groups Arrangement::groups() const {
  Groups result;
  std::vector<std::size_t> position(problem_.size(), nobody);
  for (std::size_t k = next_[problem_.size()]; k != problem_.size(); k = next_[k]) {
    if (position[group_[k]] == nobody) {
      position[group_[k]] = result.size();
      result.emplace_back();
    }
    result[position[group_[k]]].push_back(k);
  }
  return result;
}

}  // namespace concord
