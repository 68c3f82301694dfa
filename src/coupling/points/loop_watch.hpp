#pragma once

#include <string>
#include <vector>

#include "coupling/coupling.hpp"
#include "coupling/points/loop_equations.hpp"
#include "coupling/points/loop_factors.hpp"

namespace concord {

/// Watches the algebraic loops whose subsystems offer linearisations, from communication point to
/// communication point:
///
/// - Where det(I - P D) changes its sign the solution passes a pole, which a method may step over:
///   the run ends.
/// - Explicit methods that leave outputs with direct feedthrough as the held inputs gave them must
/// be
///   zero-stable (Arnold 2012), which depends on D alone, however small the macro-steps.
///
/// A D that does not change is looked at again after 1, 2, 4, ... 16 macro-steps. `point`: what
/// gives D; null: the subsystems, where they stand.
class LoopWatch {
 public:
  LoopWatch(RankNetwork& subsystems, const Method& method);

  /// At the start, or right after an event: nothing is compared with what was before. Throws
  /// SimulationError on every rank. Collective.
  void restart(PointEvaluation* point, std::span<const Sample> inputs);

  /// At the end of a macro-step that is about to be accepted; `last`: of the run, or before an
  /// event. Throws SimulationError on every rank. Collective.
  void look(PointEvaluation* point, std::span<const Sample> inputs, bool last);

  /// Collective.
  void io(Archive& archive);

  /// What is known of the loops, in whole lines. Collective.
  std::string describe() const;

 private:
  struct Loop {
    LoopEquations equations;
    bool known = false;  ///< D could be had last time
    std::vector<double> jacobian, before;
    double time = 0.0;  ///< of `jacobian`
    int sign = 0;
    int wait = 1, left = 1;  ///< macro-steps from one look to the next
    double growth = 0.0;     ///< of errors, explicit methods; 0: not computed
  };

  static std::vector<double> numbers_of(const Loop& loop);
  static void take_numbers(std::span<const double> numbers, Loop& loop);
  void visit(Loop& loop, PointEvaluation& point, std::span<const Sample> inputs, bool anew);
  PointEvaluation& chosen(PointEvaluation* point) { return point != nullptr ? *point : at_point_; }
  bool changed(const Loop& loop) const;
  void compare_signs(Loop& loop, PointEvaluation& point, bool anew);
  void check_stability(Loop& loop, PointEvaluation& point);
  double growth_of(const Loop& loop) const;
  void agree();

  RankNetwork& subsystems_;
  const Method& method_;
  CommunicationPointEvaluation at_point_;
  bool explicit_;  ///< outputs with direct feedthrough stay as held inputs gave them
  std::vector<Loop> loops_;
  std::vector<bool> known_, from_first_;  ///< per global input
  LoopFactors factors_;
  std::optional<std::string> failure_;
};

}  // namespace concord
