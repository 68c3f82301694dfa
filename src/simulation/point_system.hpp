#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "simulation/network_at_point.hpp"

namespace concord {

/// A variable of a network, by its position there; of an unknown that is no state, by its position
/// among these.
struct PointQuantity {
  enum class Kind { state, rate, output, input, free, parameter };
  Kind kind;
  std::size_t index;
  double value = 0.0;  ///< of a parameter that is not free
};

/// 0 = missed(t, quantities).
struct PointEquation {
  std::string text;  ///< "der(tank.level) = 0"
  std::vector<PointQuantity> quantities;
  /// `slopes`: derivatives by the values, one for each quantity.
  std::function<double(double t, std::span<const double> values, std::span<double> slopes)> missed;
};

/// der(state) = 0.
PointEquation at_rest(const NetworkAtPoint& network, std::size_t state);

/// An unknown that is no state, looked for from its start on. Without `what` it is a parameter from
/// which the model follows.
struct FreeValue {
  std::string name;
  std::optional<Settable> what;
  double start;
};

/// Lets the network stand on a model that was read with these numbers. Throws RecoverableFailure.
using NewModel = std::function<void(const std::vector<std::pair<std::string, double>>& numbers)>;

/// Equations of a whole network at one time, for some of its states and for what else is free: as
/// many as unknowns. Unknowns are divided by their sizes. An equation is divided by the largest of
/// its terms at the start, by their sizes: rates count as sizes over the experiment's duration, so
/// that 1e-9 of der(x) = 0 is a state that moves by 1e-9 of its size.
class PointSystem {
 public:
  /// `network` must outlive it. Throws RecoverableFailure where there are no values at the start.
  PointSystem(NetworkAtPoint& network, std::vector<std::size_t> unknown_states,
              std::vector<FreeValue> free, std::vector<PointEquation> equations,
              NewModel read_anew = {});

  Eigen::Index size() const { return start_.size(); }
  /// Where the search begins.
  const Eigen::VectorXd& start() const { return start_; }
  /// How much of the rate of unknown i is in equation i; 0 where it is no state, or in another one.
  const Eigen::VectorXd& mass() const { return mass_; }

  /// Throws RecoverableFailure where there are no values.
  Eigen::VectorXd residual(const Eigen::VectorXd& z);
  /// By states exactly, by what is free by central differences.
  Eigen::MatrixXd jacobian(const Eigen::VectorXd& z);

  /// As NetworkAtPoint's, both.
  bool go_along_homotopy(double part) { return network_.go_along_homotopy(part); }
  bool settle(const Eigen::VectorXd& z, std::vector<Happening>& waiting);

  /// The whole network stands at z.
  void move_to(const Eigen::VectorXd& z);
  double state(std::size_t state) const { return network_.states()[state]; }

  /// Of unknowns that are no states, at z.
  std::vector<std::pair<std::string, double>> freed(const Eigen::VectorXd& z) const;

  const std::string& equation(Eigen::Index i) const { return equations_[at(i)].text; }
  std::string unknown(Eigen::Index i) const;
  /// Of equations: what residuals are divided by.
  const Eigen::VectorXd& scales() const { return scales_; }
  double time() const { return network_.time(); }

 private:
  static std::size_t at(Eigen::Index i) { return static_cast<std::size_t>(i); }
  void pair_rates();
  void find_scales();
  double value_of(const PointQuantity& quantity, std::span<const double> f,
                  std::span<const double> y) const;
  double size_of_quantity(const PointQuantity& quantity, double value) const;
  double missed(const PointEquation& equation);
  double slope_of(const PointQuantity& quantity, std::size_t state,
                  const NetworkAtPoint::Derived& derived) const;
  void add_row(const PointEquation& equation, const NetworkAtPoint::Derived& derived,
               Eigen::Index row, Eigen::MatrixXd& result);
  void take_values();
  void read_model_anew(const Eigen::VectorXd& z);

  NetworkAtPoint& network_;
  NewModel read_anew_;
  std::vector<std::size_t> states_;  ///< of each unknown that is one
  std::vector<FreeValue> free_;
  std::vector<double> free_sizes_, free_values_;
  std::vector<PointEquation> equations_;
  bool names_outputs_ = false;
  Eigen::VectorXd start_, mass_, scales_;
  std::vector<double> f_, y_, values_, slopes_;  ///< where it stands, of one equation
};

}  // namespace concord
