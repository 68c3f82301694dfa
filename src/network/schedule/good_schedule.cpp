#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

#include "network/schedule/arrangement.hpp"
#include "network/schedule/schedule_search.hpp"

namespace concord {
namespace {

using Order = std::vector<std::size_t>;

/// Moves of an annealing: per subsystem, and at most; where fewer remain for each than are worth
/// it, every subsystem only goes where it is better at once.
constexpr std::size_t moves_each = 4000;
constexpr std::size_t most_moves = 2000000;
constexpr std::size_t fewest_each = 100;

/// The last temperature beside the first.
constexpr double coldest = 1e-3;

constexpr int most_sweeps = 20;

/// Neighbours near each other: breadth first, from those with the fewest.
Order by_nearness(const Arrangement& network, std::size_t n) {
  Order starts(n), order;
  std::iota(starts.begin(), starts.end(), 0);
  std::stable_sort(starts.begin(), starts.end(), [&](std::size_t a, std::size_t b) {
    return network.neighbours(a).size() < network.neighbours(b).size();
  });
  std::vector<bool> seen(n, false);
  const auto visit = [&](std::size_t k) {
    if (!seen[k]) {
      seen[k] = true;
      order.push_back(k);
    }
  };
  for (std::size_t next = 0; const std::size_t start : starts) {
    for (visit(start); next < order.size(); ++next) {
      for (const std::size_t k : network.neighbours(order[next])) {
        visit(k);
      }
    }
  }
  return order;
}

/// So many pieces of an order with about the same effort: the piece of each subsystem.
std::vector<std::size_t> cut(const ScheduleProblem& problem, const Order& order,
                             std::size_t pieces) {
  const double work = std::accumulate(problem.effort.begin(), problem.effort.end(), 0.0);
  std::vector<std::size_t> piece(order.size());
  double before = 0.0;
  for (const std::size_t k : order) {
    const double middle = (before + 0.5 * problem.effort[k]) / work;
    piece[k] = std::min(pieces - 1, static_cast<std::size_t>(middle * static_cast<double>(pieces)));
    before += problem.effort[k];
  }
  return piece;
}

/// Orders all subsystems so that few signals within a piece point backwards (a feedback arc set;
/// Eades, Lin and Smyth 1993): what receives nothing first, what gives nothing last, between them
/// what gives most beyond what it receives. Of equally good ones, those first that wait for the
/// shortest chain of others.
class Sequencing {
 public:
  Sequencing(const ScheduleProblem& problem, const std::vector<std::size_t>& piece)
      : given_(problem.size()),
        received_(problem.size()),
        in_(problem.size(), 0.0),
        out_(problem.size(), 0.0),
        level_(problem.size(), 0),
        placed_(problem.size(), false) {
    for (std::size_t k = 0; k < problem.size(); ++k) {
      for (const auto& signals : problem.received[k]) {
        if (signals.from != k && piece[signals.from] == piece[k]) {
          received_[k].push_back(signals);
          given_[signals.from].push_back({k, signals.count});
          in_[k] += signals.count;
          out_[signals.from] += signals.count;
        }
      }
    }
    for (std::size_t k = 0; k < problem.size(); ++k) {
      waiting_.insert(key(k));
    }
  }

  Order run() {
    Order front, back;
    while (!waiting_.empty()) {
      const std::size_t k = std::get<3>(*waiting_.begin());
      const bool last = std::get<0>(*waiting_.begin()) == Rank::sink;
      waiting_.erase(waiting_.begin());
      placed_[k] = true;
      (last ? back : front).push_back(k);
      for (const auto& [to, count] : given_[k]) {
        change(to, [&, to = to, count = count] {
          in_[to] -= count;
          level_[to] = last ? level_[to] : std::max(level_[to], level_[k] + 1);
        });
      }
      for (const auto& [from, count] : received_[k]) {
        change(from, [&, from = from, count = count] { out_[from] -= count; });
      }
    }
    front.insert(front.end(), back.rbegin(), back.rend());
    return front;
  }

 private:
  enum class Rank { source, sink, other };
  using Key = std::tuple<Rank, double, std::size_t, std::size_t>;

  Key key(std::size_t k) const {
    const Rank rank = in_[k] == 0.0 ? Rank::source : out_[k] == 0.0 ? Rank::sink : Rank::other;
    return {rank, rank == Rank::other ? in_[k] - out_[k] : 0.0, level_[k], k};
  }

  template <class Action>
  void change(std::size_t k, Action action) {
    if (!placed_[k]) {
      waiting_.erase(key(k));
      action();
      waiting_.insert(key(k));
    }
  }

  std::vector<std::vector<ScheduleProblem::Signals>> given_, received_;
  std::vector<double> in_, out_;  ///< signals from and to those not placed yet
  std::vector<std::size_t> level_;
  std::vector<bool> placed_;
  std::set<Key> waiting_;
};

Groups sequenced(const ScheduleProblem& problem, const std::vector<std::size_t>& piece,
                 std::size_t pieces) {
  Groups groups(pieces);
  for (const std::size_t k : Sequencing(problem, piece).run()) {
    groups[piece[k]].push_back(k);
  }
  std::erase_if(groups, [](const Order& group) { return group.empty(); });
  return groups;
}

/// Neighbours together in ever more groups, until that has stopped to pay.
Groups best_cut(const ScheduleProblem& problem, double w) {
  const std::size_t n = problem.size();
  const Order order = by_nearness(Arrangement(problem, w, {}), n);
  Groups best;
  double least = std::numeric_limits<double>::infinity();
  int worse = 0;
  for (std::size_t pieces = 1; worse < 2; pieces = std::min(2 * pieces, n)) {
    Groups groups = sequenced(problem, cut(problem, order, pieces), pieces);
    const double cost = costs(problem, groups).weighted(w);
    worse = cost < least ? 0 : worse + 1;
    if (cost < least) {
      least = cost;
      best = std::move(groups);
    }
    if (pieces == n) {
      break;
    }
  }
  return best;
}

/// Improves an arrangement by moves of single subsystems (simulated annealing; Kirkpatrick, Gelatt
/// and Vecchi 1983). The same on every machine and every rank.
class Annealing {
 public:
  Annealing(Arrangement& arrangement, std::size_t n, bool regroups)
      : arrangement_(arrangement), n_(n), regroups_(regroups) {}

  void run() {
    const std::size_t moves = std::min(most_moves, moves_each * n_);
    if (moves >= fewest_each * n_) {
      const double hottest = usual_change();
      for (std::size_t m = 0; m < moves; ++m) {
        const double share = static_cast<double>(m) / static_cast<double>(moves);
        try_move(random_() % n_, hottest * std::pow(coldest, share));
      }
    }
    for (int sweep = 0; sweep < most_sweeps && improve_all(); ++sweep) {
    }
  }

 private:
  double unit() { return static_cast<double>(random_() >> 11U) * 0x1p-53; }

  std::size_t random_group(std::size_t k) {
    constexpr double alone = 0.1, anywhere = 0.2;
    if (!regroups_) {
      return arrangement_.group(k);
    }
    const double choice = unit();
    if (choice < alone && arrangement_.empty_group() != Arrangement::nobody) {
      return arrangement_.empty_group();
    }
    const auto near = arrangement_.neighbours(k);
    return choice < anywhere || near.empty() ? arrangement_.group(random_() % n_)
                                             : arrangement_.group(near[random_() % near.size()]);
  }

  /// Mean change of the cost by a move that makes it worse.
  double usual_change() {
    constexpr int samples = 200;
    double sum = 0.0;
    int worse = 0;
    for (int sample = 0; sample < samples; ++sample) {
      const std::size_t k = random_() % n_;
      const double gain = arrangement_.best_move(k, random_group(k)).gain;
      sum -= std::min(gain, 0.0);
      worse += gain < 0.0 ? 1 : 0;
    }
    return worse > 0 ? sum / worse : 0.0;
  }

  void try_move(std::size_t k, double temperature) {
    const auto move = arrangement_.best_move(k, random_group(k));
    if (move.gain >= 0.0 || (temperature > 0.0 && unit() < std::exp(move.gain / temperature))) {
      arrangement_.make(k, move);
    }
  }

  /// Each subsystem to where it is best; whether any has moved.
  bool improve_all() {
    constexpr double noise = 1e-14;
    bool moved = false;
    for (std::size_t k = 0; k < n_; ++k) {
      auto best = arrangement_.best_move(k, arrangement_.group(k));
      const auto look = [&](std::size_t group) {
        const auto move = arrangement_.best_move(k, group);
        best = move.gain > best.gain ? move : best;
      };
      for (const std::size_t j : arrangement_.neighbours(k)) {
        if (regroups_ && arrangement_.group(j) != arrangement_.group(k)) {
          look(arrangement_.group(j));
        }
      }
      if (regroups_ && arrangement_.empty_group() != Arrangement::nobody) {
        look(arrangement_.empty_group());
      }
      if (best.gain > noise) {
        arrangement_.make(k, best);
        moved = true;
      }
    }
    return moved;
  }

  Arrangement& arrangement_;
  std::size_t n_;
  bool regroups_;
  std::mt19937_64 random_;
};

/// The better of two.
Groups improved(const ScheduleProblem& problem, double w, const Groups& start, bool regroups) {
  Arrangement arrangement(problem, w, start);
  Annealing(arrangement, problem.size(), regroups).run();
  Groups groups = arrangement.groups();
  return costs(problem, groups).weighted(w) < costs(problem, start).weighted(w) ? groups : start;
}

}  // namespace

Groups good_sequence(const ScheduleProblem& problem) {
  const std::vector<std::size_t> together(problem.size(), 0);
  return improved(problem, 0.0, sequenced(problem, together, 1), false);
}

Groups good_groups(const ScheduleProblem& problem, double w) {
  return improved(problem, w, best_cut(problem, w), true);
}

}  // namespace concord
