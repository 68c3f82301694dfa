#include "support/agreement.hpp"

#include <unistd.h>

#include <chrono>
#include <climits>
#include <cstdio>
#include <exception>
#include <limits>
#include <numeric>

#include "concord/errors.hpp"
#include "support/end_of_all.hpp"
#include "support/exception_words.hpp"
#include "support/foreign_call.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

template <class T>
T reduce(MPI_Comm comm, T value, MPI_Datatype type, MPI_Op operation) {
  const int size = ranks_of(comm);
  if (size > 1) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, type, operation, comm);
  }
  return value;
}

void reduce_all(MPI_Comm comm, std::span<double> values, MPI_Op operation) {
  const int size = ranks_of(comm);
  if (size > 1) {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE,
                  operation, comm);
  }
}

enum Severity { none = 0, simulation = 1, input = 2 };

/// What has failed on this rank.
struct Failure {
  Severity severity = none;
  std::string message;
};

Failure failure_of(const std::exception_ptr& thrown) {
  Failure failure{simulation, in_words(thrown)};
  try {
    std::rethrow_exception(thrown);
  } catch (const InputError&) {
    failure.severity = input;
  } catch (...) {
  }
  return failure;
}

/// The worst failure of all ranks, of the lowest rank that has it, on every rank. Collective.
void throw_worst(MPI_Comm comm, const Failure& own) {
  const int worst = agree_on_largest(comm, static_cast<int>(own.severity));
  if (worst == none) {
    return;
  }
  const auto text =
      agree_on_text(comm, own.severity == worst ? std::optional(own.message) : std::nullopt);
  if (worst == input) {
    throw InputError(*text);
  }
  throw SimulationError(*text);
}

/// Where ranks that have failed wait for the others, which may be waiting for them elsewhere: false
/// where some rank has not come after a few seconds.
bool everyone_comes(MPI_Comm meeting) {
  constexpr std::chrono::seconds patience(5);
  if (meeting == MPI_COMM_NULL) {
    return true;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(meeting, &request);
  const auto began = std::chrono::steady_clock::now();
  int all = 0;
  while (MPI_Test(&request, &all, MPI_STATUS_IGNORE), all == 0) {
    if (std::chrono::steady_clock::now() - began > patience) {
      return false;
    }
    usleep(1000);
  }
  return true;
}

}  // namespace

void end_all(MPI_Comm comm, const std::string& message, int code) {
  const bool alone = ranks_of(comm) == 1;
  std::fflush(stdout);
  std::fprintf(stderr, "concord: error: %s%s\n",
               alone ? "" : ("rank " + std::to_string(rank_in(comm)) + " alone: ").c_str(),
               message.c_str());
  std::fflush(stderr);
  if (!alone) MPI_Abort(comm, code);
  _exit(code);
}

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
  const int rank = rank_in(comm);
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

std::vector<double> known_to_some(MPI_Comm comm, std::vector<double> own) {
  const auto size = static_cast<std::size_t>(agree_on_largest(comm, static_cast<int>(own.size())));
  own.resize(size, -std::numeric_limits<double>::infinity());
  agree_on_largest(comm, own);
  return own;
}

std::string joined_texts(MPI_Comm comm, const std::string& own) {
  const int ranks = ranks_of(comm);
  if (ranks == 1) {
    return own;
  }
  const auto length = static_cast<int>(own.size());
  std::vector<int> lengths(static_cast<std::size_t>(ranks)), offsets(lengths.size());
  MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm);
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
  std::string all(static_cast<std::size_t>(offsets.back() + lengths.back()), ' ');
  MPI_Allgatherv(own.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR,
                 comm);
  return all;
}

void together(MPI_Comm comm, const std::function<void()>& work) {
  Failure own;
  try {
    surviving(work);
  } catch (...) {
    own = failure_of(std::current_exception());
  }
  throw_worst(comm, own);
}

Collective::Collective(MPI_Comm comm) : comm_(comm) {
  const int size = ranks_of(comm);
  if (size > 1) {
    MPI_Comm_dup(comm, &meeting_);
  }
}

Collective::~Collective() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (meeting_ != MPI_COMM_NULL && finalized == 0) {
    MPI_Comm_free(&meeting_);
  }
}

void Collective::operator()(const std::function<void()>& work) const {
  try {
    work();
  } catch (...) {
    const Failure own = failure_of(std::current_exception());
    if (!everyone_comes(meeting_)) {
      end_all(comm_, own.message, own.severity);
    }
    throw_worst(comm_, own);
  }
}

void collectively(MPI_Comm comm, const std::function<void()>& work) { Collective{comm}(work); }

std::optional<std::string> failure_on_any_rank(MPI_Comm comm, const std::function<void()>& action) {
  std::optional<std::string> failure;
  try {
    action();
  } catch (...) {
    failure = in_words(std::current_exception());
  }
  return agree_on_text(comm, failure);
}

}  // namespace concord
