#pragma once

#include <string>

namespace concord {

/// A page of HTML that needs nothing else: the looks of all of Concord's, `body`, `data` (JSON)
/// with whatever texts it holds, and what `script` does with it beside `drawing_script`.
std::string html_page(const std::string& title, const std::string& body, const std::string& data,
                      const std::string& script);

/// python/concord/page.css and drawing.js, which reports have, too: `data`, elements, tables,
/// charts.
extern const char* const page_looks;
extern const char* const drawing_script;

}  // namespace concord
