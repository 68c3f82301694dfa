#pragma once

#include <functional>
#include <pugixml.hpp>
#include <string>

#include "network/model.hpp"

namespace concord {

/// "subsystem.variable" of what an annotation calls "element.variable"; itself where there is no
/// such element.
using NameOfElement = std::function<std::string(const std::string& name)>;

/// Times of events, constraints and equations at the start, as `concord export-ssp` writes them
/// (files/ssp_annotation.hpp). `place` begins errors. Throws InputError.
void read_network_annotation(const pugi::xml_node& network, const NameOfElement& name_of,
                             const std::string& place, Model& model);

}  // namespace concord
