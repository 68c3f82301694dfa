#pragma once

#include <span>
#include <vector>

#include "subsystem/fmu/fmu_jacobians.hpp"
#include "subsystem/fmu/slope_samples.hpp"

namespace concord {

/// Where y' of a co-simulation FMU comes from.
enum class SlopeSource { fmu, linearization, differences, none };

/// y' of a co-simulation FMU: from itself, by its directional derivatives, or by differences of
/// what it puts out.
class FmuSlopes {
 public:
  /// `linearizes`: it is known how outputs and states answer to inputs.
  FmuSlopes(SteppedFmu& fmu, bool linearizes);

  SlopeSource source() const;
  std::span<const double> values() const { return values_; }
  FmuJacobians& jacobians() { return jacobians_; }
  SlopeSamples& samples() { return samples_; }

  // What gives the values; false where the FMU fails.
  void clear();
  /// At the end of a macro-step of size h, from samples that are `distance` s apart.
  bool at_end(std::span<const Polynomial> inputs, double h, double distance);
  /// y' = g_x f + g_u u', with inputs at h.
  bool by_linearization(std::span<const Polynomial> inputs, double h);
  /// Where the FMU refuses, its slopes are 0 this time and found otherwise from then on.
  void from_fmu();
  /// Before the samples, from y there, if all of them were taken.
  void by_samples_ahead(std::span<const double> y, double distance);

  void io(Archive& archive) { CONCORD_MEMBERS(archive, jacobians_); }

 private:
  void rest_where_held();

  SteppedFmu& fmu_;
  bool linearizes_;
  FmuJacobians jacobians_;
  SlopeSamples samples_;
  std::vector<double> values_;
  Linearization linear_;
  std::vector<Sample> ends_;  ///< inputs
};

}  // namespace concord
