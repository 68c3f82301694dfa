#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
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

/// A state or a discrete variable has been set, at the `pass`-th pass of an instant: the partial
/// derivatives of what it was set to by what was there before the pass, in the order t, states,
/// inputs, discrete variables.
struct Jump {
  int pass = 0;
  bool state = false;
  std::size_t index = 0;
  std::vector<std::pair<std::uint32_t, double>> by{};
};

/// A subsystem that finds its own events.
class TellsGrazes {
 public:
  virtual ~TellsGrazes() = default;

  /// After an `advance` that is kept, before anything happens at its end, with the inputs there:
  /// which conditions hardly touched on the way, or hardly did not.
  virtual std::vector<Graze> grazes(std::span<const Sample> inputs) = 0;

  /// Before anything happens where it stands, with these inputs: what its states, inputs and
  /// discrete variables are wrong by there. Returns what the instant is wrong by, s, if it was
  /// found: of the calculated one less the true one, at first order; else 0.
  virtual double take_errors(std::span<const Sample> inputs, const Motion& errors,
                             std::span<const double> discrete) = 0;

  /// What has been set where it stands, pass by pass.
  virtual std::span<const Jump> jumps() const = 0;

  virtual std::size_t discrete_count() const = 0;

  /// What errors of its discrete variables make of f and g where it stands, at first order.
  virtual bool pass_discrete(std::span<const Sample> inputs, std::span<const double> errors,
                             std::span<double> f, std::span<double> g) = 0;
};

}  // namespace concord
