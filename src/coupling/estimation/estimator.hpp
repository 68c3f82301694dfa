#pragma once

#include <Eigen/Core>
#include <span>

#include "coupling/estimation/defect_correction.hpp"
#include "coupling/estimation/end_gains.hpp"
#include "coupling/estimation/local_linearization.hpp"
#include "coupling/estimator_settings.hpp"
#include "subsystem/subsystem.hpp"

namespace concord {

/// COSTARICA: predicts one subsystem's outputs at t_{N+1} from its linearisation at t_N with the
/// affine remainder, (y, y')^ = K (u, u')_{N+1} + b, for cubic inputs (Eguillon et al. 2022, eqs.
/// (9)-(13), with the remainder and the defect correction of Concord's own), and y'' beside for
/// quintic ones.
///
/// About the point (t_N, x_N, u_N) with xi = x - x_N: xi' = A xi + B (u - u_N) + f + tau f_t,
/// y^ = y_N + C xi + D (u - u_N) + tau g_t. The linearisation, its exponential and K are kept where
/// the subsystem says that they still hold in every direction, and h stays.
///
/// Elsewhere that is a tangent, and `correct` follows the curves of f and g to where the inputs
/// lead: with rho = f(t_{N+1}, x^, u_{N+1}) - f - A xi - B (u_{N+1} - u_N) - h f_t, what f is
/// beyond its tangent is taken for rho (tau/h)^2, so that x^ += 2 h phi_3(hA) rho (as in
/// exponential Rosenbrock methods, Hochbruck, Ostermann, Schweitzer 2009, with an error of O(h^4)),
/// and y^, y'^, y''^ are g and its derivatives at (t_{N+1}, x^, u_{N+1}).
class Estimator {
 public:
  /// `connected`: indices of the subsystem's inputs that vary; `afresh`: which of them begin every
  /// macro-step afresh, as the line of the end's value and slope (empty: none).
  /// `parts`: of the inputs' ends, 2 where they are cubic, 3 where they are quintic.
  Estimator(Subsystem& subsystem, std::vector<std::size_t> connected, std::vector<bool> afresh,
            const EstimatorSettings& settings, int parts);

  /// Which connected inputs begin the next macro-steps afresh; before `prepare`.
  void begin_afresh(std::span<const char> afresh) { ends_.begin_afresh(afresh); }

  /// Prepares the macro-step that begins at the subsystem's communication point with inputs `begin`
  /// and outputs `outputs` (all of the subsystem's). `slopes_known`: whether
  /// begin[i].derivative begins the hold. `pool`: of the macro-step. True: K has changed.
  bool prepare(const MacroStep& step, std::span<const Sample> begin,
               std::span<const Sample> outputs, bool slopes_known, EndGains::Pool& pool,
               Outcome& outcome);

  /// Whether the prediction is a tangent that `correct` can better.
  bool curved() const { return curved_; }

  /// b such that the prediction for the inputs `end` (all of the subsystem's) is that of f and g
  /// where they lead; K stays. False where f or g fails there: b is the tangent's.
  bool correct(std::span<const Sample> end);

  /// b such that the prediction for the inputs `end` is `outputs`; K stays.
  void match(std::span<const Sample> end, std::span<const Sample> outputs);

  /// b of the tangent again.
  void return_to_tangent();

  /// b with K's share of the values at t_N: (y, y')^ for inputs that end with value begin[i].value
  /// and derivatives 0, defect correction included. Size n_out.
  std::span<const Sample> free_response() const { return free_; }

  /// Outputs whose y'' is that of their cubic (EndGains::stiff).
  std::span<const char> stiff() const { return ends_.stiff(); }

  /// K: entry of output o, part (0 value, 1 slope, 2 curvature) for connected input c, part.
  double gain(std::size_t output, int output_part, std::size_t input, int input_part) const {
    return ends_.at(output, output_part, input, input_part);
  }

  /// Whether all of K is one with another's.
  bool shares_gains_with(const Estimator& other) const { return ends_.shares_with(other.ends_); }

  /// (y, y')^ for the inputs `end` (all of the subsystem's), curves included.
  void predict(std::span<const Sample> end, std::span<Sample> outputs);

  /// What outputs and their slopes are sums of: where they are, and on the way there what inputs
  /// cancel of each other in f.
  void output_terms(std::span<const Sample> inputs, std::span<Sample> outputs) const;

  /// The macro-step was accepted with inputs `end` and real outputs: learns the defect.
  void observe(std::span<const Sample> end, std::span<const Sample> outputs);

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, defects_);
    const bool other = archive.changes([&] { CONCORD_MEMBERS(archive, local_); });
    ends_.io(archive, local_, other);
  }
  int memory_version() const { return 2; }

  /// Forgets the defects (rejected macro-steps).
  void forget() { defects_.forget(); }

  /// Forgets all that was learnt (events).
  void restart();

 private:
  /// Where the inputs lead, and what f makes of it; within a call.
  struct Reached {
    Eigen::VectorXd x, f, rho, bend;
    std::vector<Sample> outputs;
    std::vector<double> curvatures;
  };

  static Reached& reached();
  void find_free_response(std::span<const Sample> begin, std::span<const Sample> outputs);
  void add_defect();
  bool reach(std::span<const Sample> end, std::span<Sample> outputs);
  bool reach_curvatures(const StatePoint& point, std::span<Sample> outputs);
  void curve_stiff(std::span<Sample> outputs) const;
  void add_expected(std::span<Sample> outputs) const;
  bool bend(const StatePoint& point);

  Subsystem& subsystem_;
  bool follows_curves_;  ///< f and g are known where predictions lead
  LocalLinearization local_;
  EndGains ends_;
  DefectCorrection defects_;

  MacroStep step_;
  bool curved_ = false;
  bool corrected_ = false;              ///< b is that of `correct`
  Eigen::VectorXd xi_, ramp_;           ///< of the free response: x^ - x_N, h f_t
  std::vector<Sample> begin_;           ///< outputs at t_N, where inputs are quintic
  std::vector<Sample> free_, tangent_;  ///< b, and, where it is curved, that of the tangent
};

}  // namespace concord
