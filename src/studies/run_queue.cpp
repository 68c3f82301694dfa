#include "studies/run_queue.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "concord/errors.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

constexpr int answer_tag = 0;  // beyond the values of Asks
constexpr long long nothing_left = -1;

}  // namespace

RunQueue::RunQueue(MPI_Comm comm, int ranks_per_run, std::vector<std::size_t> runs,
                   std::function<bool(const std::string&)> finished)
    : runs_(std::move(runs)), finished_(std::move(finished)) {
  const int ranks = ranks_of(comm), rank = rank_in(comm);
  if (ranks_per_run < 1 || ranks_per_run > ranks)
    throw InputError("--ranks_per_run " + std::to_string(ranks_per_run) + ": there " +
                     (ranks == 1 ? "is 1 rank" : "are " + std::to_string(ranks) + " ranks") +
                     "; give from 1 to as many as mpirun -n has started");
  MPI_Comm_dup(comm, &comm_);
  groups_ = static_cast<int>(std::min(static_cast<std::size_t>(ranks / ranks_per_run),
                                      std::max<std::size_t>(runs_.size(), 1)));
  const int group = rank / ranks_per_run;
  MPI_Comm_split(comm_, group < groups_ ? group : MPI_UNDEFINED, rank, &group_);
  given_ = std::min(runs_.size(), static_cast<std::size_t>(groups_));
  at_work_ = static_cast<int>(given_);
}

RunQueue::~RunQueue() {
  if (group_ != MPI_COMM_NULL) MPI_Comm_free(&group_);
  MPI_Comm_free(&comm_);
}

std::optional<std::size_t> RunQueue::first() const {
  if (group_ == MPI_COMM_NULL) return std::nullopt;
  const auto place = static_cast<std::size_t>(rank_in(comm_) / ranks_of(group_));
  return place < runs_.size() ? std::optional(runs_[place]) : std::nullopt;
}

/// On the first rank: what the group that reports is to do now.
long long RunQueue::taken(const std::string& report, Asks asks) {
  try {
    if (!failure_ && !finished_(report)) stopped_ = true;
  } catch (...) {
    stopped_ = true;
    failure_ = std::current_exception();
  }
  if (asks == Asks::next && !stopped_ && given_ < runs_.size())
    return static_cast<long long>(runs_[given_++]);
  --at_work_;
  return nothing_left;
}

/// From the first rank of a group.
long long RunQueue::asked_of_first(const std::string& report, Asks asks) {
  if (rank_in(comm_) == 0) return taken(report, asks);
  MPI_Send(report.data(), static_cast<int>(report.size()), MPI_CHAR, 0, static_cast<int>(asks),
           comm_);
  long long answer = nothing_left;
  MPI_Recv(&answer, 1, MPI_LONG_LONG, 0, answer_tag, comm_, MPI_STATUS_IGNORE);
  return answer;
}

std::optional<std::size_t> RunQueue::next(const std::string& report) {
  long long answer = nothing_left;
  if (rank_in(group_) == 0) answer = asked_of_first(report, Asks::next);
  MPI_Bcast(&answer, 1, MPI_LONG_LONG, 0, group_);
  return answer == nothing_left ? std::nullopt : std::optional(static_cast<std::size_t>(answer));
}

void RunQueue::leave(const std::string& report) {
  if (rank_in(group_) == 0) asked_of_first(report, Asks::leave);
}

bool RunQueue::serve_one() {
  int there = 0;
  MPI_Status status;
  for (const Asks asks : {Asks::next, Asks::leave}) {
    MPI_Iprobe(MPI_ANY_SOURCE, static_cast<int>(asks), comm_, &there, &status);
    if (there == 0) continue;
    int size = 0;
    MPI_Get_count(&status, MPI_CHAR, &size);
    std::string report(static_cast<std::size_t>(size), '\0');
    MPI_Recv(report.data(), size, MPI_CHAR, status.MPI_SOURCE, static_cast<int>(asks), comm_,
             MPI_STATUS_IGNORE);
    const long long answer = taken(report, asks);
    MPI_Send(&answer, 1, MPI_LONG_LONG, status.MPI_SOURCE, answer_tag, comm_);
    return true;
  }
  return false;
}

void RunQueue::serve() {
  while (serve_one()) {
  }
}

void RunQueue::finish() {
  constexpr auto pause = std::chrono::milliseconds(1);
  if (rank_in(comm_) != 0) return;
  while (at_work_ > 0)
    if (!serve_one()) std::this_thread::sleep_for(pause);
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace concord
