#include <algorithm>
#include <numeric>

#include "network/schedule_search.hpp"

namespace concord {
namespace {

using Group = std::vector<std::size_t>;
using Matrix = std::vector<std::vector<double>>;

/// Moves members to the places where most of their signals are known, until nothing is gained or
/// after `sweeps` passes.
void sift(const ScheduleProblem& problem, Group& group) {
  constexpr int sweeps = 20;
  bool moved = true;
  for (int sweep = 0; sweep < sweeps && moved; ++sweep) {
    moved = false;
    const Group members = group;
    for (const std::size_t k : members) {
      const auto old_place = std::find(group.begin(), group.end(), k);
      const auto from = static_cast<std::size_t>(old_place - group.begin());
      group.erase(old_place);
      // Signals known at each place: those that k receives from before, those it gives to after.
      double known = 0.0;
      for (const std::size_t j : group) {
        known += problem.signals[j][k];
      }
      std::vector<double> gain{known};
      for (const std::size_t j : group) {
        gain.push_back(gain.back() + problem.signals[k][j] - problem.signals[j][k]);
      }
      const auto best =
          static_cast<std::size_t>(std::max_element(gain.begin(), gain.end()) - gain.begin());
      const std::size_t place = gain[best] > gain[from] ? best : from;
      moved = moved || place != from;
      group.insert(group.begin() + static_cast<std::ptrdiff_t>(place), k);
    }
  }
}

/// Groups under construction: what each receives from each, and how long each takes.
class Merging {
 public:
  explicit Merging(const ScheduleProblem& problem)
      : received_(problem.signals), effort_(problem.effort) {
    for (std::size_t k = 0; k < problem.size(); ++k) {
      groups_.push_back({k});
      received_[k][k] = 0.0;
    }
    for (const auto& row : problem.signals) {
      signals_ = std::accumulate(row.begin(), row.end(), signals_);
    }
    work_ = std::accumulate(effort_.begin(), effort_.end(), 0.0);
  }

  /// Merges the two groups that lower the weighted cost most. False: none does.
  bool merge_best(double w) {
    const double longest = *std::max_element(effort_.begin(), effort_.end());
    double best = 0.0;
    std::size_t first = 0, second = 0;
    for (std::size_t a = 0; a < groups_.size(); ++a) {
      for (std::size_t b = 0; b < groups_.size(); ++b) {
        if (a == b || received_[b][a] == 0.0) {
          continue;
        }
        const double longer = std::max(longest, effort_[a] + effort_[b]) - longest;
        const double gain = (1.0 - w) * received_[b][a] / signals_ - w * longer / work_;
        if (gain > best) {
          best = gain;
          first = a;
          second = b;
        }
      }
    }
    if (best > 0.0) {
      merge(first, second);
    }
    return best > 0.0;
  }

  Groups take() { return std::move(groups_); }

 private:
  void merge(std::size_t a, std::size_t b) {
    groups_[a].insert(groups_[a].end(), groups_[b].begin(), groups_[b].end());
    effort_[a] += effort_[b];
    for (std::size_t c = 0; c < groups_.size(); ++c) {
      received_[a][c] += received_[b][c];
      received_[c][a] += received_[c][b];
    }
    received_[a][a] = 0.0;
    const auto at_b = static_cast<std::ptrdiff_t>(b);
    groups_.erase(groups_.begin() + at_b);
    effort_.erase(effort_.begin() + at_b);
    received_.erase(received_.begin() + at_b);
    for (auto& row : received_) {
      row.erase(row.begin() + at_b);
    }
  }

  Groups groups_;
  Matrix received_;
  std::vector<double> effort_;
  double signals_ = 0.0, work_ = 0.0;
};

}  // namespace

Groups greedy_sequence(const ScheduleProblem& problem) {
  Group all;
  for (Group& group : greedy_groups(problem, 0.0)) {
    all.insert(all.end(), group.begin(), group.end());
  }
  sift(problem, all);
  return {all};
}

/// From every subsystem alone; pairs are merged as long as that pays.
Groups greedy_groups(const ScheduleProblem& problem, double w) {
  Merging merging(problem);
  while (merging.merge_best(w)) {
  }
  Groups groups = merging.take();
  for (Group& group : groups) {
    sift(problem, group);
  }
  return groups;
}

}  // namespace concord
