#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace concord {

/// The name of an element without its namespace prefix: SSP files choose prefixes freely.
inline std::string_view local_name(const pugi::xml_node& node) {
  const std::string_view name = node.name();
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

inline std::vector<pugi::xml_node> children_named(const pugi::xml_node& node,
                                                  std::string_view name) {
  std::vector<pugi::xml_node> result;
  for (const pugi::xml_node child : node.children())
    if (local_name(child) == name) result.push_back(child);
  return result;
}

/// Empty where there is no such attribute.
inline std::string text(const pugi::xml_node& node, const char* attribute) {
  return node.attribute(attribute).as_string();
}

/// The first child of that name; empty without one.
inline pugi::xml_node child_named(const pugi::xml_node& node, std::string_view name) {
  const auto all = children_named(node, name);
  return all.empty() ? pugi::xml_node() : all.front();
}

}  // namespace concord
