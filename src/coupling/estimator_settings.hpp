#pragma once

#include "support/words.hpp"

namespace concord {

/// Defect correction of the estimators: what is added of the last macro-steps' errors.
enum class Defect { constant, none, linear };

template <>
inline std::span<const WordOf<Defect>> words_of<Defect>() {
  static constexpr WordOf<Defect> words[] = {
      {"constant", Defect::constant},
      {"none", Defect::none},
      {"linear", Defect::linear},
  };
  return words;
}

/// How a linear subsystem's response over a macro-step is found: by matrix exponentials, exactly;
/// by numerical inversion of its Laplace transform, for comparison with published results; or by
/// one linearly implicit Euler step (Arnold 2012, stabilized extrapolation).
enum class Response { expm, stehfest, linear_implicit };

/// linear_implicit comes with -cosim_predictor.
template <>
inline std::span<const WordOf<Response>> words_of<Response>() {
  static constexpr WordOf<Response> words[] = {
      {"expm", Response::expm},
      {"stehfest", Response::stehfest},
  };
  return words;
}

/// -missiles_*
struct EstimatorSettings {
  Defect defect = Defect::constant;
  Response response = Response::expm;
};

}  // namespace concord
