#pragma once

#include "network/model.hpp"

namespace concord {

/// Prints what the modelDescription.xml of an FMU alone says, and what Concord uses of it.
void print_fmu(const Model& model);

}  // namespace concord
