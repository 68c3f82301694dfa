#pragma once

#include "coupling/method.hpp"

namespace concord {

/// Throws InputError where the method cannot run on the model's subsystems, with the methods that
/// can.
void require_capabilities(const Method& method, const Model& model);

/// The estimators' prediction needs hermite inputs and states with a linearization of every
/// subsystem; without them the default becomes extrapolation. linear_implicit is only what was
/// asked for. Throws InputError where -cosim_predictor asks for what cannot be.
void choose_predictor(Method& method, const Model& model);

/// The groups of the method's schedule: the model file's, or the best ones; none in parallel.
/// Throws InputError.
Groups choose_groups(const Method& method, const Model& model);

}  // namespace concord
