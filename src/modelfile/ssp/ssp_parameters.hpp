#pragma once

#include <filesystem>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "subsystem/fmu/fmu.hpp"

namespace concord {

/// Files that belong to a description.
struct SspSources {
  std::filesystem::path folder;     ///< of the description: where relative URIs begin
  std::filesystem::path component;  ///< where they begin with sourceBase="component"; may be empty
  std::vector<std::filesystem::path>* read = nullptr;  ///< gets those that are in no component

  /// The file that a URI reference names. Throws InputError; `where` names the place.
  std::filesystem::path file(const pugi::xml_node& node, const std::string& where) const;

 private:
  std::filesystem::path noted(std::filesystem::path file) const;
};

/// The <LinearTransformation> below `node`, or the map of Booleans or Integers whose entries lie on
/// a line, or the identity. Throws InputError for any other transformation; `where` names the
/// place.
LinearTransformation read_transformation(const pugi::xml_node& node, const std::string& where);

/// The values of a parameter set, a file of its own (.ssv). Throws InputError with its lines.
std::vector<FmuValue> read_parameter_set(const std::filesystem::path& path);

/// The values of all <ParameterBindings> of a component or system, with prefixes and mappings
/// applied; names are relative to it. A transformation follows the conversion of units and is left
/// to whoever knows the target's. Later values replace earlier ones.
std::vector<FmuValue> read_parameter_bindings(const pugi::xml_node& element,
                                              const SspSources& sources, const std::string& where);

}  // namespace concord
