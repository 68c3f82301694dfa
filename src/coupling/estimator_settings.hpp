#pragma once

namespace concord {

/// Defect correction of the estimators: what is added of the last macro-steps' errors.
enum class Defect { constant, none, linear };

/// How a linear subsystem's response over a macro-step is found: by matrix exponentials, exactly;
/// by numerical inversion of its Laplace transform, for comparison with published results; or by
/// one linearly implicit Euler step (Arnold 2012, stabilized extrapolation).
enum class Response { expm, stehfest, linear_implicit };

/// -missiles_*
struct EstimatorSettings {
  Defect defect = Defect::constant;
  Response response = Response::expm;
};

}  // namespace concord
