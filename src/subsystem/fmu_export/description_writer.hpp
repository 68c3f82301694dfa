#pragma once

#include <functional>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <string>

#include "subsystem/fmu_export/model_source.hpp"
#include "support/base_unit.hpp"

namespace concord {

/// A unit in base units, or nothing where it is not known.
using UnitInBase = std::function<std::optional<BaseUnit>(const std::string& unit)>;

/// modelDescription.xml (FMI 2.0.4, 2.2; FMI 3.0.2, 2.4).
std::string model_description(const ExportedModel& model, FmiVersion version,
                              const ExportedExperiment& experiment, const std::string& token,
                              const UnitInBase& unit_in_base);

/// sources/buildDescription.xml (FMI 3.0.2, 2.5.1.2).
std::string build_description(const ExportedModel& model);

/// Adds elements <Unit name=""> to `definitions`, with a <BaseUnit> where it is known. `prefix`
/// goes before the elements' names ("ssc:", or "").
void add_units(pugi::xml_node definitions, const std::set<std::string>& units,
               const UnitInBase& unit_in_base, const std::string& prefix);

/// FMI's word for it.
const char* causality_of(const ExportedVariable& variable);

/// Whether the variable has a start value.
bool has_start(const ExportedVariable& variable);

/// The shortest text that reads back as the same number.
std::string xml_number(double value);

/// The document as text, with its declaration.
std::string xml_text(const pugi::xml_document& document);

}  // namespace concord
