#pragma once

#include <optional>
#include <string>

#include "concord/archive.hpp"
#include "subsystem/fmu/setup.hpp"

namespace concord {

/// Why the state of an FMU cannot be passed on, or nothing.
std::optional<std::string> refusal_to_pass_state(const FmuSetup& setup, const FmuUse& use);

/// The state of an instance, as bytes that the FMU makes and takes: of one that runs when it is
/// written, of another one, from initialisation on, when it is read. What failed, or nothing.
std::optional<std::string> pass_state(FmuInstance& instance, Archive& archive);

}  // namespace concord
