#pragma once

#include <map>
#include <pugixml.hpp>
#include <string>

namespace concord {

/// A <Unit> with its <BaseUnit>: value in base units = factor * value + offset.
struct UnitDefinition {
  std::string base;  ///< exponents as udunits reads them ("kg1 m2 s-2"), "1" without any
  double factor = 1.0;
  double offset = 0.0;
  bool has_base = false;
};

UnitDefinition read_unit_definition(const pugi::xml_node& base_unit);

/// The <UnitDefinitions> of a modelDescription.xml by name.
std::map<std::string, UnitDefinition> read_unit_definitions(const pugi::xml_node& root);

/// The unit for udunits: "0.001 kg1 m2 s-2", "K1 @ 273.15"; empty where there is no base unit. A
/// relative quantity (a temperature difference) has no offset.
std::string in_base_units(const UnitDefinition& unit, bool relative);

}  // namespace concord
