#pragma once

#include <mpi.h>

#include "network/model.hpp"

namespace concord {

/// With -cosim_schedule_efforts RESULT.h5: the time that all work for each subsystem took in that
/// run becomes its effort in schedules and placements, in place of the model file's. Throws
/// InputError, the same on every rank, where the file cannot be read, is of another model, or holds
/// no times. Collective.
void take_measured_efforts(Model& model, MPI_Comm comm);

}  // namespace concord
