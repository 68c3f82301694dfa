#pragma once

#include <span>
#include <vector>

#include "coupling/coupling.hpp"
#include "coupling/problem/constraint_rows.hpp"

namespace concord {

/// How large the unknowns U = (u, u', ...) of a coupling and the rows of its residual R are, and
/// how small their errors must be: by the sizes of the connected inputs (signal/sizes.hpp), those
/// of slopes divided by h, of curvatures by h^2. Positions j are those in
/// RankNetwork::connected_inputs(); the row of a constraint is as large as what its equation
/// compares.
class CouplingScales {
 public:
  CouplingScales(const RankNetwork& subsystems, const ConstraintRows& constraints,
                 const Tolerance& tolerance, int parts);

  /// What the rows of constraints have been at a communication point.
  void see(const CommunicationPoint& point);

  /// S = max(|u| + floor, size / 1000) and T, the same for the rows; slopes that over h, curvatures
  /// over h^2. An input that has never been anything but 0 is as large as `inputs` and `fed` make
  /// it, else 1.
  void take(std::span<const Sample> inputs, std::span<const Sample> fed, double h);

  /// Whether S no longer fits what the inputs have become.
  bool outdated(std::span<const Sample> inputs) const;

  /// Whether some own input has no size yet.
  bool some_unknown() const;

  std::span<const double> unknown() const { return unknown_; }    ///< S
  std::span<const double> residual() const { return residual_; }  ///< T

  /// Largest magnitude so far of u_j (its nominal value where it has one), or of the trial.
  double size(std::size_t j, const Sample& input, const Sample& fed, double h) const;

  /// What an error of u_j, and one of row j, must be below.
  double unknown_tolerance(std::size_t j, const Sample& input, const Sample& fed, double h) const;
  double row_tolerance(std::size_t j, std::span<const Sample> inputs, std::span<const Sample> fed,
                       double h) const;
  double row_size(std::size_t j, std::span<const Sample> inputs, std::span<const Sample> fed,
                  double h) const;

  void io(Archive& archive);
  int memory_version() const { return 2; }

 private:
  const RankNetwork& subsystems_;
  const ConstraintRows& constraints_;
  Tolerance tolerance_;
  std::size_t parts_;
  std::vector<double> unknown_, residual_;
  std::vector<double> equation_sizes_;  ///< per j: largest so far of a constraint's row, else 0
};

}  // namespace concord
