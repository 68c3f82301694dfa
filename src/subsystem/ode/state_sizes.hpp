#pragma once

#include <span>
#include <vector>

#include "subsystem/ode/error_weights.hpp"
#include "subsystem/ode/ode_memory.hpp"
#include "subsystem/ode/state_rounding.hpp"

namespace concord {

/// The sizes that states and inputs of an OdeModel have had (OdeMemory), and what follows for a
/// macro-step: the weights of its integrator's errors. f is asked only for states at 0.
class StateSizes {
 public:
  /// All must outlive it.
  StateSizes(const SubsystemDescription& description, CheckedModel& model, ErrorWeights& weights);

  StateRounding::Memory fresh_rounding() const { return rounding_.fresh(); }

  /// Which states rise from 0, at a start.
  void note_rising(OdeMemory& now) const;

  /// Of states and inputs at the point of `now`, once; `h` is the time in which slopes count and
  /// `input_at(i)` gives value and slope of input i.
  template <class InputAt>
  void see(OdeMemory& now, double h, InputAt&& input_at) {
    if (now.seen) return;
    for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_[i] = input_at(i);
    take(now, h);
  }

  /// The weights for a macro-step of size h from the point of `now`, with these inputs, u there.
  void weigh(OdeMemory& now, double h, std::span<const double> u,
             std::span<const Polynomial> inputs);

  /// Whether sizes turned out otherwise in that macro-step, which ended with x and u: then they are
  /// weighed anew, for it to be integrated once more.
  bool weigh_again(OdeMemory& now, const MacroStep& step, std::span<const double> begin_u,
                   std::span<const double> x, std::span<const Polynomial> inputs);

 private:
  bool is_expected(std::size_t i) const { return nominal_[i] > 0.0; }
  void take(OdeMemory& now, double h);
  bool rests_at_zero(const OdeMemory& now) const;
  void size_states(OdeMemory& now, double h, std::span<const double> u);
  void weigh_errors(OdeMemory& now, double h, std::span<const double> u,
                    std::span<const Polynomial> inputs);
  bool turned_out_otherwise(OdeMemory& now, const MacroStep& step, std::span<const double> x,
                            std::span<const Polynomial> inputs);

  CheckedModel& model_;
  ErrorWeights& weights_;
  StateRounding rounding_;
  std::vector<double> nominal_;
  std::vector<double> sizes_;  ///< of states in the macro-step; 0: unknown
  std::vector<Sample> states_, inputs_;
  std::vector<double> slopes_, u_, terms_;
};

}  // namespace concord
