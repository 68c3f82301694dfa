#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>

#include "checkpoint/checkpoints.hpp"
#include "checkpoint/warm_start.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/effective_settings.hpp"
#include "cli/lone_output.hpp"
#include "cli/model_command.hpp"
#include "cli/monitors.hpp"
#include "cli/summary.hpp"
#include "cli/summary_file.hpp"
#include "cli/trace_file.hpp"
#include "concord/errors.hpp"
#include "record/recorder.hpp"
#include "record/results_schema.hpp"
#include "settings/unread_options.hpp"
#include "simulation/step_listener.hpp"
#include "simulation/stop_requests.hpp"
#include "simulation/stop_signals.hpp"
#include "support/agreement.hpp"
#include "support/foreign_call.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

constexpr int stopped_early = 3;

/// What is about to be started, which may take a while.
std::unique_ptr<SimulationPlan> announced(std::unique_ptr<SimulationPlan> plan) {
  if (rank_in(plan->comm) == 0 && plan->settings.progress) {
    const int ranks = ranks_of(plan->comm);
    const std::size_t count = plan->network.n_subsystems();
    std::fprintf(stderr, "%s: %s, %zu subsystem%s on %d rank%s, t from %g to %g s\n",
                 plan->model.name.c_str(), plan->settings.method.type.c_str(), count,
                 count == 1 ? "" : "s", ranks, ranks == 1 ? "" : "s", plan->settings.start,
                 plan->settings.stop);
  }
  return plan;
}

/// `concord run`: a simulation with its options, monitors, results file and summary.
class Run {
 public:
  Run(std::unique_ptr<SimulationPlan> plan, const std::string& command_line,
      const RunManner& manner)
      : manner_(manner),
        hang_watch_(plan->settings.hang_limit),
        requests_(plan->comm, plan->settings.time_limit),
        simulation_(std::move(plan)),
        settings_(simulation_.plan().settings),
        checkpoints_(
            simulation_, [this](Archive& archive) { archive(summary_, *recorder_); },
            [this] { recorder_->flush(); }),
        speaks_(rank_in(PETSC_COMM_WORLD) == 0) {
    require_writable({settings_.summary_file, settings_.trace_file});
    if (!settings_.trace_file.empty()) {
      simulation_.subsystems().clock().trace(most_traced);
    }
    collectively(PETSC_COMM_WORLD, [&] {
      recorder_ = std::make_unique<Recorder>(simulation_, settings_.record.path, command_line);
    });
    add_observers();
  }

  RunEnding go() {
    StopSignals stop_signals;
    const ExitsAreErrors exits_are_errors;
    if (settings_.view) {
      view();
    }
    try {
      collectively(PETSC_COMM_WORLD, [&] { simulate(); });
      RunEnding ending = conclude();
      if (!manner_.goes_on && !simulation_.finished()) {
        stop_signals.ignore_late_ones();
      }
      return ending;
    } catch (const InputError&) {
      if (recorder_->begun()) {
        close_failed(costs_of(simulation_));
      }
      throw;
    } catch (const std::exception& error) {
      end_failed(error.what());
      throw;
    }
  }

 private:
  void add_observers() {
    simulation_.observe(*recorder_);
    simulation_.observe(summary_);
    if (settings_.monitor && speaks_) {
      own(std::make_unique<StepMonitor>());
    }
    if (manner_.step) {
      own(std::make_unique<StepListener>(manner_.step));
    }
    if (settings_.progress && speaks_) {
      own(std::make_unique<ProgressLine>(settings_.start, settings_.stop));
    }
  }

  void own(std::unique_ptr<StepObserver> observer) {
    simulation_.observe(*observer);
    monitors_.push_back(std::move(observer));
  }

  void view() const {
    const SimulationPlan& plan = simulation_.plan();
    if (speaks_) {
      std::printf("model %s: %zu subsystems, %zu connections, t in [%g, %g] s\n",
                  plan.model.name.c_str(), plan.network.n_subsystems(),
                  plan.model.connections.size(), settings_.start, settings_.stop);
      print_effective(settings_, plan.model);
      print_roles(plan);
    }
    simulation_.stepper().coupling().view();
  }

  void view_start() const {
    const MacroStepper& stepper = simulation_.stepper();
    const std::string loops = stepper.loops().describe();
    if (speaks_) {
      std::printf("%s%s", stepper.coupling().describe_start().c_str(), loops.c_str());
    }
  }

  void simulate() {
    try {
      if (const auto told = checkpoints_.restart()) {
        note(*told + recorder_->told());
      } else {
        start();
      }
      watch_exits();
      if (manner_.begins) {
        manner_.begins(simulation_.time(), settings_.stop);
      }
      simulation_.advance_while([&](double wall_time) { return goes_on(wall_time); });
    } catch (const EndOfSimulation& end) {
      asked_for_end_ = true;
      note(end.what());
    }
  }

  void start() {
    if (const std::string& from = settings_.checkpoint.start_from; !from.empty()) {
      note(begin_from_checkpoint(simulation_, from));
    }
    simulation_.start();
    if (settings_.view) {
      view_start();
    }
    recorder_->start();
    if (checkpoints_.wanted()) {
      checkpoints_.begin();
    }
  }

  void note(const std::string& text) const {
    if (speaks_) {
      std::fprintf(stderr, "concord: note: %s\n", text.c_str());
    }
  }

  bool goes_on(double wall_time) {
    checkpoints_.look(summary_.steps);
    const bool failed = simulation_.subsystems().fatal();
    const bool on = requests_.go_on(wall_time, failed, [&] { recorder_->flush(); });
    if (!on && requests_.reason().empty()) {
      simulation_.require_sound_subsystems();
    }
    return on;
  }

  /// After the last macro-step.
  RunEnding conclude() {
    const Conclusion conclusion = conclusion_of(simulation_, summary_);
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
    recorder_->close(conclusion.status, conclusion.costs, conclusion.quality);
    simulation_.forget_observers();
    monitors_.clear();  // the progress line ends before the summary begins
    if (speaks_ && manner_.summary) {
      print_summary(simulation_, summary_, conclusion, requests_.reason(), requests_.elapsed());
      print_way_on();
    }
    report(&conclusion, conclusion.costs, to_string(conclusion.status), requests_.reason());
    return {.status = std::string(to_string(conclusion.status)),
            .reason = requests_.reason(),
            .signal = requests_.signal(),
            .without_effect = options_left_unread()};
  }

  /// Files that can't be written are told before the first macro-step; what they hold stays.
  void require_writable(const std::vector<std::string>& paths) const {
    together(PETSC_COMM_WORLD, [&] {
      for (const std::string& path : paths) {
        if (!speaks_ || path.empty()) {
          continue;
        }
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
  void report(const Conclusion* conclusion, const RunCosts& costs, std::string_view status,
              const std::string& reason) {
    together(PETSC_COMM_WORLD, [&] {
      if (speaks_ && !settings_.summary_file.empty()) {
        write_summary_file(settings_.summary_file,
                           {simulation_, summary_, conclusion, costs, std::string(status), reason,
                            requests_.elapsed()});
      }
    });
    if (!settings_.trace_file.empty()) {
      collectively(PETSC_COMM_WORLD, [&] { write_trace_file(settings_.trace_file, simulation_); });
    }
  }

  void print_way_on() const {
    if (checkpoints_.wanted() && !simulation_.finished()) {
      std::printf("  checkpoint            %s, t = %.9g s: go on with -cosim_restart\n",
                  settings_.checkpoint.path.c_str(), checkpoints_.time());
    }
  }

  void require_sound_end() const {
    if (const auto failure = agree_on_text(PETSC_COMM_WORLD, simulation_.subsystems().failure())) {
      throw SimulationError(*failure);
    }
  }

  void close_failed(const RunCosts& costs) {
    recorder_->close(RunStatus::failed, costs, quality_of(simulation_, summary_));
  }

  /// The run's own error is what counts: what goes wrong in its wake is told beside it.
  void end_failed(const char* error) {
    const RunCosts costs = costs_of(simulation_);
    in_wake([&] { checkpoints_.keep(); });
    in_wake([&] { close_failed(costs); });
    in_wake([&] { report(nullptr, costs, to_string(RunStatus::failed), error); });
  }

  void in_wake(const std::function<void()>& work) const {
    try {
      work();
    } catch (const std::exception& error) {
      if (speaks_) {
        std::fprintf(stderr, "concord: warning: %s\n", error.what());
      }
    }
  }

  const RunManner manner_;
  HangWatch hang_watch_;
  StopRequests requests_;
  SimulationCore simulation_;
  const Settings& settings_;
  Checkpoints checkpoints_;
  bool speaks_;
  std::unique_ptr<Recorder> recorder_;
  RunSummary summary_;
  std::vector<std::unique_ptr<StepObserver>> monitors_;
  bool asked_for_end_ = false;
};

const RunManner as_command{.goes_on = false};

int exit_code(const RunEnding& ending) {
  return ending.status == to_string(RunStatus::interrupted) ? stopped_early : 0;
}

RunEnding run_call(ModelCall call, const RunManner& manner) {
  if (call.fmu == nullptr) return run_in_manner(std::move(call.model), call.command_line, manner);
  const LoneOutput output(*call.fmu, call.model);
  RunEnding ending = run_in_manner(std::move(call.model), call.command_line, manner);
  output.write();
  return ending;
}

const RegisteredCommand run({
    .name = "run",
    .place = 10,
    .launch = "mpirun -n R ",
    .usage = "MODEL [-options]",
    .summary = "simulate; also runs without mpirun",
    .description =
        "Simulates the model: rows go into a results file, a summary to standard output.",
    .words = words_of_models(),
    .example = "run model.yaml -cosim_type jfm -cosim_step 1e-2",
    .more_help = options_help,
    .run =
        [](const Arguments& arguments) {
          return with_model(run, arguments, [](ModelCall call) {
            return exit_code(run_call(std::move(call), as_command));
          });
        },
});

}  // namespace

int run_command(Model model, const std::string& command_line) {
  return exit_code(run_in_manner(std::move(model), command_line, as_command));
}

RunEnding run_in_manner(Model model, const std::string& command_line, const RunManner& manner) {
  auto plan = std::make_unique<SimulationPlan>(PETSC_COMM_WORLD, std::move(model));
  return Run(announced(std::move(plan)), command_line, manner).go();
}

RunEnding run_inside(const std::vector<std::string>& words, const RunManner& manner) {
  Arguments arguments{"concord", "run"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  RunEnding ending;
  with_model_inside(run, arguments,
                    [&](ModelCall call) { ending = run_call(std::move(call), manner); });
  return ending;
}

}  // namespace concord
