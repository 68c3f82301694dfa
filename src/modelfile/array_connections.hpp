#pragma once

#include "network/model.hpp"

namespace concord {

/// Connections of whole arrays, "a.y[:] -> b.u[:]" and "cell[:].x -> sum.u[:]", element by element
/// in the model's order: `:` in brackets is any index. Throws InputError where the ends have not
/// the same number of elements.
void connect_arrays(Model& model);

}  // namespace concord
