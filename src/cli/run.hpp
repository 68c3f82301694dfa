#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoints.hpp"
#include "checkpoint/run_turn.hpp"
#include "cli/summary.hpp"
#include "record/recorder.hpp"
#include "record/row_stream.hpp"
#include "simulation/halved_run.hpp"
#include "simulation/pacing.hpp"
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
      StepObserver* other = nullptr, RunTurn turn = {});

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
  const Model& model() const { return simulation_.plan().model; }

  /// After `go`, which has told nothing then: the run that is to take its place, as this one has
  /// missed the accuracy that was asked for, and costs little.
  std::optional<RunTurn> next() const;

  /// After `go`: how many times the accuracy its error is, as it knows it; infinite where it has
  /// diverged. Where that is more than the best of those before has missed, and there is no next
  /// one, it has told nothing: that one is to be run again.
  bool is_worse() const { return worse_; }

 private:
  bool first() const { return rank_in(comm()) == 0; }
  bool speaks() const { return tells_ == RunTells::all && first(); }
  MPI_Comm comm() const { return simulation_.plan().comm; }
  void add_observers();
  void own(std::unique_ptr<StepObserver> observer);
  void view() const;
  void view_start() const;
  void simulate();
  void stream();
  void log_what_is_set();
  void end_stream(RunStatus status, int exit_code);
  void start();
  void note(const std::string& text) const;
  bool goes_on(double wall_time);
  int conclude();
  const char* run_once_for() const;
  bool is_whole(const RunQuality& quality) const;
  bool may_give_way(const RunQuality& quality) const;
  bool gives_way(const RunQuality& quality);
  bool is_held() const;
  double better_aim(const RunQuality& quality) const;
  std::int64_t steps_left() const;
  void prepare_halving();
  void learn_by_halving(Conclusion& conclusion);
  std::optional<std::vector<double>> errors_by_second_run();
  void require_writable(const std::vector<std::string>& paths) const;
  void report(const Conclusion& conclusion, std::string_view status, const std::string& reason);
  void print_way_on() const;
  void require_sound_end() const;
  void end_failed(const char* error);
  void in_wake(const std::function<void()>& work) const;

  StopRequests requests_;
  SimulationCore simulation_;
  const Settings& settings_;
  Pacing pacing_;
  Checkpoints checkpoints_;
  RunTells tells_;
  RunTurn turn_;
  std::unique_ptr<Recorder> recorder_;
  StreamSets sets_;
  std::unique_ptr<RowStream> stream_;  ///< null: nobody is to watch
  RunSummary summary_;
  RunCosts costs_;
  std::vector<std::unique_ptr<StepObserver>> monitors_;
  std::optional<PassedOutputs> passed_;  ///< for a second run, where that is to tell the error
  std::string not_halved_;               ///< why there is none, where it would
  bool asked_for_end_ = false;
  double waited_ = 0.0;    ///< s, for the clock, before the macro-step
  double next_aim_ = 0.0;  ///< of a run that is to take its place; 0: none
  double missed_ = 0.0;
  bool worse_ = false;
  RunStatus status_ = RunStatus::running;
};

}  // namespace concord
