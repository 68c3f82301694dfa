#include <algorithm>
#include <cmath>
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
        near_(problem.size(), 0),
        all_((Set{1} << problem.size()) - 1),
        extrapolated_(all_ + 1, 0.0),
        effort_(all_ + 1, 0.0),
        last_(all_ + 1, 0),
        connected_(all_ + 1, false) {
    for (std::size_t k = 0; k < problem.size(); ++k) {
      for (const auto& signals : problem.received[k]) {
        near_[k] |= Set{1} << signals.from;
        near_[signals.from] |= Set{1} << k;
      }
    }
    for (Set s = 1; s <= all_; ++s) {
      order_best(s);
    }
  }

  Set all() const { return all_; }
  double extrapolated(Set s) const { return extrapolated_[s]; }
  double effort(Set s) const { return effort_[s]; }
  /// Whether signals lead from each to each, in any direction.
  bool connected(Set s) const { return connected_[s]; }

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
      const Set others = s & ~(Set{1} << k);
      if (others == s) {
        continue;
      }
      double cost = extrapolated_[others];
      for (const auto& [from, count] : problem_.received[k]) {
        cost += others >> from & 1 ? 0.0 : count;
      }
      if (cost < extrapolated_[s]) {
        extrapolated_[s] = cost;
        last_[s] = static_cast<std::uint8_t>(k);
      }
      effort_[s] = effort_[others] + problem_.effort[k];
      connected_[s] =
          connected_[s] || others == 0 || (connected_[others] && (near_[k] & others) != 0);
    }
  }

  const ScheduleProblem& problem_;
  std::vector<Set> near_;
  Set all_;
  std::vector<double> extrapolated_, effort_;
  std::vector<std::uint8_t> last_;
  std::vector<bool> connected_;
};

/// Fewest extrapolated signals of a set in groups with less effort than a bound and, among these,
/// the shortest longest group. The bound only falls: what fits a new one stays, what was found is
/// the least that can be found. Groups are connected: parts without a signal between them lose
/// nothing apart, and a connected set that fits is best whole, since each of two parts could follow
/// the other and know its signals.
class BoundedGroups {
 public:
  explicit BoundedGroups(const Subsets& subsets)
      : subsets_(subsets),
        group_(subsets.all() + 1, infinite),
        least_(subsets.all() + 1, 0.0),
        longest_(subsets.all() + 1, infinite),
        first_(subsets.all() + 1, 0) {
    longest_[0] = 0.0;
    for (Set s = 1; s <= subsets.all(); ++s) {
      least_[s] = subsets.extrapolated(s);
    }
  }

  /// Groups with less effort than `bound`, no greater than before, and no more than `most`
  /// extrapolated signals. Whether there are any.
  bool divide(double bound, double most) {
    bound_ = bound;
    for (Set s = 1; s <= subsets_.all(); ++s) {
      const bool fits = subsets_.effort(s) < bound && subsets_.connected(s);
      group_[s] = fits ? subsets_.extrapolated(s) : infinite;
    }
    return divide(subsets_.all(), most) < infinite;
  }

  double extrapolated() const { return least_.back(); }
  double longest() const { return longest_.back(); }

  /// Those without signals between them as one, as far as none becomes longer than the longest.
  Groups groups() const {
    std::vector<Set> merged;
    for (Set s = subsets_.all(); s != 0; s &= ~first_[s]) {
      const auto with = std::find_if(merged.begin(), merged.end(), [&](Set group) {
        return subsets_.effort(group | first_[s]) <= longest();
      });
      if (with == merged.end()) {
        merged.push_back(first_[s]);
      } else {
        *with |= first_[s];
      }
    }
    Groups result;
    for (const Set group : merged) {
      result.push_back(subsets_.order(group));
    }
    return result;
  }

 private:
  /// Extrapolated signals of a set divided best, or infinite where these are more than `most`.
  double divide(Set s, double most) {
    if (least_[s] > most) {
      return infinite;
    }
    if (group_[s] < infinite) {
      longest_[s] = subsets_.effort(s);
      first_[s] = s;
    }
    return longest_[s] < bound_ ? least_[s] : divide_best(s, most);
  }

  /// The group that holds the first member of s, and the best division of the rest.
  double divide_best(Set s, double most) {
    const Set lowest = s & (~s + 1);
    const Set others = s & ~lowest;
    double best = infinite;
    longest_[s] = infinite;
    for (Set part = others & (others - 1);; part = (part - 1) & others) {
      const Set group = part | lowest, rest = s & ~group;
      const double still = std::min(most, best);
      if (group_[group] + least_[rest] <= still) {
        const double e = group_[group] + divide(rest, still - group_[group]);
        const double longest = std::max(subsets_.effort(group), longest_[rest]);
        if (e < best || (e == best && longest < longest_[s])) {
          best = e;
          longest_[s] = longest;
          first_[s] = group;
        }
      }
      if (part == 0) {
        break;
      }
    }
    least_[s] = best < infinite ? best : std::nextafter(most, infinite);
    return best;
  }

  const Subsets& subsets_;
  double bound_ = infinite;
  std::vector<double> group_;  ///< extrapolated signals of a set that may be a group
  std::vector<double> least_;  ///< of a set, divided: exact where there is a longest
  std::vector<double> longest_;
  std::vector<Set> first_;
};

double signals_of(const ScheduleProblem& problem) {
  double all = 0.0;
  for (const auto& received : problem.received) {
    for (const auto& signals : received) {
      all += signals.count;
    }
  }
  return std::max(all, std::numeric_limits<double>::min());
}

}  // namespace

Groups exact_sequence(const ScheduleProblem& problem) {
  const Subsets subsets(problem);
  return {subsets.order(subsets.all())};
}

/// Goes along the front of compromises, from the fewest extrapolated signals to the shortest
/// duration, window by window of durations: the best division whose groups are short enough to be
/// better than the best so far, the first of which is a good one, and whose extrapolated signals
/// are few enough to be so at the window's lower end.
Groups exact_groups(const ScheduleProblem& problem, double w) {
  constexpr double rounding = 1e-9, window = 0.85;
  const Subsets subsets(problem);
  const double all = signals_of(problem);
  const double work = subsets.effort(subsets.all());
  const double shortest = *std::max_element(problem.effort.begin(), problem.effort.end()) / work;
  Groups best;
  double least = costs(problem, good_groups(problem, w)).weighted(w) + rounding;
  double e = subsets.extrapolated(subsets.all()) / all;
  BoundedGroups division(subsets);
  for (double bound = 1.0 + rounding; bound > shortest;) {
    bound = w > 0.0 ? std::min(bound, (least - (1.0 - w) * e) / w) : bound;
    const double end = w > 0.0 ? window * bound : 0.0;
    const double most = w < 1.0 ? std::min(1.0, (least - w * end) / (1.0 - w)) : 1.0;
    if (!division.divide(bound * work, (most + rounding) * all)) {
      bound = std::min(end * (1.0 + rounding), bound * (1.0 - rounding));
      continue;
    }
    e = division.extrapolated() / all;
    const Groups groups = division.groups();
    const double cost = costs(problem, groups).weighted(w);
    if (cost < least) {
      least = cost;
      best = groups;
    }
    bound = division.longest() / work * (1.0 - rounding);
  }
  return best;
}

}  // namespace concord
