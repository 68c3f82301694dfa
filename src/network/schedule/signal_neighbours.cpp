#include "network/schedule/signal_neighbours.hpp"

#include <numeric>

namespace concord {

SignalNeighbours::SignalNeighbours(const ScheduleProblem& problem) : first_(problem.size() + 1, 0) {
  for (std::size_t k = 0; k < problem.size(); ++k) {
    for (const auto& [from, count] : problem.received[k]) {
      first_[k + 1] += from == k ? 0 : 1;
      first_[from + 1] += from == k ? 0 : 1;
    }
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  who_.resize(first_.back());
  received_.assign(who_.size(), 0.0);
  given_.assign(who_.size(), 0.0);
  std::vector<std::size_t> end(first_.begin(), first_.end() - 1);
  for (std::size_t k = 0; k < problem.size(); ++k) {
    for (const auto& [from, count] : problem.received[k]) {
      if (from != k) {
        who_[end[k]] = from;
        received_[end[k]++] = count;
        who_[end[from]] = k;
        given_[end[from]++] = count;
      }
    }
  }
}

}  // namespace concord
