#pragma once

#include "network/model.hpp"

namespace concord {

/// Writes "a.plug -> b.plug", where both are terminals of FMUs, as the connections of their member
/// variables, each output with the other's input. Throws InputError, with its place, for terminals
/// that don't match.
void connect_terminals(Model& model);

}  // namespace concord
