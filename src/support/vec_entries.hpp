#pragma once

#include "support/petsc.hpp"

namespace concord {

/// This rank's entries of a vector, to be read while it lives.
class ReadEntries {
 public:
  explicit ReadEntries(Vec vector) : vector_(vector) {
    petsc(VecGetLocalSize(vector, &count_));
    petsc(VecGetArrayRead(vector, &values_));
  }
  ~ReadEntries() { VecRestoreArrayRead(vector_, &values_); }
  ReadEntries(const ReadEntries&) = delete;
  ReadEntries& operator=(const ReadEntries&) = delete;

  double operator[](std::size_t row) const { return values_[row]; }
  std::span<const double> all() const { return {values_, static_cast<std::size_t>(count_)}; }

 private:
  Vec vector_;
  const PetscScalar* values_ = nullptr;
  PetscInt count_ = 0;
};

/// This rank's entries of a vector, all of which are to be written while it lives.
class WriteEntries {
 public:
  explicit WriteEntries(Vec vector) : vector_(vector) {
    petsc(VecGetLocalSize(vector, &count_));
    petsc(VecGetArrayWrite(vector, &values_));
  }
  ~WriteEntries() { VecRestoreArrayWrite(vector_, &values_); }
  WriteEntries(const WriteEntries&) = delete;
  WriteEntries& operator=(const WriteEntries&) = delete;

  double& operator[](std::size_t row) { return values_[row]; }
  std::span<double> all() { return {values_, static_cast<std::size_t>(count_)}; }

 private:
  Vec vector_;
  PetscScalar* values_ = nullptr;
  PetscInt count_ = 0;
};

}  // namespace concord
