#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>

#include "coupling/estimator_settings.hpp"
#include "coupling/step_response.hpp"
#include "subsystem/subsystem.hpp"

namespace concord {

/// COSTARICA: predicts one subsystem's outputs at t_{N+1} from its linearisation at t_N with the
/// affine remainder, (y, y')^ = K (u, u')_{N+1} + b, for cubic inputs (Eguillon et al. 2022, eqs.
/// (9)-(13), with the remainder and the defect correction of Concord's own).
///
/// About the point (t_N, x_N, u_N) with xi = x - x_N: xi' = A xi + B (u - u_N) + f + tau f_t,
/// y^ = y_N + C xi + D (u - u_N) + tau g_t. The linearisation, its exponential and K are kept as
/// long as f and y follow it to rounding and h stays.
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

  /// b with K's share of the values at t_N: (y, y')^ for inputs that end with value begin[i].value
  /// and slope 0, defect correction included. Size n_out.
  std::span<const Sample> free_response() const { return free_; }

  /// K: entry of output o, part (0 value, 1 slope) for connected input c, part.
  double gain(std::size_t output, int output_part, std::size_t input, int input_part) const {
    return gain_(static_cast<Eigen::Index>(2 * output) + output_part,
                 static_cast<Eigen::Index>(2 * input) + input_part);
  }

  /// (y, y')^ for the inputs `end` (all of the subsystem's).
  void predict(std::span<const Sample> end, std::span<Sample> outputs) const;

  /// |C| |x| + |D| |u| and |C| (|A| |x| + |B| |u|) + |D| |u'|: what outputs and their slopes are
  /// sums of.
  void output_terms(std::span<const Sample> inputs, std::span<Sample> outputs) const;

  /// The macro-step was accepted with inputs `end` and real outputs: learns the defect.
  void observe(std::span<const Sample> end, std::span<const Sample> outputs);

  /// Forgets the defects (events, rejected macro-steps).
  void forget();

 private:
  void linearize(std::span<const Sample> begin, double time);
  bool follows(double time);
  void compute_gains();
  Eigen::MatrixXd response_to_ends(const Shape& joined, const Shape& afresh);
  void compute_free_response(std::span<const Sample> begin, std::span<const Sample> outputs);
  Sample expected_defect(std::size_t output) const;
  void add_defect();

  Subsystem& subsystem_;
  std::vector<std::size_t> connected_;
  std::vector<bool> afresh_;
  EstimatorSettings settings_;
  bool affine_;  ///< f is known at communication points

  Linearization linearization_;
  Outcome outcome_ = Outcome::ok;
  bool linearized_ = false;
  double time_of_linearization_ = 0.0;
  Eigen::VectorXd x_of_linearization_, u_of_linearization_, f_of_linearization_,
      y_of_linearization_;
  Eigen::MatrixXd a_, b_, c_, d_;  ///< b_, d_: all inputs; columns as in description().inputs
  StepResponse response_;          ///< to the connected inputs

  double h_ = 0.0;
  bool slopes_known_ = true;
  Eigen::MatrixXd gain_;  ///< 2 n_out x 2 n_connected
  Eigen::VectorXd f_, u_, y_, dx_, du_, xi_, ramp_, f_end_;
  std::vector<double> begin_values_;
  Eigen::VectorXd begin_slopes_;  ///< h u'_N of the connected inputs that continue it
  std::vector<Sample> free_;

  std::vector<Sample> defect_, defect_before_;
  std::vector<Sample> correction_;  ///< contained in free_
  double defect_h_ = 0.0, defect_before_h_ = 0.0;
  int defects_known_ = 0;
};

}  // namespace concord
