#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace concord {

using Bytes = std::vector<std::byte>;

/// Fewer than 2 GB.
void send_bytes(MPI_Comm comm, const Bytes& bytes, int to);
Bytes received_bytes(MPI_Comm comm, int from);

/// The first rank's, on all ranks. Collective.
void share_bytes(MPI_Comm comm, Bytes& bytes);

}  // namespace concord
