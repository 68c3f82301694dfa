#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

namespace concord {

/// A node of a YAML document. Aliases make several nodes point to one child.
struct YamlNode {
  enum class Kind { null, scalar, sequence, map };

  Kind kind = Kind::null;
  int line = 0;                           ///< counted from 1
  std::string text;                       ///< of a scalar
  bool quoted = false;                    ///< a scalar in quotes or in block style
  bool flow = false;                      ///< written in [ ] or { }
  std::vector<const YamlNode*> children;  ///< of a map: key, value, key, value, ...
};

/// Owns the nodes of one YAML document.
struct YamlDocument {
  std::deque<YamlNode> nodes;
  const YamlNode* root = nullptr;
};

/// Parses `text`, the content of the file `source`. Throws InputError ("source:line: ...") if it is
/// not UTF-8 text, not YAML, or not exactly one document.
YamlDocument parse_yaml(const std::string& text, const std::string& source);

}  // namespace concord
