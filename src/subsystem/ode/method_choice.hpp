#pragma once

#include <cstdint>

namespace concord {

/// Evaluations of f in one macro-step up to which erk is never doubted: about 35 micro-steps.
inline constexpr std::int64_t undoubted_cost = 250;

/// Macro-steps between trials of another method, at most.
inline constexpr std::int32_t longest_wait = 4096;

/// Evaluations of f that erk may spend for one of cvode_bdf's before stiffness is the reason: where
/// accuracy limits both, erk takes 2 to 4 (7 in a micro-step) for smaller errors. Apart, so that a
/// subsystem between them stays with either.
inline constexpr double stiff_ratio = 8.0, non_stiff_ratio = 4.0;

/// Which of two methods an integrator uses that can go on from any point but never back: erk, or
/// the other one (cvode_bdf) where the subsystem turns out stiff.
///
/// Costs are evaluations of f per second of simulated time. Where erk needs many in a macro-step,
/// the other one goes on from there for as many, and stays if it comes much further; from time to
/// time erk is tried again for a macro-step. Each trial in vain doubles the macro-steps to the
/// next.
class MethodChoice {
 public:
  MethodChoice() = default;
  MethodChoice(bool automatic, bool other) : automatic_(automatic), other_(other) {}

  /// Whether the other method than erk is to be used.
  bool other() const { return other_; }

  /// `evaluations`: of f so far.
  void begin_macro_step(std::int64_t evaluations);

  /// After a micro-step; true: the method has changed.
  bool reconsider(std::int64_t evaluations, double reached);

  /// The method has failed; false: there is no other one, or it has failed here, too.
  bool give_up(std::int64_t evaluations, double reached);

  /// True: the method has changed.
  bool end_macro_step(std::int64_t evaluations, double h);

 private:
  void mark(std::int64_t evaluations, double reached);
  double cost(std::int64_t evaluations, double reached) const;
  void stay();
  void change(std::int64_t evaluations, double reached);

  bool automatic_ = false;
  bool other_ = false;
  bool trial_ = false;          ///< the method of the moment is on trial
  double rival_cost_ = 0.0;     ///< of the method that it replaces
  std::int64_t budget_ = 0;     ///< evaluations of the trial
  std::int64_t mark_ = 0;       ///< evaluations when the method last changed or a macro-step began
  double marked_at_ = 0.0;      ///< tau then
  double gave_up_at_ = -1.0;    ///< tau
  std::int64_t last_cost_ = 0;  ///< evaluations in the last macro-step
  std::int64_t wait_ = 0, next_wait_ = 16;  ///< macro-steps to the next trial
};

}  // namespace concord
