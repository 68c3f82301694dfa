#pragma once

#include "network/model.hpp"

namespace concord {

/// Takes connections of texts and bytes out of the model's into `text_connections`, arrays element
/// by element. Throws InputError, with its place, for what such a connection cannot be.
void connect_texts(Model& model);

}  // namespace concord
