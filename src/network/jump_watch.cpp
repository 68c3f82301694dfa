#include "network/jump_watch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "signal/smallest_size.hpp"

namespace concord {
namespace {

/// How many times what is usual contradicts it; and beside the signal, what may be rounding or an
/// integrator's noise.
constexpr double much = 6.0, hardly_any = 1e-3;

constexpr double unlimited = std::numeric_limits<double>::infinity();

}  // namespace

JumpWatch::JumpWatch(std::vector<Watch> watched) : signals_(watched.size()) {
  for (std::size_t i = 0; i < watched.size(); ++i) signals_[i].watched = watched[i];
}

/// Enough of its past to say what is usual.
bool JumpWatch::known(const Signal& signal) {
  return signal.seen == static_cast<int>(signal.rates.size());
}

/// Of change, in the macro-step under way.
double JumpWatch::usual_rate(const Signal& signal, double h) {
  const double growth = std::min(signal.growths[0], signal.growths[1]);
  const double now = growth > 0.0 && signal.rates[0] > 0.0 ? signal.rates[0] * std::exp(growth * h)
                                                           : signal.rates[0];
  return std::max({std::abs(signal.last.derivative), now, signal.rates[1], signal.rates[2]});
}

void JumpWatch::mend(std::size_t first, double h, std::span<Sample> outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Signal& signal = signals_[first + i];
    auto& [value, slope, curvature] = outputs[i];
    signal.mended = false;
    if (signal.watched < Watch::exact_but_by_time || !known(signal)) continue;
    const double change = std::abs(value - signal.last.value) / h;
    const double size = std::max(signal.largest, std::abs(value));
    signal.mended = std::abs(slope) > much * std::max(change, usual_rate(signal, h)) &&
                    h * std::abs(slope) > std::max(hardly_any * size, smallest_size);
    if (signal.mended) slope = curvature = 0.0;
  }
}

bool JumpWatch::has_jumped(const Signal& signal, const Sample& now, double h) {
  const double change = std::abs(now.value - signal.last.value);
  const double expected = h * std::max(std::abs(now.derivative), usual_rate(signal, h));
  const double size = std::max(signal.largest, std::abs(now.value));
  return change > std::max(hardly_any * size, smallest_size) && change > much * expected;
}

void JumpWatch::follow(Signal& signal, const Sample& now, double h) {
  auto& [latest, earlier, earliest] = signal.rates;
  earliest = earlier;
  earlier = latest;
  latest = std::max(std::abs(now.derivative), std::abs(now.value - signal.last.value) / h);
  signal.growths[1] = signal.growths[0];
  signal.growths[0] = earlier > 0.0 ? std::log(latest / earlier) / h : unlimited;
  signal.seen = std::min<int>(signal.seen + 1, static_cast<int>(signal.rates.size()));
}

bool JumpWatch::is_watched(const Signal& signal, bool slopes_known) {
  return signal.watched >= (slopes_known ? Watch::exact_slopes : Watch::doubtful_slopes);
}

bool JumpWatch::jumped(const Signal& signal, const Sample& now, double h) {
  return known(signal) && (signal.mended || has_jumped(signal, now, h));
}

int JumpWatch::count(std::size_t first, double h, std::span<const Sample> outputs,
                     bool slopes_known) const {
  int jumps = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Signal& signal = signals_[first + i];
    jumps += is_watched(signal, slopes_known) && jumped(signal, outputs[i], h) ? 1 : 0;
  }
  return jumps;
}

int JumpWatch::look(std::size_t first, double h, std::span<const Sample> outputs,
                    bool slopes_known) {
  const int jumps = count(first, h, outputs, slopes_known);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Signal& signal = signals_[first + i];
    if (!is_watched(signal, slopes_known)) continue;
    const Sample& now = outputs[i];
    if (!jumped(signal, now, h)) follow(signal, now, h);
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
