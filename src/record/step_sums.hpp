#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "concord/archive.hpp"

namespace concord {

struct StepReport;

/// As a results file holds them.
enum class Number { text, f64, i32, i64 };

/// A dataset below /steps: what the macro-steps since the last row add up to, rejected attempts
/// included; the same on every rank.
struct StepDataset {
  const char* path;
  Number number;
  double before;  ///< without a macro-step
  void (*add)(double& sum, const StepReport& step);
  bool of_grid = false;  ///< only where rows are not at the ends of macro-steps
};

std::span<const StepDataset> step_datasets();

/// The entries of a row, in the order of step_datasets().
class StepSums {
 public:
  StepSums();
  explicit StepSums(std::vector<double> values) : values_(std::move(values)) {}

  void add(const StepReport& step);
  void clear();
  double operator[](std::size_t dataset) const { return values_[dataset]; }
  /// Without the time on the clock, which is each rank's own.
  void io(Archive& archive);

 private:
  std::vector<double> values_;
};

}  // namespace concord
