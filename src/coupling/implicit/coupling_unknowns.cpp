#include "coupling/implicit/coupling_unknowns.hpp"

#include <algorithm>

#include "coupling/problem/rank_memory.hpp"
#include "signal/sample_parts.hpp"
#include "support/vec_entries.hpp"

namespace concord {
CouplingUnknowns::CouplingUnknowns(const RankNetwork& subsystems, const ConstraintRows& constraints,
                                   const Tolerance& tolerance, int parts)
    : subsystems_(subsystems),
      constraints_(constraints),
      parts_(static_cast<std::size_t>(parts)),
      scales_(subsystems, constraints, tolerance, parts),
      scale_(subsystems.connected_inputs().size() * parts_, 1.0),
      residual_scale_(scale_) {
  petsc(VecCreate(subsystems.comm(), unknown_.out()));
  petsc(VecSetSizes(unknown_, static_cast<PetscInt>(count()), PETSC_DETERMINE));
  petsc(VecSetType(unknown_, VECSTANDARD));
  petsc(VecDuplicate(unknown_, residual_.out()));
  petsc(VecDuplicate(unknown_, scale_vector_.out()));
  petsc(VecDuplicate(unknown_, residual_scale_vector_.out()));
  use(scales_);
}

void CouplingUnknowns::use(const CouplingScales& scales) {
  std::copy(scales.unknown().begin(), scales.unknown().end(), scale_.begin());
  std::copy(scales.residual().begin(), scales.residual().end(), residual_scale_.begin());
  copy(scale_, scale_vector_);
  copy(residual_scale_, residual_scale_vector_);
}

void CouplingUnknowns::take_scales(std::span<const Sample> inputs, std::span<const Sample> fed,
                                   double h) {
  scales_.take(inputs, fed, h);
  take_scales(scales_);
}

void CouplingUnknowns::take_scales(const CouplingScales& scales) {
  guessed_ = scales.some_unknown();
  use(scales);
}

void CouplingUnknowns::settle_scales(std::span<const Sample> inputs, std::span<const Sample> fed,
                                     double h) {
  scales_.take(inputs, fed, h);
  use(scales_);
}

void CouplingUnknowns::io(Archive& archive) {
  CONCORD_MEMBERS(archive, scales_);
  pass_parts(archive, parts_, scale_);
  pass_parts(archive, parts_, residual_scale_);
  pass_own(archive, subsystems_.n_own(), guessed_);
  copy(scale_, scale_vector_);
  copy(residual_scale_, residual_scale_vector_);
}

void CouplingUnknowns::write(std::span<const Sample> inputs) {
  WriteEntries v(unknown_);
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    for (std::size_t part = 0, row = j * parts_; part < parts_; ++part, ++row) {
      v[row] = inputs[connected[j]].*sample_parts[part] / scale_[row];
    }
  }
}

void CouplingUnknowns::read(Vec vector, const std::vector<bool>& known,
                            std::span<Sample> inputs) const {
  const ReadEntries v(vector);
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    if (known[j]) {
      continue;
    }
    Sample& input = inputs[connected[j]];
    for (std::size_t part = 0, row = j * parts_; part < parts_; ++part, ++row) {
      input.*sample_parts[part] = v[row] * scale_[row];
    }
  }
}

void CouplingUnknowns::write_residual(std::span<const Sample> inputs, std::span<const Sample> fed,
                                      std::span<const Sample> outputs, Vec f) const {
  WriteEntries r(f);
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    const Sample rest = constraints_.rest_of(j, inputs[i], fed[i], outputs);
    for (std::size_t part = 0, row = j * parts_; part < parts_; ++part, ++row) {
      r[row] = rest.*sample_parts[part] / residual_scale_[row];
    }
  }
}

}  // namespace concord
