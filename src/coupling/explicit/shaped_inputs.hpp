#pragma once

#include "coupling/balance_errors.hpp"
#include "coupling/coupling.hpp"
#include "signal/history.hpp"
#include "signal/input_spline.hpp"

namespace concord {

/// What subsystems get from explicit methods instead of the plain holds, and what it misses:
/// corrections of the balance error, and switching from the last hold to the new one without a jump
/// (Moshagen, sections 2.2.5, 2.2.6 and 4).
///
/// `constant` corrections are a constant on the macro-step. `smooth` ones and switching make inputs
/// splines: subsystems are then advanced over four pieces of the macro-step, which join with value
/// and slope.
///
/// The true integral is that of the cubic through what the senders put out at both ends of the
/// macro-step, values and slopes; where some sender gives no slopes, of the polynomial through its
/// last values (up to four). Inputs of constraints, which only their ends count of, have no balance
/// error.
class ShapedInputs {
 public:
  ShapedInputs(const Method& method, RankNetwork& subsystems);

  /// The macro-step from `point` begins.
  void begin(const MacroStep& step, const CommunicationPoint& point);

  /// Integrates own subsystems with the holds in trial.polynomials, shaped.
  Outcome advance(std::span<const std::size_t> which, const MacroStep& step,
                  const CommunicationPoint& point, Wanted wanted, Trial& trial);

  /// The macro-step ends with trial.inputs, in which slopes count if they are `wanted`.
  void measure(const MacroStep& step, const CommunicationPoint& point, const Trial& trial,
               Wanted wanted, const SignalHistory& history);

  void commit();
  void restart();
  const BalanceErrors* balance() const { return errors_ ? &*errors_ : nullptr; }

  void io(Archive& archive) {
    if (errors_) {
      CONCORD_MEMBERS(archive, *errors_);
    }
  }

 private:
  bool switches(const CommunicationPoint& point) const {
    return switching_ && point.last_step > 0.0;
  }
  template <class Use>
  void for_inputs_of(std::span<const std::size_t> which, const Use& use) const;
  Outcome advance_in_pieces(std::span<const std::size_t> which, const MacroStep& step,
                            const CommunicationPoint& point, Wanted wanted, Trial& trial);
  InputSpline spline(std::size_t input, double h, const CommunicationPoint& point,
                     const Trial& trial) const;

  RankNetwork& subsystems_;
  std::vector<std::size_t> measured_;  ///< inputs that connect, but for those of constraints
  Balance correction_;
  bool switching_;
  std::optional<BalanceErrors> errors_;
  std::vector<InputSpline> splines_;
  std::vector<Polynomial> given_;  ///< inputs over a macro-step or a piece of it
  std::vector<Polynomial> true_;   ///< inputs as reconstructed from values
};

}  // namespace concord
