#include "modelfile/ssp/ssp_units.hpp"

#include "modelfile/ssp/ssp_xml.hpp"
#include "units/unit_definitions.hpp"
#include "units/units.hpp"

namespace concord {

SspUnits::SspUnits(const pugi::xml_node& root) {
  for (const pugi::xml_node unit : children_named(child_named(root, "Units"), "Unit"))
    base_.emplace(unit.attribute("name").as_string(),
                  in_base_units(read_unit_definition(child_named(unit, "BaseUnit")), false));
}

std::string SspUnits::text(const std::string& name) const {
  const auto found = base_.find(name);
  return unit_text(name, found == base_.end() ? "" : found->second);
}

}  // namespace concord
