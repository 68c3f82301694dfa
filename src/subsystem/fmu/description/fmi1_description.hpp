#pragma once

#include <pugixml.hpp>
#include <string>
#include <vector>

namespace concord {

/// Puts a description of FMI 1.0 (model exchange, January 2010; co-simulation, October 2010) into
/// the words of FMI 2.0, in place, as far as these can say it: `fmiVersion` becomes "2.0". What is
/// left is `alias`, which stays, the mimeType of <CoSimulation>, and numberOfContinuousStates,
/// which moves into <ModelExchange>. Returns what is unusual and was understood nevertheless.
/// Throws InputError; `where` names the file in messages.
std::vector<std::string> put_into_fmi2(pugi::xml_node root, const std::string& where);

}  // namespace concord
