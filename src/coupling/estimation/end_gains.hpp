#pragma once

#include <Eigen/Core>
#include <array>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "coupling/estimation/local_linearization.hpp"
#include "coupling/estimation/step_response.hpp"

namespace concord {

/// K: what a subsystem's outputs and their derivatives at t_{N+1} make of the inputs' values and
/// derivatives there, for a linearised subsystem and inputs that are cubic (`parts` 2: values and
/// slopes) or quintic (3: and curvatures).
///
/// Cubic u - u_N in s = tau/h: alpha_1 s + alpha_2 s^2 + alpha_3 s^3 with, from Eguillon et al.
/// 2022 (51), alpha = (h d1, 3 dv - 2 h d1 - h d2, h d1 + h d2 - 2 dv), or from (52), where d1 is
/// not known, alpha = (2 dv - h d2, h d2 - dv, 0). Afresh it is dv - h d2 + h d2 s. Quintic ones
/// are as in Hold::quintic.
class EndGains {
 public:
  /// `connected`: indices of the subsystem's inputs that vary; `afresh`: which of them begin every
  /// macro-step afresh, as the line of the end's value and slope (empty: none).
  EndGains(std::vector<std::size_t> connected, std::vector<bool> afresh, std::size_t outputs,
           Response response, int parts);

  /// Which connected inputs begin the next macro-steps afresh.
  void begin_afresh(std::span<const char> afresh);

  /// Whether K is that of macro-steps of this size and this kind.
  bool serves(double h, bool slopes_known) const;
  void compute(const LocalLinearization& subsystem, double h, bool slopes_known);

  /// Those that were computed for one macro-step, by a hash of what they were computed of.
  struct Pooled {
    const EndGains* gains;
    const LocalLinearization* of;
  };
  using Pool = std::unordered_multimap<std::size_t, Pooled>;

  /// As `compute`; what is the same for a subsystem in the pool is taken from it, as the instances
  /// of one template mostly differ in nothing that is linearised.
  void compute_once(const LocalLinearization& subsystem, double h, bool slopes_known, Pool& pool);
  void forget() { h_ = 0.0; }

  /// K is computed anew, of the linearisation that it was computed of, where that, which `changed`
  /// tells, or the macro-step is another one.
  void io(Archive& archive, const LocalLinearization& subsystem, bool changed);

  /// A macro-step begins with these inputs (all of the subsystem's).
  void begin(std::span<const Sample> inputs);

  /// x(h) - x_N for inputs that end with the value that they begin with and derivatives 0, and
  /// v = f + s ramp.
  void free_states(const Eigen::VectorXd& f, const Eigen::VectorXd& ramp, Eigen::VectorXd& xi) {
    known_->response.free(f, ramp, begin_slopes_, begin_curvatures_, xi);
  }
  /// 2 h phi_3(hA) rho.
  void bend(const Eigen::VectorXd& rho, Eigen::VectorXd& xi) {
    known_->response.to_square(rho, xi);
  }
  /// xi += what the ends make of the states.
  void add_to_states(std::span<const Sample> end, Eigen::VectorXd& xi) const;
  /// outputs += sign K (u - u_N, u', ...).
  void add_to_outputs(std::span<const Sample> end, double sign, std::span<Sample> outputs) const;

  /// outputs += sum |K_c u_c| - |sum K_c u_c|, part by part: what inputs c cancel of each other.
  void add_cancelled(std::span<const Sample> inputs, std::span<Sample> outputs) const;

  int parts() const { return parts_; }

  /// Entry of output o, part (0 value, 1 slope, 2 curvature) for connected input c, part.
  double at(std::size_t output, int output_part, std::size_t input, int input_part) const {
    return known_->gain(static_cast<Eigen::Index>(output) * parts_ + output_part,
                        static_cast<Eigen::Index>(input) * parts_ + input_part);
  }

  /// Whether K is one.
  bool shares_with(const EndGains& other) const { return known_ == other.known_; }

  double step() const { return h_; }

  /// Outputs (one flag each) whose second derivative at the end is that of the cubic through values
  /// and slopes at both ends, in K and wherever it is asked for: what integrators leave of stiff
  /// states, within their tolerance, would be in y'' times the square of the stiffness.
  std::span<const char> stiff() const { return known_->stiff; }

 private:
  /// Of u for a change of its end value, of h times its end slope, of h^2 times its end curvature.
  using Shapes = std::array<Shape, 3>;
  /// What is computed. The response keeps nothing of one subsystem that another would read.
  struct Known {
    Known(Response of_kind, int of_parts, std::size_t outputs, std::size_t inputs);

    Response kind;
    int parts;
    bool is_nothing = true;            ///< until it is computed
    StepResponse response;             ///< to the connected inputs
    Eigen::MatrixXd gain;              ///< parts n_out x parts n_connected
    std::array<Eigen::MatrixXd, 3> x;  ///< x(h) per part of the end of a connected input
    std::vector<char> stiff;
  };
  static std::shared_ptr<Known> nothing_yet(Response kind, int parts, std::size_t outputs,
                                            std::size_t inputs);
  bool is_as(const EndGains& other) const;
  const Shapes& shapes(bool afresh) const;
  Leaving leaving() const;
  void add_late(const LocalLinearization& subsystem);
  void find_stiff_outputs(const LocalLinearization& subsystem);
  Eigen::MatrixXd states_for(const Shape& joined, const Shape& afresh);

  int parts_;
  std::vector<std::size_t> connected_;
  std::vector<bool> afresh_;
  double h_ = 0.0;  ///< of the macro-steps that K is for; 0: none
  bool slopes_known_ = true;
  std::shared_ptr<Known> known_;  ///< shared with those for whom it is the same
  std::vector<double> begin_values_;
  /// h u'_N and, of quintic ones, h^2 u''_N of the connected inputs that continue them.
  Eigen::VectorXd begin_slopes_, begin_curvatures_;
};

}  // namespace concord
