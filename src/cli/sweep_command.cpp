#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/chosen_results.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/model_command.hpp"
#include "cli/run.hpp"
#include "concord/errors.hpp"
#include "simulation/stop_signals.hpp"
#include "studies/run_queue.hpp"
#include "studies/run_table.hpp"
#include "support/agreement.hpp"
#include "support/exception_words.hpp"
#include "support/petsc.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;
using SweepClock = std::chrono::steady_clock;

double seconds_since(SweepClock::time_point begin) {
  return std::chrono::duration<double>(SweepClock::now() - begin).count();
}

DesignWords design_words(const GivenWords& own) {
  DesignWords words;
  words.set = own.all("set");
  if (const auto file = own.value("samples")) words.samples = *file;
  if (const auto count = whole_number(own, "sweep", "latin", 1))
    words.latin = static_cast<std::size_t>(*count);
  words.seed = static_cast<std::uint64_t>(whole_number(own, "sweep", "seed", 0).value_or(1));
  return words;
}

/// Answers other groups after each macro-step of the first rank.
class Server : public StepObserver {
 public:
  explicit Server(RunQueue& queue) : queue_(queue) {}
  void step_accepted(const StepReport&) override { queue_.serve(); }

 private:
  RunQueue& queue_;
};

/// What all runs have in common, the same on every rank.
class Sweep {
 public:
  explicit Sweep(const ModelFileCall& call);

  std::vector<std::size_t> missing() const { return table_->missing(); }
  /// One run on these ranks, whatever becomes of it. `between` sees its macro-steps.
  RunRow run(std::size_t run, MPI_Comm group, StepObserver* between);
  std::string line(const RunRow& row) const { return line_of(columns_, row); }
  /// On the first rank, of each run that has ended; false: the sweep ends here.
  bool take(const std::string& line);
  /// On the first rank: the table, and the exit code or an error for all of them.
  int conclude() const;

 private:
  Model model_of(std::size_t run) const;
  void look_at_model();
  void choose_files();
  std::string numbered(const std::string& path, std::size_t run) const;
  void number_files(Settings& settings, std::size_t run) const;
  int simulate(RunRow& row, MPI_Comm group, StepObserver* between);
  std::string values_in_words(std::size_t run) const;
  void refuse_failures() const;

  const ModelFileCall& call_;
  RunColumns columns_;
  std::vector<ChosenResult> chosen_;
  std::string model_name_;
  fs::path table_path_;
  std::optional<RunTable> table_;
  std::string stopped_;  ///< why, on the first rank; empty: it went on to its end
  SweepClock::time_point began_ = SweepClock::now();
};

Sweep::Sweep(const ModelFileCall& call) : call_(call) {
  columns_.design = make_design(design_words(call.own));
  look_at_model();
  choose_files();
  table_.emplace(table_path_, columns_);
  if (call.own.has("resume")) table_->resume();
}

Model Sweep::model_of(std::size_t run) const {
  const auto& [names, runs] = columns_.design;
  std::vector<std::string> set;
  for (std::size_t p = 0; p < names.size(); ++p) set.push_back(names[p] + "=" + runs[run][p]);
  return read_model(call_.path, call_.own, set);
}

/// Names that are wrong in all runs are wrong before the first; a value may be wrong in some.
void Sweep::look_at_model() {
  const auto look = [&](std::size_t run) {
    Model model = model_of(run);
    const Network network(model);
    chosen_ = chosen_results(call_.own.all("results"), network);
    model_name_ = model.name;
  };
  try {
    look(0);
  } catch (const InputError&) {
    try {
      look(columns_.design.runs.size() - 1);
    } catch (const InputError&) {
      look(0);
    }
  }
  for (const ChosenResult& result : chosen_) columns_.results.push_back(name_of(result));
}

void Sweep::choose_files() {
  table_path_ = call_.own.value("output").value_or(model_name_ + "_sweep.csv");
  if (table_path_.extension() != ".csv")
    throw InputError("concord sweep: -o " + in_quotes(table_path_.string()) +
                     " must end in .csv; the same table as HDF5 goes beside it");
}

std::string Sweep::numbered(const std::string& path, std::size_t run) const {
  if (path.empty()) return path;
  const std::size_t digits = std::to_string(columns_.design.runs.size()).size();
  std::string number = std::to_string(run + 1);
  number.insert(0, digits - number.size(), '0');
  const fs::path whole(path);
  return whole.parent_path() / (whole.stem().string() + "_" + number + whole.extension().string());
}

/// Every run has its own of each file that an option names for writing.
void Sweep::number_files(Settings& settings, std::size_t run) const {
  const fs::path folder = fs::path(table_path_).replace_extension("");
  const bool chosen = options::has("cosim_output");
  settings.record.path =
      numbered(chosen ? settings.record.path : (folder / "run.h5").string(), run);
  for (std::string* path : {&settings.summary_file, &settings.trace_file, &settings.checkpoint.path,
                            &settings.checkpoint.restart})
    *path = numbered(*path, run);
  if (settings.time_limit)  // that of the sweep
    settings.time_limit = std::max(*settings.time_limit - seconds_since(began_), 0.0);
  settings.view = settings.progress = settings.monitor = false;
}

int Sweep::simulate(RunRow& row, MPI_Comm group, StepObserver* between) {
  Model model;
  together(group, [&] { model = model_of(row.run); });
  take_option_files(model, group);
  const auto calls = options::text("cosim_fmu_calls").value_or("");
  model.calls = new_call_log(group, numbered(calls, row.run));
  auto plan = std::make_unique<SimulationPlan>(group, std::move(model));
  number_files(plan->settings, row.run);
  row.file = plan->settings.record.path;
  together(group, [&] {
    if (const fs::path folder = fs::path(row.file).parent_path(); !folder.empty())
      fs::create_directories(folder);
  });
  Run run(std::move(plan), call_.command_line, RunTells::nothing, between);
  const int code = run.go();
  if (code != 0) row.error = run.stop_reason();
  if (row.error.starts_with("-cosim_time_limit"))  // what was left of it
    row.error = "-cosim_time_limit " + options::text("cosim_time_limit").value_or("");
  return code;
}

RunRow Sweep::run(std::size_t run, MPI_Comm group, StepObserver* between) {
  const auto begin = SweepClock::now();
  RunRow row{.run = run};
  try {
    collectively(group, [&] { row.exit_code = simulate(row, group, between); });
    together(group, [&] {
      if (row.exit_code == 0 && rank_in(group) == 0)
        row.results = result_values(ResultsReader(row.file), chosen_);
    });
  } catch (const InputError& error) {
    row.exit_code = 2;
    row.error = error.what();
  } catch (...) {
    row.exit_code = 1;
    row.error = in_words(std::current_exception());
  }
  row.wall_time = seconds_since(begin);
  return row;
}

std::string Sweep::values_in_words(std::size_t run) const {
  constexpr std::size_t longest = 120;
  const auto& [names, runs] = columns_.design;
  std::string text;
  for (std::size_t p = 0; p < names.size(); ++p)
    text += (p == 0 ? "" : ", ") + names[p] + " = " + runs[run][p];
  if (text.size() > longest) text = text.substr(0, longest) + " ...";
  return text;
}

bool Sweep::take(const std::string& line) {
  const RunRow& row = table_->add(line);
  const std::string end = row.exit_code == 0 ? "completed"
                          : row.exit_code == stopped_early
                              ? "stopped early" + (row.error.empty() ? "" : ": " + row.error)
                              : "failed: " + row.error;
  std::printf("run %zu of %zu, %s: %s (%.3g s)\n", row.run + 1, columns_.design.runs.size(),
              values_in_words(row.run).c_str(), end.c_str(), row.wall_time);
  std::fflush(stdout);
  if (row.exit_code == stopped_early) stopped_ = row.error;
  return stopped_.empty();
}

/// Wrong input where it was nothing else.
void Sweep::refuse_failures() const {
  constexpr std::size_t listed = 10;
  std::size_t failed = 0, wrong = 0;
  std::string runs, first;
  for (const auto& [run, row] : table_->rows()) {
    if (row.exit_code == 0) continue;
    if (first.empty()) first = row.error;
    wrong += row.exit_code == 2 ? 1 : 0;
    if (++failed <= listed) runs += (runs.empty() ? "" : ", ") + std::to_string(run + 1);
  }
  const std::size_t all = columns_.design.runs.size(), absent = all - table_->rows().size();
  if (failed + absent == 0) return;
  std::string text = std::to_string(failed) + " of " + std::to_string(all) +
                     " runs failed: " + runs + (failed > listed ? " and more" : "");
  if (absent > 0)
    text += ", and " + std::to_string(absent) +
            " were not begun, as code of others has ended in every group of ranks: with "
            "-subsystem_isolated it does so in processes of its own";
  text += "; see the column error of '" + table_path_.string() +
          "'; --resume runs them again. The first: " + first;
  if (wrong == all) throw InputError(text);
  throw SimulationError(text);
}

int Sweep::conclude() const {
  table_->write(call_.command_line, model_name_);
  std::printf("  table                 %s, %s\n", table_path_.c_str(), table_->hdf5_path().c_str());
  if (!stopped_.empty()) {
    std::printf("  stopped early         %s; go on with --resume\n", stopped_.c_str());
    return stopped_early;
  }
  refuse_failures();
  std::printf("  runs                  %zu, all completed\n", columns_.design.runs.size());
  return 0;
}

/// The runs of this rank's group. Throws nothing.
void work_off(Sweep& sweep, RunQueue& queue, StepObserver* between) {
  const MPI_Comm group = queue.group();
  for (auto run = queue.first(); run;) {
    const std::string report = sweep.line(sweep.run(*run, group, between));
    if (agree_on_largest(group, foreign_code_has_ended() ? 1 : 0) != 0) {
      queue.leave(report);  // nothing of that code may be called again in this process
      return;
    }
    run = queue.next(report);
  }
}

int sweep_model(const ModelFileCall& call) {
  std::optional<Sweep> sweep;
  together(PETSC_COMM_WORLD, [&] { sweep.emplace(call); });
  const auto ranks =
      static_cast<int>(whole_number(call.own, "sweep", "ranks_per_run", 1).value_or(1));
  const StopSignals stop_signals;
  const bool first = rank_in(PETSC_COMM_WORLD) == 0;
  RunQueue queue(PETSC_COMM_WORLD, ranks, sweep->missing(),
                 [&](const std::string& line) { return sweep->take(line); });
  Server server(queue);
  work_off(*sweep, queue, first ? &server : nullptr);
  queue.finish();
  const int code = first ? sweep->conclude() : 0;
  if (StopSignals::received() != 0) StopSignals::ignore_late_ones();
  return code;
}

const RegisteredCommand sweep({
    .name = "sweep",
    .place = 12,
    .launch = "mpirun -n R ",
    .usage = "MODEL --set left.m=1,2,5 [--samples FILE] [--latin N] [--resume] [-options]",
    .summary = "a run for every combination of values, ranks\nshared out among them; one table",
    .brief = "a run for every combination of values, and a table",
    .description =
        "Runs the model once for every combination of the values of --set, the rows of --samples "
        "and\nthe points of --latin. The ranks are shared out in groups, which are given one run "
        "after the\nother; a run that fails is listed, the others go on. All options count for "
        "every run; files\nthat they name (-cosim_output, -cosim_checkpoint, ...) get the run's "
        "number, and\n-cosim_time_limit is that of the sweep.\n"
        "The table has a row per run: number, values, exit_code, error, wall_time, file, and the\n"
        "results; as CSV, which grows with each run, and at the end as HDF5. Exit code 1: a run "
        "has\nfailed; 2: all had wrong input; 3: stopped early.",
    .words = {{.name = "set",
               .value = "left.m=1,2,5",
               .help = "values of a parameter or start value, as often as wanted:\n"
                       "range(first, last), range(first, last, step),\n"
                       "linspace(first, last, count), logspace(first, last, count), ends\n"
                       "included; with --latin also uniform(a, b) and loguniform(a, b)"},
              {.name = "samples",
               .value = "FILE",
               .help = "CSV: a header of names (left.m,right.k), a row a run"},
              {.name = "latin",
               .value = "N",
               .help = "N points of a Latin hypercube over the uniform ranges"},
              {.name = "seed", .value = "n", .help = "of the hypercube (default 1)"},
              {.name = "results",
               .value = "LIST",
               .help = "left.x:last,right.*:max: last, min, max or rms of variables\n"
                       "(default: last of every output)"},
              {.name = "ranks_per_run", .value = "n", .help = "ranks of each group (default 1)"},
              {.name = "resume", .help = "only runs that the table lacks or that have failed"},
              {.name = "parameters",
               .value = "FILE",
               .help = "what is other than the model's in all runs, as of concord run"},
              {.name = "output",
               .letter = 'o',
               .value = "FILE",
               .help = "table (default <model>_sweep.csv, <model>_sweep.h5; results files\n"
                       "then are in the folder <model>_sweep)"}},
    .example = "sweep model.yaml --set left.m=1,2,5 --set \"right.k=linspace(10, 100, 10)\"",
    .more_help = options_help,
    .run =
        [](const Arguments& arguments) { return with_model_file(sweep, arguments, sweep_model); },
});

}  // namespace
}  // namespace concord
