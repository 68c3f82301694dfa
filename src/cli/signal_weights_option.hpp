#pragma once

#include <mpi.h>

#include "network/model.hpp"

namespace concord {

/// With -cosim_schedule_signals weighted: what signals count for in the model's schedules, from a
/// trial run on the first rank; a note says what could not be weighted. Collective.
void take_signal_weights(Model& model, MPI_Comm comm);

}  // namespace concord
