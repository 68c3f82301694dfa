#pragma once

#include <mpi.h>

#include "network/model.hpp"

namespace concord {

/// Solves what `initial:` says over the whole network, at the start of the experiment, and gives
/// the model what is found: start values of states and inputs, values of parameters. Once; not
/// where a run goes on from a checkpoint, which has them.
///
/// Every rank solves the whole on its own, so that all find the same bits. Throws InputError where
/// equations cannot determine what is free; SimulationError, with what is left and where, where
/// nothing is found. Collective.
void find_initial_values(Model& model, MPI_Comm comm);

}  // namespace concord
