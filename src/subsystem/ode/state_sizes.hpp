#pragma once

#include <span>
#include <utility>

#include "subsystem/ode/error_weights.hpp"
#include "subsystem/ode/ode_memory.hpp"
#include "subsystem/ode/state_rounding.hpp"
#include "support/scratch.hpp"

namespace concord {

/// The sizes that states and inputs of an OdeModel have had (OdeMemory), and what follows for a
/// macro-step: the weights of its integrator's errors. f is asked only for states at 0.
class StateSizes {
 public:
  /// Both must outlive it.
  StateSizes(CheckedModel& model, ErrorWeights& weights)
      : model_(model), weights_(weights), rounding_(model) {}

  StateRounding::Memory fresh_rounding() const { return rounding_.fresh(); }

  /// Which states rise from 0, at a start.
  void note_rising(OdeMemory& now) const;

  /// Of states and inputs at the point of `now`, once; `h` is the time in which slopes count and
  /// `input_at(i)` gives value and slope of input i.
  template <class InputAt>
  void see(OdeMemory& now, double h, InputAt&& input_at) {
    if (std::exchange(now.seen, true)) return;
    Scratch scratch;
    const std::span<double> u = scratch.numbers(model_.input_count());
    for (std::size_t i = 0; i < u.size(); ++i) {
      const Sample input = input_at(i);
      u[i] = input.value;
      now.inputs.see(i, input, h);
    }
    take(now, h, u);
  }

  /// The weights for a macro-step of size h from the point of `now`, with these inputs, u there.
  /// `sizes`: of states in it, to be filled; 0: unknown.
  void weigh(OdeMemory& now, double h, std::span<const double> u,
             std::span<const Polynomial> inputs, std::span<double> sizes);

  /// Whether sizes turned out otherwise in that macro-step, which ended with x and u: then they are
  /// weighed anew, for it to be integrated once more.
  bool weigh_again(OdeMemory& now, const MacroStep& step, std::span<const double> begin_u,
                   std::span<const double> x, std::span<const Polynomial> inputs,
                   std::span<double> sizes);

 private:
  void take(OdeMemory& now, double h, std::span<const double> u);
  static bool rests_at_zero(const OdeMemory& now);
  void size_states(OdeMemory& now, double h, std::span<const double> u,
                   std::span<const Polynomial> inputs, std::span<double> sizes);
  void size_by_drive(const OdeMemory& now, double h, std::span<const double> f,
                     std::span<const Polynomial> inputs, std::span<double> sizes);
  void weigh_errors(OdeMemory& now, double h, std::span<const double> u,
                    std::span<const Polynomial> inputs, std::span<const double> sizes);
  bool turned_out_otherwise(OdeMemory& now, const MacroStep& step, std::span<const double> x,
                            std::span<const Polynomial> inputs, std::span<double> sizes);

  CheckedModel& model_;
  ErrorWeights& weights_;
  StateRounding rounding_;
};

}  // namespace concord
