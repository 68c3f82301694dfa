#pragma once

#include <string>

#include "settings/settings.hpp"

namespace concord {

/// Of all subsystems.
double loosest_rtol(const Settings& settings);

/// What helps a run whose error is as large as a signal: "use ...".
std::string remedy_of_divergence(const Settings& settings, double last_step);

/// What helps where no macro-step is small enough for the step control: what is integrated and
/// coupled less exactly than it demands has errors that no macro-step makes smaller.
std::string remedy_of_error(const Settings& settings);

}  // namespace concord
