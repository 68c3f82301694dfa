#pragma once

#include <string>

#include "subsystem/equations/equations_description.hpp"

namespace concord {

/// Throws InputError: location, subsystem, message.
[[noreturn]] void refuse(const EquationsDescription& description, const std::string& location,
                         const std::string& message);

/// The description itself. Throws InputError for names that clash, a state without derivative or
/// the reverse, units of unknown names, and conditions that set what cannot be set.
const EquationsDescription& checked(const EquationsDescription& description);

}  // namespace concord
