#pragma once

#include <mpi.h>

#include <string>

namespace concord {

/// Ends this program on all ranks at once (MPI_Abort), with one line on stderr: where others wait
/// for this rank, which will not come.
[[noreturn]] void end_all(MPI_Comm comm, const std::string& message, int code = 1);

}  // namespace concord
