#pragma once

#include <map>
#include <pugixml.hpp>
#include <string>

namespace concord {

/// The units that an SSP file defines.
class SspUnits {
 public:
  /// From the <Units> below `root`, the root of an SSD or a parameter set.
  explicit SspUnits(const pugi::xml_node& root);

  /// The unit `name` as udunits reads it: by its definition, or as it stands; "" where neither is
  /// known.
  std::string text(const std::string& name) const;

 private:
  std::map<std::string, std::string> base_;  ///< definitions in base units
};

}  // namespace concord
