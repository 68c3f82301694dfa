#pragma once

#include "settings/settings.hpp"

namespace concord {

/// Whether quintic inputs reach the tolerance of the step control with less work than cubic ones.
/// Right-hand sides at equal errors, six networks: cubic ones need 0.75 to 1.2 times as many at
/// 1e-6, 1.3 to 2.5 times as many at 1e-9.
bool quintic_pays(const Method& method);

/// Whether every subsystem has second derivatives of its outputs.
bool bends(const Model& model);

/// -cosim_order: cubic inputs of jfm and missiles, quintic ones, or those that pay. Throws
/// InputError where it does not go with the method.
void choose_order(Settings& settings, const Model& model);

}  // namespace concord
