#pragma once

namespace concord {

/// Defect correction of the estimators: what is added of the last macro-steps' errors.
enum class Defect { constant, none, linear };

/// How the estimators' exponentials are found; `stehfest` for comparison with published results.
enum class Laplace { expm, stehfest };

/// -missiles_*
struct EstimatorSettings {
  Defect defect = Defect::constant;
  Laplace laplace = Laplace::expm;
};

}  // namespace concord
