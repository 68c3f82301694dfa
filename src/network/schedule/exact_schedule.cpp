#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "network/schedule/schedule_search.hpp"

namespace concord {
namespace {

using Set = std::uint32_t;
constexpr double infinite = std::numeric_limits<double>::infinity();

/// Costs of every subset as one group. Of equally good orders, the model file's is kept.
class Subsets {
 public:
  explicit Subsets(const ScheduleProblem& problem)
      : problem_(problem),
        all_((Set{1} << problem.size()) - 1),
        extrapolated_(all_ + 1, 0.0),
        effort_(all_ + 1, 0.0),
        last_(all_ + 1, 0) {
    for (Set s = 1; s <= all_; ++s) {
      order_best(s);
    }
  }

  Set all() const { return all_; }
  double extrapolated(Set s) const { return extrapolated_[s]; }
  double effort(Set s) const { return effort_[s]; }

  std::vector<std::size_t> order(Set s) const {
    std::vector<std::size_t> reversed;
    for (; s != 0; s &= ~(Set{1} << reversed.back())) {
      reversed.push_back(last_[s]);
    }
    return {reversed.rbegin(), reversed.rend()};
  }

 private:
  /// E(S) = min over the last member k of E(S - k) + signals that k receives from outside S.
  void order_best(Set s) {
    extrapolated_[s] = infinite;
    for (std::size_t k = problem_.size(); k-- > 0;) {
      const Set bit = Set{1} << k;
      if ((s & bit) == 0) {
        continue;
      }
      double cost = extrapolated_[s & ~bit];
      for (const auto& [from, count] : problem_.received[k]) {
        cost += (s & ~bit) >> from & 1 ? 0.0 : count;
      }
      if (cost < extrapolated_[s]) {
        extrapolated_[s] = cost;
        last_[s] = k;
      }
      effort_[s] = effort_[s & ~bit] + problem_.effort[k];
    }
  }

  const ScheduleProblem& problem_;
  Set all_;
  std::vector<double> extrapolated_, effort_;
  std::vector<std::size_t> last_;
};

/// Fewest extrapolated signals of every subset in groups with less effort than `bound` and, among
/// these, the shortest longest group.
class BoundedGroups {
 public:
  BoundedGroups(const Subsets& subsets, double bound)
      : extrapolated_(subsets.all() + 1, infinite),
        longest_(subsets.all() + 1, infinite),
        first_(subsets.all() + 1, 0) {
    extrapolated_[0] = longest_[0] = 0.0;
    for (Set s = 1; s <= subsets.all(); ++s) {
      divide_best(s, subsets, bound);
    }
  }

  double extrapolated() const { return extrapolated_.back(); }
  double longest() const { return longest_.back(); }

  Groups groups(const Subsets& subsets) const {
    Groups result;
    for (auto s = static_cast<Set>(first_.size() - 1); s != 0; s &= ~first_[s]) {
      result.push_back(subsets.order(first_[s]));
    }
    return result;
  }

 private:
  /// The group that holds the first member of s, and the best division of the rest.
  void divide_best(Set s, const Subsets& subsets, double bound) {
    const Set lowest = s & (~s + 1);
    const Set others = s & ~lowest;
    for (Set part = others;; part = (part - 1) & others) {
      const Set group = part | lowest;
      const Set rest = s & ~group;
      if (subsets.effort(group) < bound) {
        const double e = subsets.extrapolated(group) + extrapolated_[rest];
        const double d = std::max(subsets.effort(group), longest_[rest]);
        if (e < extrapolated_[s] || (e == extrapolated_[s] && d < longest_[s])) {
          extrapolated_[s] = e;
          longest_[s] = d;
          first_[s] = group;
        }
      }
      if (part == 0) {
        return;
      }
    }
  }

  std::vector<double> extrapolated_, longest_;
  std::vector<Set> first_;
};

}  // namespace

Groups exact_sequence(const ScheduleProblem& problem) {
  const Subsets subsets(problem);
  return {subsets.order(subsets.all())};
}

/// Goes along the front of compromises, from the fewest extrapolated signals to the shortest
/// duration: each point is the best division whose groups are all shorter than the last longest.
Groups exact_groups(const ScheduleProblem& problem, double w) {
  const Subsets subsets(problem);
  Groups best;
  double best_cost = infinite;
  for (double bound = infinite;;) {
    const BoundedGroups division(subsets, bound);
    if (division.extrapolated() == infinite) {
      return best;
    }
    const Groups groups = division.groups(subsets);
    const double cost = costs(problem, groups).weighted(w);
    if (cost < best_cost) {
      best_cost = cost;
      best = groups;
    }
    bound = division.longest() * (1.0 - 1e-12);
  }
}

}  // namespace concord
