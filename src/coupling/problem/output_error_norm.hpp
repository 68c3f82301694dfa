#pragma once

#include <optional>
#include <span>
#include <vector>

#include "coupling/coupling.hpp"
#include "coupling/problem/error_norm.hpp"
#include "signal/signal_ranges.hpp"

namespace concord {

/// ErrorNorm of the outputs of all ranks. Of a constraint the unknown alone is a signal: what is
/// left of its equation is rounding, in a unit of its own.
class OutputErrorNorm {
 public:
  OutputErrorNorm(const RankNetwork& subsystems, const Tolerance& tolerance, int order);

  void set_order(int order) { norm_.set_order(order); }

  /// A start, or an event.
  void restart(const CommunicationPoint& point);

  /// Of this rank at the end of the macro-step of size h, size n_outputs; `noise`: errors up to it
  /// are none, where it is known. Collective.
  double operator()(double h, std::span<const double> estimates, std::span<const Sample> outputs,
                    std::span<const double> noise = {});
  /// As ErrorNorm's.
  double noise(double terms) const { return norm_.noise(terms); }

  /// The outputs became those of a communication point.
  void commit(const CommunicationPoint& point);

  void io(Archive& archive) {
    norm_.io(archive, Per::output);
    if (ranges_) {
      ranges_->io(archive, Per::output);
    }
  }

 private:
  void see(const CommunicationPoint& point);

  const RankNetwork& subsystems_;
  ErrorNorm norm_;
  std::vector<std::size_t> signals_;    ///< local outputs
  std::optional<SignalRanges> ranges_;  ///< of outputs, where errors are judged by them
};

}  // namespace concord
