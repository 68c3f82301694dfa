#pragma once

#include <string>

namespace concord {

/// A page of HTML that needs nothing else, on `data` (JSON).
std::string report_page(const std::string& title, const std::string& data);

/// What the page does with its data.
extern const char* const report_script;

}  // namespace concord
