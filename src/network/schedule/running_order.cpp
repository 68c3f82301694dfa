#include "network/schedule/running_order.hpp"

namespace concord {

RunningOrder::RunningOrder(std::size_t n, const Groups& groups)
    : next_(n + 1, n), previous_(n + 1, n), place_(n + 1) {
  for (const auto& group : groups) {
    for (const std::size_t k : group) {
      link(k, previous_[end()], end());
    }
  }
  number();
}

void RunningOrder::link(std::size_t k, std::size_t before, std::size_t after) {
  next_[before] = k;
  previous_[k] = before;
  next_[k] = after;
  previous_[after] = k;
}

/// Evenly spaced places.
void RunningOrder::number() {
  double place = 0.0;
  for (std::size_t k = begin(); k != end(); k = next_[k]) {
    place_[k] = place += 1.0;
  }
  place_[end()] = 0.0;
}

void RunningOrder::take_out(std::size_t k) {
  next_[previous_[k]] = next_[k];
  previous_[next_[k]] = previous_[k];
}

void RunningOrder::put_in(std::size_t k, std::size_t before, std::size_t after) {
  link(k, before, after);
  const double low = place_[before];
  const double high = after == end() ? low + 2.0 : place_[after];
  place_[k] = 0.5 * (low + high);
  if (!(low < place_[k] && place_[k] < high)) {
    number();
  }
}

}  // namespace concord
