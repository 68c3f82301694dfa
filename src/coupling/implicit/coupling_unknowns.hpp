#pragma once

#include <span>
#include <vector>

#include "coupling/problem/coupling_scales.hpp"
#include "support/petsc.hpp"

namespace concord {

/// The unknowns U of an implicit coupling and its residual R = U - (P y(U), P y'(U), ...) as SNES
/// sees them: v = U / S and R / T, of order one, with the scales S and T of CouplingScales.
///
/// U = (u, u', u'') of the connected inputs, or the first `parts` of them; entry j parts + part of
/// this rank's belongs to connected input j. Inputs, outputs and P y are whole local arrays.
class CouplingUnknowns {
 public:
  CouplingUnknowns(const RankNetwork& subsystems, const ConstraintRows& constraints,
                   const Tolerance& tolerance, int parts);

  std::size_t parts() const { return parts_; }
  std::size_t count() const { return scale_.size(); }  ///< own entries of v
  Vec vector() const { return unknown_; }              ///< v
  Vec residual() const { return residual_; }           ///< R / T
  Vec scale_vector() const { return scale_vector_; }
  Vec residual_scale_vector() const { return residual_scale_vector_; }
  std::span<const double> scale() const { return scale_; }                    ///< S
  std::span<const double> residual_scale() const { return residual_scale_; }  ///< T

  /// What tolerances and the next scales follow from.
  const CouplingScales& sizes() const { return scales_; }
  void see(const CommunicationPoint& point) { scales_.see(point); }

  void io(Archive& archive);
  int memory_version() const { return 2; }

  /// The scales that fit `inputs`, and `fed` where an input has been 0 so far.
  void take_scales(std::span<const Sample> inputs, std::span<const Sample> fed, double h);
  /// Those of another system of the same unknowns.
  void take_scales(const CouplingScales& scales);
  /// Whether, on this rank, some were taken for an input that had been 0 so far.
  bool guessed_scales() const { return guessed_; }

  /// Better scales for those that were guessed.
  void settle_scales(std::span<const Sample> inputs, std::span<const Sample> fed, double h);

  /// v of the inputs, into `vector`.
  void write(std::span<const Sample> inputs);

  /// U of v, into the connected inputs that aren't `known` otherwise.
  void read(Vec v, const std::vector<bool>& known, std::span<Sample> inputs) const;

  /// R / T, into `f`.
  void write_residual(std::span<const Sample> inputs, std::span<const Sample> fed,
                      std::span<const Sample> outputs, Vec f) const;

 private:
  void use(const CouplingScales& scales);

  const RankNetwork& subsystems_;
  const ConstraintRows& constraints_;
  std::size_t parts_;
  CouplingScales scales_;
  std::vector<double> scale_, residual_scale_;
  bool guessed_ = false;
  VecHandle unknown_, residual_, scale_vector_, residual_scale_vector_;
};

}  // namespace concord
