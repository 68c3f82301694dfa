#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>

#include "cli/commands.hpp"
#include "cli/effective_settings.hpp"
#include "cli/monitors.hpp"
#include "cli/stop_signals.hpp"
#include "concord/errors.hpp"
#include "network/units.hpp"
#include "record/recorder.hpp"
#include "simulation/macro_step.hpp"
#include "support/agreement.hpp"
#include "support/foreign_call.hpp"
#include "support/log_events.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int stopped_early = 3;

// Seconds of wall time: rows that only memory holds are lost when the process is killed. The clock
// is read where macro-steps have taken `clock_interval`; flushes take a fiftieth of the time at
// most.
constexpr double clock_interval = 0.1;
constexpr double flush_interval = 2.0;
constexpr double most_time_of_flushes = 0.02;

/// What rank 0's clock and any rank's signals ask for after a macro-step.
/// Above `stop_on_signal` by the signal's number.
enum Request : int {
  go_on = 0,
  flush_now = 1,
  out_of_time = 2,
  stop_on_signal = 16,
  subsystem_failed = 1024
};

class Run {
 public:
  Run(Model model, const std::string& command_line)
      : model_(std::move(model)),
        settings_(read_settings(model_)),
        network_(model_),
        share_(shared_out()),
        whole_(network_, 1),
        replicated_(settings_.method.solve == Solve::monolithic) {
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank_);
    announce();
    together(PETSC_COMM_WORLD, [&] {
      subsystems_ = std::make_unique<RankNetwork>(replicated_ ? PETSC_COMM_SELF : PETSC_COMM_WORLD,
                                                  model_, network_, replicated_ ? whole_ : share_,
                                                  settings_.subsystems);
    });
    collectively(PETSC_COMM_WORLD, [&] {
      make_stepper();
      recorder_ = std::make_unique<Recorder>(PETSC_COMM_WORLD, model_, settings_, *subsystems_,
                                             share_, stepper_->coupling(), command_line);
    });
    add_observers();
  }

  int go() {
    const StopSignals stop_signals;
    const ExitsAreErrors exits_are_errors;
    if (settings_.view) {
      view();
    }
    try {
      collectively(PETSC_COMM_WORLD, [&] { simulate(); });
      return conclude();
    } catch (const InputError&) {
      if (recorder_->begun()) {
        recorder_->close(RunStatus::failed, quality());
      }
      throw;
    } catch (const std::exception&) {
      recorder_->close(RunStatus::failed, quality());
      throw;
    }
  }

 private:
  static int size_of(MPI_Comm comm) {
    int size = 1;
    MPI_Comm_size(comm, &size);
    return size;
  }

  /// Groups of a hierarchical schedule stay together.
  Partition shared_out() const {
    const int ranks = size_of(PETSC_COMM_WORLD);
    return settings_.method.schedule == Schedule::hierarchical
               ? Partition(settings_.method.groups, schedule_problem(model_, network_).effort,
                           ranks)
               : Partition(network_, ranks);
  }

  void simulate() {
    try {
      in_step([&] { stepper_->start(); });
      if (settings_.view) {
        const std::string loops = stepper_->loops().describe();
        if (rank_ == 0) {
          std::printf("%s%s", stepper_->coupling().describe_start().c_str(), loops.c_str());
        }
      }
      recorder_->start(stepper_->point());
      watch_exits();
      advance_to_stop();
    } catch (const EndOfSimulation& end) {
      ended_ = end.what();
      if (rank_ == 0) {
        std::fprintf(stderr, "concord: note: %s\n", end.what());
      }
    } catch (const PetscFailure& failure) {
      throw SimulationError(with_remedy(failure));
    }
  }

  /// Where each rank computes the whole (monolithic), only one of them may fail.
  void in_step(const std::function<void()>& work) {
    if (replicated_) {
      together(PETSC_COMM_WORLD, work);
    } else {
      work();
    }
  }

  /// After the last macro-step.
  int conclude() {
    const bool completed = stepper_->finished();
    const RunQuality known = quality();
    const auto balance = largest_balance_error();
    const auto errors = worst_errors();
    end_subsystems();
    const RunStatus status = !completed                ? RunStatus::interrupted
                             : !known.diverged.empty() ? RunStatus::diverged
                                                       : RunStatus::completed;
    recorder_->close(status, known);
    observers_.clear();
    owned_.clear();  // the progress line ends before the summary begins
    if (rank_ == 0) {
      print_summary(status, known, errors, balance);
    }
    return completed ? 0 : stopped_early;
  }

  void end_subsystems() {
    subsystems_->end();
    if (!ended_.empty()) {
      return;
    }
    if (const auto failure = agree_on_text(PETSC_COMM_WORLD, subsystems_->failure())) {
      throw SimulationError(*failure);
    }
  }

  static std::string with_remedy(const PetscFailure& failure) {
    return std::string(failure.what()) + "; look at the -snes_, -ksp_ and -pc_ options";
  }

  /// PETSc refuses options it cannot use (an unknown -snes_type) while objects are made.
  void make_stepper() {
    try {
      stepper_ = std::make_unique<MacroStepper>(settings_, *subsystems_);
    } catch (const PetscFailure& failure) {
      throw InputError(std::string(failure.what()) +
                       "; look at the -snes_, -ksp_ and -pc_ options");
    }
  }

  /// What is about to be started, which may take a while.
  void announce() const {
    if (rank_ != 0 || !settings_.progress) {
      return;
    }
    const std::size_t count = network_.n_subsystems();
    const int ranks = size_of(PETSC_COMM_WORLD);
    std::fprintf(stderr, "%s: %s, %zu subsystem%s on %d rank%s, t from %g to %g s\n",
                 model_.name.c_str(), settings_.method.type.c_str(), count, count == 1 ? "" : "s",
                 ranks, ranks == 1 ? "" : "s", settings_.start, settings_.stop);
  }

  void add_observers() {
    observers_.push_back(recorder_.get());
    observers_.push_back(&summary_);
    if (settings_.monitor && rank_ == 0) {
      owned_.push_back(std::make_unique<StepMonitor>());
      observers_.push_back(owned_.back().get());
    }
    if (settings_.progress && rank_ == 0) {
      owned_.push_back(std::make_unique<ProgressLine>(settings_.start, settings_.stop));
      observers_.push_back(owned_.back().get());
    }
  }

  void advance_to_stop() {
    while (!stepper_->finished()) {
      std::span<const StepReport> reports;
      in_step([&] { reports = stepper_->advance(); });
      for (const StepReport& report : reports) {
        busy_ += report.wall_time;
        for (StepObserver* observer : observers_) {
          observer->step_accepted(report);
        }
      }
      const int request = agree_on_largest(PETSC_COMM_WORLD, own_request());
      if (request == subsystem_failed) {
        refuse_to_go_on();
      }
      if (request == flush_now) {
        flush();
      }
      if (request >= out_of_time) {
        stop_reason_ = reason_of(request);
        return;
      }
    }
  }

  /// A subsystem has failed after its macro-step was accepted, where it was only read.
  [[noreturn]] void refuse_to_go_on() const {
    const auto own = subsystems_->fatal() ? subsystems_->failure() : std::nullopt;
    throw SimulationError(*agree_on_text(PETSC_COMM_WORLD, own));
  }

  void flush() {
    const auto began = Clock::now();
    recorder_->flush();
    flushed_ = Clock::now();
    flush_time_ = std::chrono::duration<double>(flushed_ - began).count();
  }

  std::string reason_of(int request) const {
    if (request > stop_on_signal) {
      const int number = request - stop_on_signal;
      return "signal " + std::to_string(number) + " (" + strsignal(number) + ")";
    }
    char text[64];
    std::snprintf(text, sizeof text, "-cosim_time_limit, %g s", settings_.time_limit.value_or(0.0));
    return text;
  }

  int own_request() {
    if (subsystems_->fatal()) {
      return subsystem_failed;
    }
    if (const int number = StopSignals::received(); number != 0) {
      return stop_on_signal + number;
    }
    if (rank_ != 0 || (busy_ < clock_interval && !settings_.time_limit)) {
      return go_on;
    }
    busy_ = 0.0;
    const auto now = Clock::now();
    if (settings_.time_limit &&
        std::chrono::duration<double>(now - began_).count() > *settings_.time_limit) {
      return out_of_time;
    }
    const double due = std::max(flush_interval, flush_time_ / most_time_of_flushes);
    return std::chrono::duration<double>(now - flushed_).count() > due ? flush_now : go_on;
  }

  void view() const {
    if (rank_ == 0) {
      std::printf("model %s: %zu subsystems, %zu connections, t in [%g, %g] s\n",
                  model_.name.c_str(), network_.n_subsystems(), model_.connections.size(),
                  settings_.start, settings_.stop);
      print_effective(settings_, model_);
      print_roles();
    }
    stepper_->coupling().view();
  }

  /// What the iteration integrates really, where it cannot integrate everything.
  void print_roles() const {
    const IterationRoles roles = iteration_roles(model_);
    if (settings_.method.solve != Solve::snes || roles.estimated.empty()) {
      return;
    }
    std::printf("  iterated              %s\n",
                roles.iterated.empty() ? "none" : joined(roles.iterated).c_str());
    std::printf("  by estimators         %s (no rollback; integrated once per macro-step)\n",
                joined(roles.estimated).c_str());
  }

  /// In words, of all connections; nothing where it is not measured. Collective.
  std::optional<std::string> largest_balance_error() const {
    const BalanceErrors* balance = stepper_->coupling().balance();
    if (balance == nullptr) {
      return std::nullopt;
    }
    double largest = -1.0;
    std::string what;
    for (std::size_t k = 0; k < subsystems_->n_own(); ++k) {
      const IndexRange local = subsystems_->inputs_of(k);
      const IndexRange global = network_.inputs_of(subsystems_->global(k));
      for (std::size_t i = 0; i < local.size(); ++i) {
        const double error = balance->largest()[local.first + i];
        const auto connection =
            error > largest ? network_.connection(global.first + i) : std::nullopt;
        if (connection) {
          largest = error;
          what = integral_unit(subsystems_->own(k).description().inputs[i].unit) + " of " +
                 *connection;
        }
      }
    }
    const double of_all = agree_on_largest(PETSC_COMM_WORLD, largest);
    const bool here = largest == of_all && !what.empty();
    char number[32];
    std::snprintf(number, sizeof number, "%.3e ", largest);
    return agree_on_text(PETSC_COMM_WORLD,
                         here ? std::optional<std::string>(number + what) : std::nullopt);
  }

  /// Collective.
  RunQuality quality() const {
    const ErrorAccount& errors = stepper_->errors();
    RunQuality known;
    known.output_errors = errors.relative_errors();
    known.no_estimate = errors.missing().value_or("");
    known.diverged = errors.diverged().value_or("");
    known.at_noise = summary_.at_noise;
    known.events = events_passed();
    if (const auto worst = worst_of(known.output_errors)) {
      known.worst = worst->second;
      known.worst_output = worst->first;
    }
    return known;
  }

  std::int32_t events_passed() const {
    const auto& events = settings_.events;
    const double time = stepper_->point().time;
    return static_cast<std::int32_t>(std::count_if(events.begin(), events.end(), [&](double event) {
      return event > settings_.start && event <= time;
    }));
  }

  using NamedError = std::pair<std::string, double>;

  /// Of all ranks' outputs that with the largest error; nothing where none is known. Collective.
  std::optional<NamedError> worst_of(std::span<const double> errors) const {
    double largest = -1.0;
    std::optional<std::string> name;
    for (std::size_t k = 0; k < subsystems_->n_own(); ++k) {
      const IndexRange local = subsystems_->outputs_of(k);
      const IndexRange global = network_.outputs_of(subsystems_->global(k));
      for (std::size_t o = 0; o < local.size(); ++o) {
        if (errors[local.first + o] > largest) {
          largest = errors[local.first + o];
          name = network_.output_names()[global.first + o];
        }
      }
    }
    const double of_all = agree_on_largest(PETSC_COMM_WORLD, largest);
    const auto speaker = largest == of_all ? name : std::nullopt;
    const auto worst = agree_on_text(PETSC_COMM_WORLD, speaker);
    return worst ? std::optional(NamedError{*worst, of_all}) : std::nullopt;
  }

  /// The outputs with the largest estimated errors, the worst first. Collective.
  std::vector<NamedError> worst_errors() const {
    constexpr int shown = 3;
    std::vector<double> left = stepper_->errors().relative_errors();
    std::vector<NamedError> worst;
    for (int i = 0; i < shown; ++i) {
      const auto next = worst_of(left);
      if (!next) {
        break;
      }
      worst.push_back(*next);
      forget(next->first, left);
    }
    return worst;
  }

  void forget(const std::string& output, std::vector<double>& errors) const {
    for (std::size_t k = 0; k < subsystems_->n_own(); ++k) {
      const IndexRange local = subsystems_->outputs_of(k);
      const std::size_t global = network_.outputs_of(subsystems_->global(k)).first;
      for (std::size_t o = 0; o < local.size(); ++o) {
        if (network_.output_names()[global + o] == output) {
          errors[local.first + o] = std::numeric_limits<double>::quiet_NaN();
        }
      }
    }
  }

  static void print_estimate(const RunQuality& known, std::span<const NamedError> errors) {
    if (!known.no_estimate.empty()) {
      std::printf("  estimated error       no estimate: %s\n", known.no_estimate.c_str());
      return;
    }
    std::string text;
    for (const auto& [name, error] : errors) {
      char number[32];
      std::snprintf(number, sizeof number, "%.2g", error);
      text += (text.empty() ? "" : ", ") + name + " " + number;
    }
    std::printf("  estimated error       %s (of the coupling, relative to each signal's size)\n",
                text.empty() ? "none: no outputs" : text.c_str());
  }

  static const char* word(RunStatus status) {
    return status == RunStatus::completed  ? "completed"
           : status == RunStatus::diverged ? "diverged, and went on to its end"
                                           : "stopped early";
  }

  void print_summary(RunStatus status, const RunQuality& known, std::span<const NamedError> errors,
                     const std::optional<std::string>& balance) const {
    const double wall = std::chrono::duration<double>(Clock::now() - began_).count();
    const auto steps = static_cast<double>(std::max<std::int64_t>(summary_.steps, 1));
    std::printf("%s: %s at t = %.9g s%s%s\n", model_.name.c_str(), word(status),
                stepper_->point().time, stop_reason_.empty() ? "" : ": ", stop_reason_.c_str());
    if (!known.diverged.empty()) {
      std::printf("  diverged              %s\n", known.diverged.c_str());
    }
    std::printf("  method                %s\n", settings_.method.type.c_str());
    print_roles();
    std::printf("  macro-steps           %lld (%lld rejected), size %.6g to %.6g s\n",
                static_cast<long long>(summary_.steps), static_cast<long long>(summary_.rejections),
                summary_.smallest_step, summary_.largest_step);
    std::printf("  coupling evaluations  %lld, %.3f per macro-step\n",
                static_cast<long long>(summary_.evaluations),
                static_cast<double>(summary_.evaluations) / steps);
    print_estimate(known, errors);
    if (known.events > 0) {
      std::printf("  events                %d\n", known.events);
    }
    if (summary_.at_noise > 0) {
      std::printf(
          "  at noise              %lld macro-steps stopped above the coupling tolerance, at the "
          "noise of integrators and rounding, at most %.3g times the tolerance\n",
          static_cast<long long>(summary_.at_noise), summary_.noise);
    }
    print_without_effect(settings_);
    print_unread_options();
    for (const std::string& note : model_.notes) {
      std::printf("  note                  %s\n", note.c_str());
    }
    if (balance) {
      std::printf("  balance error         at most %s\n", balance->c_str());
    }
    std::printf("  wall time             %.3f s on %d rank%s\n", wall, size_of(PETSC_COMM_WORLD),
                size_of(PETSC_COMM_WORLD) == 1 ? "" : "s");
    std::printf("  results               %s\n", settings_.record.path.c_str());
    std::fflush(stdout);
  }

  Model model_;
  Settings settings_;
  Network network_;
  Partition share_;
  Partition whole_;
  bool replicated_;
  int rank_ = 0;
  std::unique_ptr<RankNetwork> subsystems_;
  std::unique_ptr<MacroStepper> stepper_;
  std::unique_ptr<Recorder> recorder_;
  RunSummary summary_;
  std::vector<std::unique_ptr<StepObserver>> owned_;
  std::vector<StepObserver*> observers_;
  std::string stop_reason_;
  std::string ended_;  ///< what a subsystem that asked for the end has said; empty: none did
  Clock::time_point began_ = Clock::now();
  Clock::time_point flushed_ = began_;
  double flush_time_ = 0.0;  ///< s, of the last one
  double busy_ = 0.0;        ///< s in macro-steps since the clock was read
};

}  // namespace

int run_command(Model model, const std::string& command_line) {
  return Run(std::move(model), command_line).go();
}

}  // namespace concord
