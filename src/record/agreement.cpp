#include "record/agreement.hpp"

#include <exception>
#include <new>

namespace concord {
namespace {

std::optional<std::string> failure_here(const std::function<void()>& action) {
  try {
    action();
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return "not enough memory";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

std::optional<std::string> failure_on_any_rank(MPI_Comm comm, const std::function<void()>& action) {
  std::optional<std::string> failure = failure_here(action);
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (size == 1) return failure;

  const int candidate = failure ? rank : size;
  int first = size;
  MPI_Allreduce(&candidate, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == size) return std::nullopt;

  std::string message = rank == first ? *failure : std::string();
  auto length = static_cast<unsigned long>(message.size());
  MPI_Bcast(&length, 1, MPI_UNSIGNED_LONG, first, comm);
  message.resize(length);
  MPI_Bcast(message.data(), static_cast<int>(length), MPI_CHAR, first, comm);
  return message;
}

}  // namespace concord
