#pragma once

#include <Eigen/Dense>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coupling/implicit/network_equations.hpp"
#include "simulation/simulation_core.hpp"

namespace concord {

/// What is asked of an operating point. `held`: inputs that nothing feeds have these values; so do
/// outputs and states, for each of which one of `free` is found: a parameter, from this value on,
/// or an input that nothing feeds.
struct SteadyWishes {
  std::vector<std::pair<std::string, double>> held;
  std::vector<std::pair<std::string, std::optional<double>>> free;
};

/// 0 = f(t, x, p) and the held outputs, for the states x and what is free, p, of a whole network at
/// rest: as many equations as unknowns. Unknowns are divided by their sizes (nominal, else start
/// value, else 1), rates of states are multiplied by the experiment's duration over the size: 1e-9
/// of a rate is a state that moves by 1e-9 of its size.
///
/// States on which neither f nor any event depends (how far a car has come) are no unknowns, and
/// may move.
class SteadySystem {
 public:
  /// Of one with `-cosim_type monolithic` that has been started. Throws InputError for wishes that
  /// name nothing, or that leave too many or too few unknowns; RecoverableFailure where f has no
  /// values at the start.
  SteadySystem(SimulationCore& simulation, const SteadyWishes& wishes, double time);

  Eigen::Index size() const { return start_.size(); }
  /// Where the search begins.
  const Eigen::VectorXd& start() const { return start_; }
  /// 1 where an unknown is a state, whose rate is its equation; 0 for what is free.
  const Eigen::VectorXd& mass() const { return mass_; }

  /// Throws RecoverableFailure where f has no values.
  Eigen::VectorXd residual(const Eigen::VectorXd& z);
  Eigen::MatrixXd jacobian(const Eigen::VectorXd& z);

  /// Relations have the truth that they have there; whether one has changed. `waiting`: conditions
  /// of events that hold there and do not act.
  bool settle(const Eigen::VectorXd& z, std::vector<Happening>& waiting);

  /// At z: all states, what has been freed, f and f_x.
  std::vector<double> states(const Eigen::VectorXd& z);
  std::vector<std::pair<std::string, double>> freed(const Eigen::VectorXd& z) const;
  std::vector<double> rates(const Eigen::VectorXd& z);
  Eigen::MatrixXd state_matrix(const Eigen::VectorXd& z);

  bool moves(std::size_t state) const { return place_[state] < 0; }
  std::string equation(Eigen::Index i) const;
  double time() const { return time_; }

 private:
  /// An unknown that is no state.
  struct Free {
    std::string name;
    Settable what;
    double start, size;
  };
  /// An output or state that is held.
  struct Held {
    std::string name;
    bool is_output;
    std::size_t index;
    double value, size;
  };
  struct Derived {
    Eigen::MatrixXd f_x, g_x;
  };

  void hold(const std::string& name, double value, const OdeInterface& whole);
  void set_free(const std::string& name, std::optional<double> value);
  void require_square() const;
  void find_moving();
  void note_what_matters(std::vector<char>& matters);
  bool indicated(std::size_t state);
  std::vector<double> indicators();
  void give(const Free& free, double value);
  void move_to(const Eigen::VectorXd& z);
  Derived derive();
  double value_of(const Held& held, std::span<const double> y) const;

  RankNetwork& subsystems_;
  const SimulationPlan& plan_;
  SimulationCore& simulation_;
  NetworkEquations equations_;
  double time_, duration_;
  std::vector<Sample> inputs_;
  std::vector<double> x_, f_, y_, sizes_;  ///< per state, output
  std::vector<Free> free_;
  std::vector<Held> held_;
  std::vector<Eigen::Index> place_;  ///< of each state among the unknowns; -1: none
  std::vector<std::size_t> state_;   ///< of each unknown that is one
  Eigen::VectorXd start_, mass_;
};

}  // namespace concord
