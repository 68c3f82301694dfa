#pragma once

#include <mpi.h>

#include "network/model.hpp"
#include "settings/settings.hpp"

namespace concord {

/// Where the run that the options ask for relies on saved states, tries once those of subsystems
/// whose claim can be tried, and notes in `model` whose are false; nothing is tried twice. Of what
/// several subsystems are made from, one is tried. Throws InputError. Collective.
void find_false_states(Model& model, MPI_Comm comm);

}  // namespace concord
