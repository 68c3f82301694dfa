#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace concord {

using Bytes = std::vector<std::byte>;

/// Fewer than 2 GB.
void send_bytes(MPI_Comm comm, const Bytes& bytes, int to);
Bytes received_bytes(MPI_Comm comm, int from);

/// Plain items as they are in memory.
template <class T>
Bytes bytes_of(const std::vector<T>& items) {
  const auto bytes = std::as_bytes(std::span(items));
  return {bytes.begin(), bytes.end()};
}
template <class T>
std::vector<T> items_in(const Bytes& bytes) {
  std::vector<T> items(bytes.size() / sizeof(T));
  std::copy_n(bytes.begin(), items.size() * sizeof(T),
              std::as_writable_bytes(std::span(items)).begin());
  return items;
}

/// The first rank's, on all ranks. Collective.
void share_bytes(MPI_Comm comm, Bytes& bytes);

}  // namespace concord
