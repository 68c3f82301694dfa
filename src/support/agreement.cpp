#include "support/agreement.hpp"

#include <climits>
#include <exception>
#include <new>

#include "concord/errors.hpp"

namespace concord {
namespace {

template <class T>
T reduce(MPI_Comm comm, T value, MPI_Datatype type, MPI_Op operation) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  if (size > 1) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, type, operation, comm);
  }
  return value;
}

void reduce_all(MPI_Comm comm, std::span<double> values, MPI_Op operation) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  if (size > 1) {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE,
                  operation, comm);
  }
}

enum Severity { none = 0, simulation = 1, input = 2 };

}  // namespace

int agree_on_largest(MPI_Comm comm, int value) { return reduce(comm, value, MPI_INT, MPI_MAX); }

double agree_on_largest(MPI_Comm comm, double value) {
  return reduce(comm, value, MPI_DOUBLE, MPI_MAX);
}

void agree_on_largest(MPI_Comm comm, std::span<double> values) {
  reduce_all(comm, values, MPI_MAX);
}

double agree_on_sum(MPI_Comm comm, double value) {
  return reduce(comm, value, MPI_DOUBLE, MPI_SUM);
}

void agree_on_sum(MPI_Comm comm, std::span<double> values) { reduce_all(comm, values, MPI_SUM); }

std::optional<std::string> agree_on_text(MPI_Comm comm, const std::optional<std::string>& own) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const int speaker = reduce(comm, own ? rank : INT_MAX, MPI_INT, MPI_MIN);
  if (speaker == INT_MAX) {
    return std::nullopt;
  }
  std::string text = rank == speaker ? *own : std::string();
  auto length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, speaker, comm);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, speaker, comm);
  return text;
}

void together(MPI_Comm comm, const std::function<void()>& work) {
  std::optional<std::string> message;
  Severity severity = none;
  try {
    work();
  } catch (const InputError& error) {
    message = error.what();
    severity = input;
  } catch (const std::exception& error) {
    message = error.what();
    severity = simulation;
  }
  const int worst = agree_on_largest(comm, static_cast<int>(severity));
  if (worst == none) {
    return;
  }
  if (severity != worst) {
    message.reset();
  }
  const auto text = agree_on_text(comm, message);
  if (worst == input) {
    throw InputError(*text);
  }
  throw SimulationError(*text);
}

std::optional<std::string> failure_on_any_rank(MPI_Comm comm, const std::function<void()>& action) {
  std::optional<std::string> failure;
  try {
    action();
  } catch (const std::bad_alloc&) {
    failure = "not enough memory";
  } catch (const std::exception& error) {
    failure = error.what();
  }
  return agree_on_text(comm, failure);
}

}  // namespace concord
