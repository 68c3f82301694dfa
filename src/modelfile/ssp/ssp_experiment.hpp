#pragma once

#include <pugixml.hpp>

#include "network/model.hpp"

namespace concord {

/// Start and stop of the <DefaultExperiment> below `root`, of the model whose source is known.
/// Throws InputError where they are no numbers, and where nothing tells the stop.
void read_experiment(const pugi::xml_node& root, Model& model);

}  // namespace concord
