#pragma once

#include <optional>
#include <span>

#include "support/options.hpp"

namespace concord {

/// What becomes of a macro-step that is done after its time: it is told, ends the run, or moves all
/// later ones by as much.
enum class Late { warn, fail, skip };

template <>
inline std::span<const WordOf<Late>> words_of<Late>() {
  static constexpr WordOf<Late> words[] = {
      {"warn", Late::warn},
      {"fail", Late::fail},
      {"skip", Late::skip},
  };
  return words;
}

/// How a run goes by the clock.
struct RealtimeSettings {
  double factor = 0.0;  ///< model time over wall time; 0: as fast as it can
  Late late = Late::warn;
  /// A macro-step's iteration ends when its time is over, but not before that many corrections;
  /// none: when it has converged.
  std::optional<int> anytime{};
  bool locked = false;  ///< memory stays in memory, and no ordinary process comes before

  bool paced() const { return factor > 0.0; }
};

}  // namespace concord
