#include "units/unit_definitions.hpp"

#include "support/wording.hpp"

namespace concord {

namespace {

std::string exponents(const pugi::xml_node& base) {
  std::string result;
  for (const char* unit : {"kg", "m", "s", "A", "K", "mol", "cd", "rad"}) {
    const int exponent = base.attribute(unit).as_int();
    if (exponent == 0) continue;
    result += (result.empty() ? "" : ".") + std::string(unit);
    if (exponent != 1) result += std::to_string(exponent);
  }
  return result.empty() ? "1" : result;
}

}  // namespace

UnitDefinition read_unit_definition(const pugi::xml_node& base_unit) {
  UnitDefinition unit;
  if (!base_unit) return unit;
  unit.has_base = true;
  unit.base = exponents(base_unit);
  unit.factor = base_unit.attribute("factor").as_double(1.0);
  unit.offset = base_unit.attribute("offset").as_double(0.0);
  return unit;
}

std::map<std::string, UnitDefinition> read_unit_definitions(const pugi::xml_node& root) {
  std::map<std::string, UnitDefinition> result;
  for (const pugi::xml_node node : root.child("UnitDefinitions").children("Unit"))
    result.emplace(node.attribute("name").as_string(),
                   read_unit_definition(node.child("BaseUnit")));
  return result;
}

std::string in_base_units(const UnitDefinition& unit, bool relative) {
  if (!unit.has_base) return "";
  std::string result = unit.factor == 1.0 ? unit.base : exact_number(unit.factor) + " " + unit.base;
  if (unit.offset != 0.0 && !relative) result += " @ " + exact_number(unit.offset / unit.factor);
  return result;
}

}  // namespace concord
