#pragma once

#include "coupling/method.hpp"
#include "settings/settings.hpp"

namespace concord {

/// Whether a connection or a constraint joins anything.
bool is_coupled(const Model& model);

/// Throws InputError where the method cannot run on the model's subsystems, with the methods that
/// can.
void require_capabilities(const Method& method, const Model& model);

/// Subsystems that take steps of one size only get no others. Throws InputError.
void require_equal_steps(const Settings& settings, const Model& model);

/// Subsystems with a step of their own (`step:`) take it over as many macro-steps. Throws
/// InputError where it is no whole multiple of a macro-step that stays as it is.
void give_slow_steps(Settings& settings, const Model& model);

/// So that subsystems know which of their outputs nobody looks at.
void tell_what_is_recorded(const Model& model, Settings& settings);

/// The estimators' prediction needs hermite inputs and states with a linearization of every
/// subsystem; without them the default becomes extrapolation. linear_implicit is only what was
/// asked for. Throws InputError where -cosim_predictor asks for what cannot be.
void choose_predictor(Method& method, const Model& model);

/// Explicit methods evaluate outputs with direct feedthrough again with the new inputs where they
/// meet in an algebraic loop whose subsystems all give outputs for given inputs: else they are
/// unstable from a loop gain of 1 on, 1/9 with inputs extrapolated linearly (Arnold 2012).
/// -cosim_consistent_outputs decides where it is given.
void choose_consistent_outputs(Method& method, const Model& model);

}  // namespace concord
