#include "support/messages.hpp"

namespace concord {

void send_bytes(MPI_Comm comm, const Bytes& bytes, int to) {
  MPI_Ssend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, 0, comm);
}

Bytes received_bytes(MPI_Comm comm, int from) {
  MPI_Status status;
  int size = 0;
  MPI_Probe(from, 0, comm, &status);
  MPI_Get_count(&status, MPI_BYTE, &size);
  Bytes bytes(static_cast<std::size_t>(size));
  MPI_Recv(bytes.data(), size, MPI_BYTE, from, 0, comm, MPI_STATUS_IGNORE);
  return bytes;
}

void share_bytes(MPI_Comm comm, Bytes& bytes) {
  auto size = static_cast<int>(bytes.size());
  MPI_Bcast(&size, 1, MPI_INT, 0, comm);
  bytes.resize(static_cast<std::size_t>(size));
  MPI_Bcast(bytes.data(), size, MPI_BYTE, 0, comm);
}

}  // namespace concord
