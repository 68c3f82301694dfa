#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>

#include "coupling/estimation/step_response.hpp"
#include "coupling/estimator_settings.hpp"
#include "subsystem/subsystem.hpp"

namespace concord {

/// COSTARICA: predicts one subsystem's outputs at t_{N+1} from its linearisation at t_N with the
/// affine remainder, (y, y')^ = K (u, u')_{N+1} + b, for cubic inputs (Eguillon et al. 2022, eqs.
/// (9)-(13), with the remainder and the defect correction of Concord's own).
///
/// About the point (t_N, x_N, u_N) with xi = x - x_N: xi' = A xi + B (u - u_N) + f + tau f_t,
/// y^ = y_N + C xi + D (u - u_N) + tau g_t. The linearisation, its exponential and K are kept where
/// the subsystem says that they still hold in every direction, and h stays.
///
/// Elsewhere that is a tangent, and `correct` follows the curves of f and g to where the inputs
/// lead: with rho = f(t_{N+1}, x^, u_{N+1}) - f - A xi - B (u_{N+1} - u_N) - h f_t, what f is
/// beyond its tangent is taken for rho (tau/h)^2, so that x^ += 2 h phi_3(hA) rho (as in
/// exponential Rosenbrock methods, Hochbruck, Ostermann, Schweitzer 2009, with an error of O(h^4)),
/// and y^, y'^ are g and its slope at (t_{N+1}, x^, u_{N+1}).
class Estimator {
 public:
  /// `connected`: indices of the subsystem's inputs that vary; `afresh`: which of them begin every
  /// macro-step afresh, as the line of the end's value and slope (empty: none).
  Estimator(Subsystem& subsystem, std::vector<std::size_t> connected, std::vector<bool> afresh,
            const EstimatorSettings& settings);

  /// Which connected inputs begin the next macro-steps afresh; before `prepare`.
  void begin_afresh(std::span<const char> afresh);

  /// Prepares the macro-step that begins at the subsystem's communication point with inputs `begin`
  /// and outputs `outputs` (all of the subsystem's). `slopes_known`: whether
  /// begin[i].derivative begins the hold. True: K has changed.
  bool prepare(const MacroStep& step, std::span<const Sample> begin,
               std::span<const Sample> outputs, bool slopes_known, Outcome& outcome);

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
  /// and slope 0, defect correction included. Size n_out.
  std::span<const Sample> free_response() const { return free_; }

  /// K: entry of output o, part (0 value, 1 slope) for connected input c, part.
  double gain(std::size_t output, int output_part, std::size_t input, int input_part) const {
    return gain_(static_cast<Eigen::Index>(2 * output) + output_part,
                 static_cast<Eigen::Index>(2 * input) + input_part);
  }

  /// (y, y')^ for the inputs `end` (all of the subsystem's), curves included.
  void predict(std::span<const Sample> end, std::span<Sample> outputs);

  /// |C| |x| + |D| |u| and |C| (|A| |x| + |B| |u|) + |D| |u'|: what outputs and their slopes are
  /// sums of.
  void output_terms(std::span<const Sample> inputs, std::span<Sample> outputs) const;

  /// The macro-step was accepted with inputs `end` and real outputs: learns the defect.
  void observe(std::span<const Sample> end, std::span<const Sample> outputs);

  void io(Archive& archive) {
    archive(defect_, defect_before_, defect_h_, defect_before_h_, defects_known_,
            defect_of_curves_);
  }

  /// Forgets the defects (rejected macro-steps).
  void forget();

  /// Forgets all that was learnt (events).
  void restart();

 private:
  bool renew_linearization(std::span<const Sample> begin);
  bool linearize(std::span<const Sample> begin);
  void find_derivatives(std::span<const Sample> begin);
  void compute_gains();
  Eigen::MatrixXd response_to_ends(const Shape& joined, const Shape& afresh);
  void compute_free_response(std::span<const Sample> begin, std::span<const Sample> outputs);
  Sample scaled(const Sample& defect, double ratio) const;
  void add_defect();
  void add_gains(std::span<const Sample> end, double sign, std::span<Sample> outputs) const;
  bool reach(std::span<const Sample> end, std::span<Sample> outputs);
  bool bend(const StatePoint& point);

  Subsystem& subsystem_;
  std::vector<std::size_t> connected_;
  std::vector<bool> afresh_;
  EstimatorSettings settings_;
  bool affine_;          ///< f is known at communication points
  bool follows_curves_;  ///< f and g are known where predictions lead

  Linearization linearization_, renewed_;
  Outcome outcome_ = Outcome::ok;
  bool linearized_ = false;
  bool curved_ = false;
  bool corrected_ = false;  ///< b is that of `correct`
  MacroStep step_;
  Eigen::MatrixXd a_, b_, c_, d_;  ///< b_, d_: all inputs; columns as in description().inputs
  StepResponse response_;          ///< to the connected inputs

  double h_ = 0.0;
  bool slopes_known_ = true;
  Eigen::MatrixXd gain_;                 ///< 2 n_out x 2 n_connected
  Eigen::MatrixXd by_value_, by_slope_;  ///< x(h) per end value and slope of a connected input
  Eigen::VectorXd x_, f_, u_;            ///< at t_N
  Eigen::VectorXd xi_, ramp_, f_end_;    ///< of the free response
  Eigen::VectorXd x_end_, rho_, bend_;
  std::vector<double> begin_values_;
  Eigen::VectorXd begin_slopes_;  ///< h u'_N of the connected inputs that continue it
  std::vector<Sample> free_, tangent_;
  std::vector<Sample> reached_;

  std::vector<Sample> defect_, defect_before_;
  std::vector<Sample> correction_;  ///< contained in free_
  double defect_h_ = 0.0, defect_before_h_ = 0.0;
  int defects_known_ = 0;
  bool defect_of_curves_ = false;
};

}  // namespace concord
