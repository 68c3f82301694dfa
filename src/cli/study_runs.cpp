#include "cli/study_runs.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "cli/run.hpp"
#include "concord/errors.hpp"
#include "settings/accuracy.hpp"
#include "support/agreement.hpp"
#include "support/exception_words.hpp"
#include "support/options.hpp"
#include "support/petsc.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

/// The command line's options, and these over them; a flag may have no value.
OptionsHandle options_with(const RunOptions& given) {
  OptionsHandle database;
  petsc(PetscOptionsCreate(database.out()));
  const auto put = [&](const std::string& name, const std::string& value) {
    petsc(PetscOptionsSetValue(database, ("-" + name).c_str(),
                               value.empty() ? nullptr : value.c_str()));
  };
  for (const auto& [name, value] : options::named(options::all())) put(name, value);
  for (const auto& [name, value] : given) put(name, value);
  return database;
}

std::int64_t rhs_of(const RunCosts& costs) {
  return std::accumulate(
      costs.subsystems.begin(), costs.subsystems.end(), std::int64_t{0},
      [](std::int64_t sum, const Counters& one) { return sum + one.rhs_evaluations; });
}

void simulate_once(const ModelFileCall& call, StudyRun& run) {
  Model model;
  together(PETSC_COMM_WORLD, [&] { model = read_model(call.path, call.own, call.own.all("set")); });
  take_option_files(model, PETSC_COMM_WORLD);
  auto plan = std::make_unique<SimulationPlan>(PETSC_COMM_WORLD, std::move(model));
  plan->settings.view = plan->settings.progress = plan->settings.monitor = false;
  Run one(std::move(plan), call.command_line, RunTells::nothing);
  const int code = one.go();
  run.steps = one.summary().steps;
  run.evaluations = one.summary().evaluations;
  run.rhs = rhs_of(one.costs());
  if (code == stopped_early)
    throw SimulationError(one.stop_reason().empty() ? "a subsystem has asked for the end"
                                                    : one.stop_reason());
}

const VariableError& largest(const std::vector<VariableError>& errors, auto size) {
  return *std::max_element(errors.begin(), errors.end(),
                           [&](const VariableError& a, const VariableError& b) {
                             const double one = size(a), other = size(b);
                             return one < other || (std::isnan(other) && !std::isnan(one));
                           });
}

/// Why the model has no monolithic run; empty where it has one.
std::string lacks_monolithic(const Model& model) {
  const auto& presets = method_presets();
  const auto monolithic = std::find_if(presets.begin(), presets.end(),
                                       [](const Method& m) { return m.type == "monolithic"; });
  return joined(missing_capabilities(*monolithic, model), "; ");
}

/// What is left of it is the reference's own error: tight, unless the command line says it.
RunOptions tight_options() {
  RunOptions result;
  for (const auto& [name, value] :
       {std::pair("subsystem_rtol", "1e-12"), std::pair("subsystem_atol", "1e-14"),
        std::pair("cosim_rtol", "1e-12"), std::pair("cosim_atol", "1e-12")})
    result[name] = value;
  return result;
}

}  // namespace

const VariableError& StudyRun::worst() const {
  return largest(errors.errors, [](const VariableError& e) { return e.relative; });
}

const VariableError& StudyRun::worst_maximum() const {
  return largest(errors.errors, [](const VariableError& e) { return e.of_range(); });
}

void throw_failure(const StudyRun& run, const std::string& message) {
  if (run.wrong_input) throw InputError(message + run.failure);
  throw SimulationError(message + run.failure);
}

void run_in_study(const ModelFileCall& call, const RunOptions& given, StudyRun& run) {
  const auto begin = std::chrono::steady_clock::now();
  RunOptions all = given;
  all["cosim_type"] = run.type;
  all["cosim_step"] = exact_number(run.step);
  all["cosim_output"] = run.file;
  const OptionsHandle database = options_with(all);
  const PetscScope scope(database);
  try {
    collectively(PETSC_COMM_WORLD, [&] { simulate_once(call, run); });
  } catch (const InputError& error) {
    run.failure = error.what();
    run.wrong_input = true;
  } catch (...) {
    run.failure = in_words(std::current_exception());
  }
  run.wall_time = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

StudyReference reference_run(const ModelFileCall& call, double smallest_step,
                             const fs::path& folder) {
  Model model;
  together(PETSC_COMM_WORLD, [&] { model = read_model(call.path, call.own, call.own.all("set")); });
  const std::string lacks = lacks_monolithic(model);
  StudyReference reference;
  reference.why = lacks;
  reference.run.type = lacks.empty() ? "monolithic" : recommended_method(model).type;
  reference.run.step = lacks.empty() ? smallest_step : 0.25 * smallest_step;
  reference.run.file = (folder / "reference.h5").string();
  run_in_study(call, tight_options(), reference.run);
  if (!reference.run.completed())
    throw_failure(reference.run, "the reference, " + reference.run.type + " with steps of " +
                                     short_number(reference.run.step) + " s, failed: ");
  return reference;
}

void observe_orders(std::vector<StudyRun>& runs) {
  const StudyRun* before = nullptr;
  for (StudyRun& run : runs) {
    run.order = std::numeric_limits<double>::quiet_NaN();
    if (!run.completed()) continue;
    if (before != nullptr && before->type == run.type && before->step > run.step)
      run.order = std::log(before->worst().relative / run.worst().relative) /
                  std::log(before->step / run.step);
    before = &run;
  }
}

}  // namespace concord
