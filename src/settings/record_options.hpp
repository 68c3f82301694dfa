#pragma once

#include <optional>
#include <string>

#include "settings/settings.hpp"

namespace concord {

/// The value of -cosim_record that asks for this.
std::string recorded(const RecordSettings& record);

/// What -cosim_record asks for; balance follows its correction where it isn't given. Throws
/// InputError.
void choose_recorded(Settings& settings, const std::optional<std::string>& given);

}  // namespace concord
