#pragma once

#include "settings/settings.hpp"

namespace concord {

/// Whether quintic inputs reach the tolerance of the step control with less work than cubic ones
/// (doc/order_six.md: right-hand sides at equal errors, five networks).
bool quintic_pays(const Method& method);

/// -cosim_order: cubic inputs of jfm and missiles, quintic ones, or those that pay. Throws
/// InputError where it does not go with the method.
void choose_order(Settings& settings, const Model& model);

}  // namespace concord
