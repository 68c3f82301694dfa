#pragma once

#include <map>
#include <pugixml.hpp>
#include <string>

#include "export/model_source.hpp"

namespace concord {

/// Names of units and what they are, as udunits reads it.
using UnitTexts = std::map<std::string, std::string>;

/// modelDescription.xml (FMI 2.0.4, 2.2; FMI 3.0.2, 2.4).
std::string model_description(const ExportedModel& model, FmiVersion version,
                              const ExportedExperiment& experiment, const std::string& token);

/// sources/buildDescription.xml (FMI 3.0.2, 2.5.1.2).
std::string build_description(const ExportedModel& model);

/// Adds elements <Unit name=""> to `definitions`, with a <BaseUnit> where it is known. `prefix`
/// goes before the elements' names ("ssc:", or "").
void add_units(pugi::xml_node definitions, const UnitTexts& units, const std::string& prefix);

/// FMI's word for it.
const char* causality_of(const ExportedVariable& variable);

/// Whether the variable has a start value.
bool has_start(const ExportedVariable& variable);

/// The shortest text that reads back as the same number.
std::string xml_number(double value);

/// The document as text, with its declaration.
std::string xml_text(const pugi::xml_document& document);

}  // namespace concord
