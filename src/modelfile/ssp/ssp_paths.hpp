#pragma once

#include <optional>
#include <string>

namespace concord {

/// Of an element: the names from the root on ("drive/motor").
inline std::string joined_path(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : parent + "/" + name;
}

/// The system that holds the one at `path`; nothing around the root.
inline std::optional<std::string> around(const std::string& path) {
  if (path.empty()) return std::nullopt;
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

}  // namespace concord
