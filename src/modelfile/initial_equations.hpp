#pragma once

#include "network/model.hpp"

namespace concord {

/// What `initial:` means once subsystems and connections are whole: equations element by element,
/// and what is free. Throws InputError for names that are not there and for more or fewer equations
/// than free ones.
void connect_initial(Model& model);

}  // namespace concord
