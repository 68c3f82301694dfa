#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/checkpoints.hpp"
#include "cli/summary.hpp"
#include "record/recorder.hpp"
#include "simulation/simulation_core.hpp"
#include "simulation/stop_requests.hpp"
#include "support/ranks.hpp"

namespace concord {

/// What a run that was stopped before its end gives.
inline constexpr int stopped_early = 3;

/// What a run says on standard output and error: a run among many is told of by others.
enum class RunTells { all, nothing };

/// Whether the process ends with a run that was stopped by a signal: launchers send it to one rank
/// after the other, and late ones are then ignored.
enum class AfterStop { program_ends, program_goes_on };

/// A simulation with its options, monitors, results file and summary, on the ranks of the plan.
class Run {
 public:
  /// Collective on the plan's ranks, as `go` is; both throw InputError and SimulationError, the
  /// same on all of them. `other` sees every accepted macro-step, too.
  Run(std::unique_ptr<SimulationPlan> plan, const std::string& command_line, RunTells tells,
      StepObserver* other = nullptr);

  /// From start to end, once; gives the exit code.
  int go(AfterStop after = AfterStop::program_ends);

  /// What was run has cost, also where `go` has thrown; costs on the first rank.
  const RunSummary& summary() const { return summary_; }
  const RunCosts& costs() const { return costs_; }
  /// Why it has stopped before its end; may be empty.
  const std::string& stop_reason() const { return requests_.reason(); }
  /// The signal that is this reason, or 0.
  int stop_signal() const { return requests_.signal(); }
  /// After `go`.
  RunStatus status() const { return status_; }

 private:
  bool first() const { return rank_in(comm()) == 0; }
  bool speaks() const { return tells_ == RunTells::all && first(); }
  MPI_Comm comm() const { return simulation_.plan().comm; }
  void add_observers();
  void own(std::unique_ptr<StepObserver> observer);
  void view() const;
  void view_start() const;
  void simulate();
  void start();
  void note(const std::string& text) const;
  bool goes_on(double wall_time);
  int conclude();
  void require_writable(const std::vector<std::string>& paths) const;
  void report(const Conclusion* conclusion, std::string_view status, const std::string& reason);
  void print_way_on() const;
  void require_sound_end() const;
  void close_failed();
  void end_failed(const char* error);
  void in_wake(const std::function<void()>& work) const;

  StopRequests requests_;
  SimulationCore simulation_;
  const Settings& settings_;
  Checkpoints checkpoints_;
  RunTells tells_;
  std::unique_ptr<Recorder> recorder_;
  RunSummary summary_;
  RunCosts costs_;
  std::vector<std::unique_ptr<StepObserver>> monitors_;
  bool asked_for_end_ = false;
  RunStatus status_ = RunStatus::running;
};

}  // namespace concord
