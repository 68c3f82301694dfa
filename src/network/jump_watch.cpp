#include "network/jump_watch.hpp"

#include <algorithm>
#include <cmath>

namespace concord {
namespace {

/// How many times what is usual contradicts it; and beside the signal, what may be rounding or an
/// integrator's noise.
constexpr double much = 6.0, hardly_any = 1e-3;

}  // namespace

JumpWatch::JumpWatch(std::vector<char> watched) : signals_(watched.size()) {
  for (std::size_t i = 0; i < watched.size(); ++i) signals_[i].watched = watched[i] != 0;
}

/// Enough of its past to say what is usual.
bool JumpWatch::known(const Signal& signal) {
  return signal.watched && signal.seen == static_cast<int>(signal.rates.size());
}

/// Of change, up to the macro-step under way.
double JumpWatch::usual_rate(const Signal& signal) {
  return std::max(std::abs(signal.last.derivative),
                  *std::max_element(signal.rates.begin(), signal.rates.end()));
}

void JumpWatch::mend(std::size_t first, double h, std::span<Sample> outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Signal& signal = signals_[first + i];
    auto& [value, slope] = outputs[i];
    signal.mended = false;
    if (!known(signal)) continue;
    const double change = std::abs(value - signal.last.value) / h;
    const double size = std::max(signal.largest, std::abs(value));
    signal.mended = std::abs(slope) > much * std::max(change, usual_rate(signal)) &&
                    h * std::abs(slope) > hardly_any * size;
    if (signal.mended) slope = 0.0;
  }
}

bool JumpWatch::has_jumped(const Signal& signal, const Sample& now, double h) {
  const double change = std::abs(now.value - signal.last.value);
  const double expected = h * std::max(std::abs(now.derivative), usual_rate(signal));
  const double size = std::max(signal.largest, std::abs(now.value));
  return change > hardly_any * size && change > much * expected;
}

int JumpWatch::look(std::size_t first, double h, std::span<const Sample> outputs) {
  int jumps = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Signal& signal = signals_[first + i];
    if (!signal.watched) continue;
    const Sample& now = outputs[i];
    const bool jumped = known(signal) && (signal.mended || has_jumped(signal, now, h));
    jumps += jumped ? 1 : 0;
    if (!jumped) {
      std::rotate(signal.rates.begin(), signal.rates.end() - 1, signal.rates.end());
      signal.rates[0] =
          std::max(std::abs(now.derivative), std::abs(now.value - signal.last.value) / h);
      signal.seen = std::min<int>(signal.seen + 1, static_cast<int>(signal.rates.size()));
    }
    signal.largest = std::max(signal.largest, std::abs(now.value));
    signal.last = now;
    signal.mended = false;
  }
  return jumps;
}

void JumpWatch::begin_anew(std::span<const Sample> outputs) {
  for (std::size_t i = 0; i < signals_.size(); ++i) {
    signals_[i].seen = 0;
    signals_[i].last = outputs[i];
  }
}

}  // namespace concord
