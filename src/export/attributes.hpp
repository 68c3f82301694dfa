#pragma once

#include <pugixml.hpp>
#include <string>

namespace concord {

inline void set(pugi::xml_node node, const char* attribute, const std::string& value) {
  node.append_attribute(attribute) = value.c_str();
}

}  // namespace concord
