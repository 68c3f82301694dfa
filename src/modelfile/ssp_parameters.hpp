#pragma once

#include <filesystem>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "subsystem/fmu/fmu.hpp"

namespace concord {

/// target = factor * source + offset.
struct LinearTransformation {
  double factor = 1.0;
  double offset = 0.0;
};

/// The <LinearTransformation> below `node`, or the identity. Throws InputError for any other
/// transformation; `where` names the place.
LinearTransformation read_transformation(const pugi::xml_node& node, const std::string& where);

/// The values of all <ParameterBindings> of a component or system, with prefixes and mappings
/// applied; names are relative to it. Files (.ssv, .ssm) are relative to `folder`. Later values
/// replace earlier ones.
std::vector<FmuValue> read_parameter_bindings(const pugi::xml_node& element,
                                              const std::filesystem::path& folder,
                                              const std::string& where);

}  // namespace concord
