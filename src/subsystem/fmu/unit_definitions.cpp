#include "subsystem/fmu/unit_definitions.hpp"

#include <charconv>

namespace concord {

namespace {

std::string digits(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

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

std::map<std::string, UnitDefinition> read_unit_definitions(const pugi::xml_node& root) {
  std::map<std::string, UnitDefinition> result;
  for (const pugi::xml_node node : root.child("UnitDefinitions").children("Unit")) {
    UnitDefinition unit;
    if (const pugi::xml_node base = node.child("BaseUnit")) {
      unit.has_base = true;
      unit.base = exponents(base);
      unit.factor = base.attribute("factor").as_double(1.0);
      unit.offset = base.attribute("offset").as_double(0.0);
    }
    result.emplace(node.attribute("name").as_string(), unit);
  }
  return result;
}

std::string in_base_units(const UnitDefinition& unit, bool relative) {
  if (!unit.has_base) return "";
  std::string result = unit.factor == 1.0 ? unit.base : digits(unit.factor) + " " + unit.base;
  if (unit.offset != 0.0 && !relative) result += " @ " + digits(unit.offset / unit.factor);
  return result;
}

}  // namespace concord
