#pragma once

#include <functional>
#include <pugixml.hpp>
#include <string>

#include "network/model.hpp"
#include "network/start_problem.hpp"

namespace concord {

/// "element.variable" in an SSP of what the model calls so: an output, or a state (its rate).
using NameInSsp = std::function<std::string(StartQuantity::Kind kind, const std::string& name)>;

/// Whether the model has what SSP itself has no words for: times of events, constraints, equations
/// at the start.
bool has_network_annotation(const Model& model);

/// Puts that below the system, as an annotation (files/ssp_annotation.hpp). Expressions have
/// numbers in the places of the model's parameters. Throws InputError for what an FMU cannot answer
/// or a text cannot hold: a parameter that equations at the start free, calls of maps.
void add_network_annotation(const Model& model, const NameInSsp& name_in_ssp,
                            pugi::xml_node system);

}  // namespace concord
