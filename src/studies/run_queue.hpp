#pragma once

#include <mpi.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace concord {

/// Shares the ranks of a communicator out in groups, and the runs of a sweep among these.
///
/// Each group begins with a run of its own; whoever has finished one reports it to the first rank
/// and is given the next. Runs take as long as their parameters want, and failed ones end early:
/// given out in fixed turn they would leave groups idle. What comes out does not depend on who
/// computes what: a run has the same number of ranks everywhere. The first rank answers between its
/// own macro-steps (`serve`), so that no rank is lost to bookkeeping.
class RunQueue {
 public:
  /// `runs` are to be done, in this order, on `ranks_per_run` ranks each; those that are left over
  /// stay idle. `finished` gets each run's report on the first rank; nothing more is given out
  /// where it throws, or says false. Throws InputError. Collective, as the destructor is.
  RunQueue(MPI_Comm comm, int ranks_per_run, std::vector<std::size_t> runs,
           std::function<bool(const std::string&)> finished);
  ~RunQueue();
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;

  /// The ranks that compute one run; null on an idle rank.
  MPI_Comm group() const { return group_; }
  /// How many groups there are.
  int groups() const { return groups_; }

  /// This group's first run, if there is one for it.
  std::optional<std::size_t> first() const;

  /// After a run: its report, on the first rank of the group, and the next run, if there is one.
  /// Collective in the group.
  std::optional<std::size_t> next(const std::string& report);

  /// A group can do no more runs: its last report. Collective in the group.
  void leave(const std::string& report);

  /// Answers what other groups ask, without waiting; on the first rank.
  void serve();

  /// Until every group has ended. Throws what `finished` has thrown, on the first rank.
  void finish();

 private:
  enum class Asks : int { next = 1, leave = 2 };
  long long taken(const std::string& report, Asks asks);
  long long asked_of_first(const std::string& report, Asks asks);
  bool serve_one();

  MPI_Comm comm_ = MPI_COMM_NULL, group_ = MPI_COMM_NULL;
  int groups_ = 0;
  std::vector<std::size_t> runs_;
  std::function<bool(const std::string&)> finished_;
  std::size_t given_ = 0;  ///< of `runs_`, on the first rank
  int at_work_ = 0;        ///< groups, the first rank's among them; there
  bool stopped_ = false;
  std::exception_ptr failure_;
};

}  // namespace concord
