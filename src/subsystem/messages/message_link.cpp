#include "subsystem/messages/message_link.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace concord {

namespace {

constexpr double bits_per_byte = 8.0;

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): neighbouring numbers give bits that
/// have nothing to do with each other.
std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

}  // namespace

bool is_due(double when, double t) {
  constexpr double rounding = 16.0 * std::numeric_limits<double>::epsilon();
  return std::isfinite(when) && when <= t + rounding * std::max(std::abs(t), std::abs(when));
}

double MessageLink::seconds(const Letter& letter) const {
  const LinkRules& rules = messages_->link;
  if (rules.rate == 0.0) return 0.0;
  const MessagePort& port = messages_->ports[letter.port];
  const double own = port.bytes ? static_cast<double>(letter.bytes.size()) : port.size;
  return bits_per_byte * (own + rules.overhead) / rules.rate;
}

/// In [0, 1): by the message's number alone, so that whatever is taken back gives the same again.
double MessageLink::chance(int which) const {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
  constexpr double of_53_bits = 0x1p-53;
  const std::uint64_t place =
      2U * static_cast<std::uint64_t>(number_) + static_cast<unsigned>(which);
  return of_53_bits *
         static_cast<double>(mixed(mixed(messages_->link.seed) + golden * place) >> 11U);
}

void MessageLink::send(double t, Letter letter) {
  const LinkRules& rules = messages_->link;
  counts_.sent += 1.0;
  const bool busy = !waiting_.empty();
  if (busy && rules.queue && waiting_.size() > *rules.queue) {
    counts_.dropped += 1.0;
    return;
  }
  waiting_.push_back(std::move(letter));
  counts_.queue_max = std::max(counts_.queue_max, static_cast<double>(waiting_.size() - 1));
  if (!busy) begin(t);
}

void MessageLink::begin(double t) {
  free_ = waiting_.empty() ? never : t + seconds(waiting_.front());
}

double MessageLink::next() const {
  return std::min(free_, travelling_.empty() ? never : travelling_.front().at);
}

void MessageLink::pass(double t, std::vector<Letter>& arrived) {
  const LinkRules& rules = messages_->link;
  while (is_due(free_, t)) {
    const double sent = free_;
    Letter letter = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    begin(sent);
    number_ += 1.0;
    if (chance(0) < rules.loss) {
      counts_.lost += 1.0;
      continue;
    }
    double at = sent + rules.least_delay + chance(1) * (rules.most_delay - rules.least_delay);
    if (rules.in_order) last_arrival_ = at = std::max(at, last_arrival_);
    const auto later = std::ranges::upper_bound(travelling_, at, {}, &Travelling::at);
    travelling_.insert(later, {at, std::move(letter)});
  }
  while (!travelling_.empty() && is_due(travelling_.front().at, t)) {
    arrived.push_back(std::move(travelling_.front().letter));
    travelling_.erase(travelling_.begin());
    counts_.delivered += 1.0;
  }
}

}  // namespace concord
