#pragma once

namespace concord {

/// src/files/foreign_tables.py
extern const char* const foreign_script;

}  // namespace concord
