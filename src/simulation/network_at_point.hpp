#pragma once

#include <Eigen/Core>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "concord/simulation.hpp"
#include "coupling/implicit/network_equations.hpp"

namespace concord {

/// x' = f(t, x, p) and y = g(t, x, p) of a whole network at one time, with all derivatives by its
/// states. Of subsystems that have been started, all on this rank; they stay where they are.
class NetworkAtPoint {
 public:
  /// `inputs`: of the whole network, of which those that nothing feeds stay. `time`, `duration` of
  /// the experiment in s.
  NetworkAtPoint(RankNetwork& subsystems, std::span<const Sample> inputs,
                 std::span<const double> states, double time, double duration);

  /// The same with the subsystems of another simulation, whose parameters are other ones; states
  /// and inputs that were set stay.
  void stand_on(RankNetwork& subsystems, std::span<const Sample> inputs);

  double time() const { return time_; }
  double duration() const { return duration_; }
  const Network& network() const { return subsystems_->network(); }

  /// Where it stands; sizes are nominal ones, else start values, else 1.
  std::vector<double>& states() { return x_; }
  const std::vector<double>& sizes() const { return sizes_; }
  double nominal_output(std::size_t output) const { return nominal_outputs_[output]; }
  double input(std::size_t input) const { return inputs_[input].value; }

  /// Of what nothing feeds, and of equations. Throws RecoverableFailure where it is refused.
  void set_input(std::size_t input, double value);
  void set_parameter(std::size_t subsystem, std::size_t parameter, double value);

  /// Equations with homotopy(actual, simplified) go there; false where there are none.
  bool go_along_homotopy(double part);

  /// Valid until the next call. Throws RecoverableFailure where there are no values.
  std::span<const double> rates();
  std::span<const double> outputs();

  /// By the states: exactly where all subsystems give theirs, else by differences. Throws
  /// RecoverableFailure where there are no values.
  struct Derived {
    Eigen::MatrixXd f_x, g_x;
  };
  Derived derive();

  /// Relations have the truth that they have there; whether one has changed. `waiting`: conditions
  /// of events that hold there and do not act.
  bool settle(std::vector<Happening>& waiting);

  /// Whether an event depends on this state, beside where it stands.
  bool indicated(std::size_t state);

 private:
  Derived differences();
  std::vector<double> indicators();

  RankNetwork* subsystems_;
  std::optional<NetworkEquations> equations_;
  double time_, duration_, part_ = 1.0;
  std::vector<Sample> inputs_;
  std::map<std::size_t, double> set_inputs_;
  std::vector<double> x_, f_, y_, sizes_, nominal_outputs_;
};

/// A nominal one, else the value, else 1.
double size_of(double nominal, double value);

}  // namespace concord
