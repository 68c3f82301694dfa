#pragma once

#include <span>
#include <string>
#include <vector>

#include "concord/archive.hpp"
#include "concord/ode_model.hpp"
#include "concord/polynomial.hpp"

namespace concord {

/// A condition that counts, `what` as its user wrote it, and hardly touched: what it compares
/// turned around at `time`, s, when it was `margin` away from being equal.
struct Graze {
  std::string what;
  double time = 0.0;
  double margin = 0.0;
  double noise = 0.0;                          ///< what integrators may have left of that
  std::vector<double> by_states, by_inputs{};  ///< |d margin/dx|, |d margin/du|

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, what, time, margin, noise, by_states, by_inputs);
  }
};

/// A subsystem that finds its own events.
class TellsGrazes {
 public:
  virtual ~TellsGrazes() = default;

  /// After an `advance` that is kept, before anything happens at its end, with the inputs there:
  /// which conditions hardly touched on the way, or hardly did not.
  virtual std::vector<Graze> grazes(std::span<const Sample> inputs) = 0;

  /// Before anything happens where it stands, with these inputs: what its states and inputs are
  /// wrong by there. Returns what the instant is wrong by, s, if it was found: of the calculated
  /// one less the true one, at first order; else 0.
  virtual double take_errors(std::span<const Sample> inputs, const Motion& errors) = 0;
};

}  // namespace concord
