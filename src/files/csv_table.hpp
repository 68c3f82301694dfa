#pragma once

#include <filesystem>
#include <string>

#include "files/time_table.hpp"

namespace concord {

/// Reads a CSV file with a header row, in UTF-8 or UTF-16; fields are separated by commas,
/// semicolons or tabs, whatever the header has, and may be in double quotes; where commas separate
/// nothing, they may begin decimals; true and false are 1 and 0. Time is in the column of that
/// name, in the first one where none is named. Throws InputError with file, line and column for
/// everything else.
TimeTable read_csv(const std::filesystem::path& path, const std::string& time_column = "",
                   Gaps gaps = Gaps::refused);

}  // namespace concord
