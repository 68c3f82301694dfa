#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "subsystem/fmu/step_pieces.hpp"

namespace concord {

/// Outputs of an FMU at equidistant ends of pieces, and their slopes by differences.
class SlopeSamples {
 public:
  explicit SlopeSamples(std::size_t outputs)
      : samples_(sampled_ends, std::vector<double>(outputs)) {}

  /// Nothing is sampled.
  void begin() { taken_ = 0; }

  /// Outputs after so many events; what was sampled before the last one says nothing.
  void take(int number, std::span<const double> y, std::int64_t events) {
    taken_ = events == events_ ? taken_ + 1 : 1;
    events_ = events;
    samples_[static_cast<std::size_t>(number)].assign(y.begin(), y.end());
  }

  /// Whether no event is among the samples.
  bool complete() const { return taken_ == sampled_ends; }

  /// y' at the last of them, `distance` s apart; of the last two where an event lies before these,
  /// and as they were behind one.
  void at_end(double distance, std::span<double> slopes) const;

  /// y one distance before the first of them: by the cubic through all, or as at the first where
  /// not all were taken. Empty: none was.
  std::optional<double> before(std::size_t output) const;

  /// y' before the first of them, from y there.
  void at_start(std::span<const double> y, double distance, std::span<double> slopes) const {
    slopes_at_start(y, samples_, distance, slopes);
  }

 private:
  std::vector<std::vector<double>> samples_;
  int taken_ = 0;  ///< since the last event
  std::int64_t events_ = 0;
};

}  // namespace concord
