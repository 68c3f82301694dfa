#include "cli/run.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "checkpoint/warm_start.hpp"
#include "cli/effective_settings.hpp"
#include "cli/monitors.hpp"
#include "cli/summary_file.hpp"
#include "cli/trace_file.hpp"
#include "cli/written_files.hpp"
#include "concord/errors.hpp"
#include "files/replaceable.hpp"
#include "record/results_schema.hpp"
#include "settings/model_choices.hpp"
#include "simulation/stop_signals.hpp"
#include "subsystem/code_of_others.hpp"
#include "support/agreement.hpp"
#include "support/foreign_call.hpp"
#include "support/ranks.hpp"

namespace concord {

Run::Run(std::unique_ptr<SimulationPlan> plan, const std::string& command_line, RunTells tells,
         StepObserver* other, RunTurn turn)
    : requests_(plan->comm, plan->settings.time_limit),
      simulation_(std::move(plan)),
      settings_(simulation_.plan().settings),
      pacing_(simulation_.plan().comm, settings_.realtime),
      checkpoints_(
          simulation_, turn,
          [this](Archive& archive) { CONCORD_MEMBERS(archive, summary_, *recorder_, sets_); },
          [this]() -> CheckpointedRows& { return *recorder_; }),
      tells_(tells),
      turn_(turn),
      sets_(simulation_) {
  together(comm(), [&] {
    require_apart({{"-cosim_output", settings_.record.path},
                   {"-cosim_checkpoint", settings_.checkpoint.path},
                   {"-cosim_summary", settings_.summary_file},
                   {"-cosim_trace", settings_.trace_file}},
                  simulation_.plan().model);
  });
  require_writable({settings_.summary_file, settings_.trace_file});
  if (!settings_.trace_file.empty()) {
    simulation_.subsystems().clock().trace(most_traced);
  }
  collectively(comm(), [&] {
    recorder_ = std::make_unique<Recorder>(simulation_, settings_.record.path, command_line);
  });
  add_observers();
  if (other != nullptr) {
    simulation_.observe(*other);
  }
}

int Run::go(AfterStop after) {
  const StopSignals stop_signals;
  const ExitsAreErrors exits_are_errors;
  if (settings_.view) {
    view();
  }
  try {
    collectively(comm(), [&] { simulate(); });
    const int code = conclude();
    end_stream(status_, code);
    if (code == stopped_early && after == AfterStop::program_ends) {
      StopSignals::ignore_late_ones();
    }
    return code;
  } catch (const InputError&) {
    costs_ = costs_of(simulation_);
    if (recorder_->begun()) {
      recorder_->close(RunStatus::failed, costs_, quality_of(simulation_, summary_));
    }
    end_stream(RunStatus::failed, 2);
    throw;
  } catch (const std::exception& error) {
    end_failed(error.what());
    end_stream(RunStatus::failed, 1);
    if (gives_way(quality_of(simulation_, summary_))) {
      checkpoints_.withdraw();
      return 0;
    }
    throw;
  }
}

void Run::add_observers() {
  simulation_.observe(*recorder_);
  simulation_.observe(summary_);
  stream();
  if (settings_.monitor && speaks()) {
    own(std::make_unique<StepMonitor>());
  }
  if (settings_.progress && speaks()) {
    own(std::make_unique<ProgressLine>(settings_.start, settings_.stop, summary_.lateness));
  }
  prepare_halving();
}

/// Beside what a run is not repeated: what it does, it does once.
const char* Run::run_once_for() const {
  const auto outside = [](const SubsystemEntry& entry) { return is_outside(entry.description); };
  return !settings_.checkpoint.start_from.empty() ? "-cosim_restart_as_start"
         : settings_.monitor                      ? "-cosim_monitor"
         : !settings_.stream.variables.empty()    ? "-cosim_stream"
         : settings_.time_limit                   ? "-cosim_time_limit"
         : settings_.realtime.paced()             ? "-cosim_realtime"
         : std::ranges::any_of(simulation_.plan().model.subsystems, outside)
             ? "processes outside (remote:)"
             : nullptr;
}

/// Nothing in the run itself tells its error, or will where a black box jumps or something happens
/// too late; a second one could.
void Run::prepare_halving() {
  const SimulationPlan& plan = simulation_.plan();
  const bool untold = (simulation_.stepper().errors().missing() || plan.network.has_black_boxes() ||
                       simulation_.stepper().events().any()) &&
                      !plan.replicated;
  if (!turn_.repeatable || !is_coupled(plan.model) || !untold) {
    return;
  }
  const char* once = settings_.halving == Halving::none      ? "-cosim_halving none"
                     : !settings_.fmu_calls.empty()          ? "-cosim_fmu_calls"
                     : settings_.checkpoint.writes()         ? "-cosim_checkpoint"
                     : !settings_.checkpoint.restart.empty() ? "-cosim_restart"
                                                             : run_once_for();
  if (once != nullptr) {
    not_halved_ = std::string("not made beside ") + once;
    return;
  }
  simulation_.observe(passed_.emplace());
}

/// -cosim_stream.
void Run::stream() {
  if (settings_.stream.variables.empty()) {
    if (sets_.any()) {
      throw InputError(
          "-cosim_stream_set needs -cosim_stream NAMES, which says what those watch who set");
    }
    return;
  }
  collectively(comm(), [&] { stream_ = std::make_unique<RowStream>(simulation_, sets_); });
  if (first()) {
    note("watch this run with: concord watch '" + stream_->address().text() + "'");
  }
  if (first() && sets_.any() && !stream_->address().is_local()) {
    note(
        "whoever reads the token on its way to another machine may set what -cosim_stream_set "
        "names; a tunnel (ssh -L) to a loopback address encrypts it");
  }
  simulation_.observe(*stream_);
}

/// Beside the results, where no option says where.
void Run::log_what_is_set() {
  together(comm(), [&] {
    if (!sets_.any() || !first()) {
      return;
    }
    const std::string& given = settings_.stream.set_log;
    std::filesystem::path beside = settings_.record.path;
    sets_.keep_log(given.empty() ? beside.replace_extension(".scenario.yaml").string() : given);
  });
}

void Run::end_stream(RunStatus status, int exit_code) {
  if (stream_) {
    stream_->end(to_string(status), exit_code);
  }
}

void Run::own(std::unique_ptr<StepObserver> observer) {
  simulation_.observe(*observer);
  monitors_.push_back(std::move(observer));
}

void Run::view() const {
  const SimulationPlan& plan = simulation_.plan();
  if (speaks()) {
    std::printf("model %s: %zu subsystems, %zu connections, t in [%g, %g] s\n",
                plan.model.name.c_str(), plan.network.n_subsystems(),
                plan.model.connections.size() + plan.model.text_connections.size(), settings_.start,
                settings_.stop);
    print_effective(settings_, plan.model);
    print_paces(plan);
    print_roles(plan);
  }
  simulation_.stepper().coupling().view();
}

void Run::view_start() const {
  const MacroStepper& stepper = simulation_.stepper();
  const std::string loops = stepper.loops().describe();
  if (speaks()) {
    std::printf("%s%s", stepper.coupling().describe_start().c_str(), loops.c_str());
  }
}

void Run::simulate() {
  try {
    if (const auto told = checkpoints_.restart()) {
      note(*told + recorder_->told());
    } else {
      start();
    }
    if (stream_) {
      log_what_is_set();
      stream_->start();
    }
    watch_exits();
    if (const std::string refused =
            pacing_.begin(simulation_.time(), simulation_.subsystems().deadline());
        !refused.empty()) {
      note("-cosim_realtime_lock: the system does not let this be locked: " + refused);
    }
    simulation_.advance_while([&](double wall_time) { return goes_on(wall_time); });
  } catch (const EndOfSimulation& end) {
    asked_for_end_ = true;
    note(end.what());
  }
}

void Run::start() {
  if (const std::string& from = settings_.checkpoint.start_from; !from.empty()) {
    note(begin_from_checkpoint(simulation_, from));
  }
  simulation_.start();
  if (settings_.view) {
    view_start();
  }
  checkpoints_.require_possible();
  recorder_->start();
  checkpoints_.begin();
}

void Run::note(const std::string& text) const {
  if (speaks()) {
    std::fprintf(stderr, "concord: note: %s\n", text.c_str());
  }
}

bool Run::goes_on(double wall_time) {
  if (turn_.most_steps > 0 && summary_.steps > turn_.most_steps) {
    throw SimulationError("more macro-steps than a lower aim should need");
  }
  checkpoints_.look(summary_.steps);
  const bool failed = simulation_.subsystems().fatal();
  const bool on = requests_.go_on(wall_time + waited_, failed, [&] { recorder_->flush(); });
  if (!on && requests_.reason().empty()) {
    simulation_.require_sound_subsystems();
  }
  if (on) {
    waited_ =
        pacing_.keep(simulation_.time(), summary_.lateness, simulation_.subsystems().deadline());
  }
  if (on && stream_) {
    stream_->take_wishes();
  }
  return on;
}

/// After the last macro-step.
int Run::conclude() {
  Conclusion conclusion = conclusion_of(simulation_, summary_);
  costs_ = conclusion.costs;
  if (simulation_.finished()) {
    checkpoints_.complete();
  }
  simulation_.end();
  if (!asked_for_end_) {
    require_sound_end();
  }
  if (!simulation_.finished() && !asked_for_end_) {
    checkpoints_.finish();
  }
  learn_by_halving(conclusion);
  status_ = conclusion.status;
  recorder_->close(conclusion.status, conclusion.costs, conclusion.quality);
  simulation_.forget_observers();
  if (gives_way(conclusion.quality)) {
    checkpoints_.withdraw();
    return 0;
  }
  monitors_.clear();  // the progress line ends before the summary begins
  if (speaks()) {
    print_summary(simulation_, summary_, conclusion, requests_.reason(), requests_.elapsed());
    print_way_on();
  }
  report(conclusion, to_string(conclusion.status), requests_.reason());
  return simulation_.finished() ? 0 : stopped_early;
}

/// After the subsystems have ended: FMUs may exist only once.
void Run::learn_by_halving(Conclusion& conclusion) {
  if (!simulation_.stepper().errors().missing()) return;
  if (passed_ && simulation_.finished() && !asked_for_end_) {
    recorder_->flush();
    if (const auto errors = errors_by_second_run()) {
      simulation_.learn(*errors);
      judge(simulation_, summary_, conclusion);
    }
  }
  if (!not_halved_.empty()) {
    conclusion.quality.no_estimate += " (" + not_halved_ + ")";
  }
}

/// Nothing where it is not made, or does not reach the stop: `not_halved_` then says why.
std::optional<std::vector<double>> Run::errors_by_second_run() {
  constexpr double longest = 60.0, at_most = 5.0 * longest;  // s of wall time
  if (agree_on_largest(comm(), requests_.elapsed()) > longest) {
    not_halved_ = "not made by itself behind a run of more than a minute";
    return std::nullopt;
  }
  StopRequests limit(comm(), at_most);
  std::optional<std::vector<double>> errors;
  try {
    collectively(comm(), [&] {
      errors = errors_by_halving(simulation_.plan(), *passed_, [&](double wall_time) {
        return limit.go_on(wall_time, false, [] {});
      });
    });
  } catch (const std::exception& error) {
    not_halved_ = std::string("which has failed: ") + error.what();
  }
  requests_.go_on(0.0, false, [] {});  // signals that have come in the meantime
  return errors;
}

/// Macro-steps that runs from here on may take until one reaches the accuracy: what takes a few
/// seconds where subsystems are small.
std::int64_t Run::steps_left() const {
  constexpr double most_work = 4e5;  // macro-steps of subsystems, of all runs
  const auto subsystems = static_cast<double>(simulation_.plan().network.n_subsystems());
  return std::llround(most_work / subsystems) - turn_.steps_before - summary_.steps;
}

bool Run::is_whole(const RunQuality& quality) const {
  return (simulation_.finished() || !quality.diverged.empty()) && !asked_for_end_;
}

/// Whether a run from the start may take the place of this one, which is over: nobody is told of a
/// run twice.
bool Run::may_give_way(const RunQuality& quality) const {
  return run_once_for() == nullptr && is_whole(quality) && turn_.repeatable && !turn_.is_best() &&
         settings_.by_accuracy && settings_.adapt == Adapt::predictor;
}

/// To another one, to which it may leave the telling.
bool Run::gives_way(const RunQuality& quality) {
  missed_ = !quality.diverged.empty()
                ? std::numeric_limits<double>::infinity()
                : std::max(quality.of_range.value_or(0.0) / settings_.accuracy,
                           1.0 / quality.deciding_share);
  next_aim_ = better_aim(quality);
  worse_ = next_aim_ == 0.0 && is_whole(quality) && missed_ > turn_.least_missed;
  return next_aim_ > 0.0 || worse_;
}

/// Whether a lower aim is in vain: what connections hold is of first order in the macro-step, and
/// no step control sees it where nothing else follows from it.
bool Run::is_held() const {
  constexpr double hardly_less = 0.5;
  return simulation_.plan().network.has_held() &&
         (turn_.largest_step > 0.0 || missed_ > hardly_less * turn_.least_missed);
}

/// The share of the accuracy that a run from the start should aim at, where this one has missed it
/// and few macro-steps may reach it; else 0. An error that is far above the accuracy is not yet in
/// proportion to it: what it says of the share is believed to a hundredth. What the model itself
/// holds is of first order, so that it is known how many macro-steps it needs.
double Run::better_aim(const RunQuality& quality) const {
  constexpr double least_share = 1e-2, with_room = 0.5, after_divergence = 0.1;
  constexpr double least_aim = 1e-12;  // of ranges: below, rounding that adds up decides
  const bool diverged = !quality.diverged.empty();
  if (!may_give_way(quality) || !(missed_ > 1.0)) {
    return 0.0;
  }
  const bool first_order = simulation_.plan().network.has_held() && !diverged;
  const double times = first_order ? missed_ / with_room : 1.0;
  const double share = diverged ? after_divergence : std::max(with_room / missed_, least_share);
  const double aim = turn_.aim * share;
  const bool worth_it =
      times * static_cast<double>(summary_.steps) <= static_cast<double>(steps_left()) &&
      (is_held() || aim * settings_.accuracy >= least_aim);
  return worth_it ? aim : 0.0;
}

/// At first order macro-steps are as many times more as the aim is lower.
std::optional<RunTurn> Run::next() const {
  constexpr double at_most = 2.0, few = 1000.0;
  if (next_aim_ == 0.0) {
    return std::nullopt;
  }
  RunTurn next = turn_;
  const double share = next_aim_ / turn_.aim;
  const double expected = few + at_most * static_cast<double>(summary_.steps) / share;
  next.most_steps = std::min<std::int64_t>(std::llround(expected), steps_left());
  next.steps_before += summary_.steps;
  if (turn_.best_aim == 0.0 || missed_ < turn_.least_missed) {
    next.least_missed = missed_;
    next.best_aim = turn_.aim;
    next.best_largest_step = turn_.largest_step;
  }
  if (is_held()) {
    next.largest_step = share * summary_.largest_step;
  } else {
    next.aim = next_aim_;
  }
  return next;
}

/// Files that can't be written are told before the first macro-step; what they hold stays.
void Run::require_writable(const std::vector<std::string>& paths) const {
  together(comm(), [&] {
    for (const std::string& path : paths) {
      if (!first() || path.empty()) {
        continue;
      }
      require_replaceable(path, FileContent::text);
      const bool there = std::filesystem::exists(path);
      if (!std::ofstream(path, std::ios::app)) {
        throw InputError("cannot write '" + path + "': " + std::strerror(errno) +
                         "; choose another file with -cosim_summary, -cosim_trace");
      }
      if (!there) {
        std::filesystem::remove(path);
      }
    }
  });
}

/// -cosim_summary and -cosim_trace. Collective.
void Run::report(const Conclusion& conclusion, std::string_view status, const std::string& reason) {
  together(comm(), [&] {
    if (first() && !settings_.summary_file.empty()) {
      write_summary_file(settings_.summary_file,
                         {simulation_, summary_, conclusion, costs_, std::string(status), reason,
                          requests_.elapsed()});
    }
  });
  if (!settings_.trace_file.empty() && simulation_.has_parts()) {
    collectively(comm(), [&] { write_trace_file(settings_.trace_file, simulation_); });
  }
}

void Run::print_way_on() const {
  if (checkpoints_.wanted() && !simulation_.finished()) {
    std::printf("  checkpoint            %s, t = %.9g s: go on with -cosim_restart\n",
                settings_.checkpoint.path.c_str(), checkpoints_.time());
  }
}

void Run::require_sound_end() const {
  if (const auto failure = agree_on_text(comm(), simulation_.subsystems().failure())) {
    throw SimulationError(*failure);
  }
}

/// The run's own error is what counts: what goes wrong in its wake is told beside it.
void Run::end_failed(const char* error) {
  costs_ = costs_of(simulation_);
  in_wake([&] { checkpoints_.keep(); });
  Conclusion conclusion;
  in_wake([&] { judge(simulation_, summary_, conclusion); });
  in_wake([&] { recorder_->close(RunStatus::failed, costs_, conclusion.quality); });
  in_wake([&] { report(conclusion, to_string(RunStatus::failed), error); });
}

void Run::in_wake(const std::function<void()>& work) const {
  try {
    work();
  } catch (const std::exception& error) {
    if (speaks()) {
      std::fprintf(stderr, "concord: warning: %s\n", error.what());
    }
  }
}

}  // namespace concord
