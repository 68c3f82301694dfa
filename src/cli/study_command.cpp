#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/json_number.hpp"
#include "cli/presentation.hpp"
#include "cli/study_runs.hpp"
#include "concord/errors.hpp"
#include "files/text_output.hpp"
#include "network/network.hpp"
#include "settings/settings.hpp"
#include "studies/advice.hpp"
#include "studies/design.hpp"
#include "support/agreement.hpp"
#include "support/name_patterns.hpp"
#include "support/options.hpp"
#include "support/petsc.hpp"
#include "support/ranks.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

/// What is asked for, checked.
struct StudyPlan {
  std::string model_name;
  std::vector<std::string> types;
  std::vector<double> steps;  ///< s, falling
  std::vector<std::string> outputs;
  double accuracy = 1e-4;  ///< of ranges
  fs::path table;
};

/// All but the reference.
std::vector<std::string> types_in(const GivenWords& own, const Model& model) {
  std::vector<std::string> known;
  for (const Method& method : method_presets()) known.push_back(method.type);
  std::vector<std::string> types;
  for (const std::string& list : own.all("types"))
    for (const std::string& type : listed_names(list)) {
      if (std::find(known.begin(), known.end(), type) == known.end())
        throw InputError("concord study: --types " + in_quotes(type) + " is no method; " +
                         concord::known("methods", type, known));
      if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
    }
  if (types.empty())
    for (const Method& method : method_presets())
      if (method.type != "monolithic" && missing_capabilities(method, model).empty())
        types.push_back(method.type);
  if (types.empty())
    throw InputError("concord study: no method can run this model; see concord check");
  return types;
}

std::vector<double> steps_in(const GivenWords& own, const Model& model) {
  constexpr double coarsest = 50.0;
  constexpr int halved = 4;
  std::vector<double> steps;
  for (const std::string& list : own.all("steps"))
    for (const std::string& text : listed_values(list, "--steps " + list)) {
      const auto step = parse_number(text);
      if (!step || !(*step > 0.0))
        throw InputError("concord study: --steps " + in_quotes(text) +
                         " must be a macro-step in seconds");
      steps.push_back(*step);
    }
  const double duration = options::real("cosim_stop").value_or(model.stop) -
                          options::real("cosim_start").value_or(model.start);
  for (int i = 0; i < halved && own.all("steps").empty(); ++i)
    steps.push_back(duration / coarsest / (1 << i));
  std::sort(steps.begin(), steps.end(), std::greater<>());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

/// Without names all but residuals of constraints, which are errors themselves.
std::vector<std::string> outputs_in(const GivenWords& own, const Model& model) {
  const Network network(model);
  if (const auto lists = own.all("variables"); !lists.empty())
    return chosen_names(listed_names(joined(lists, ",")), network.output_names(),
                        "--variables: the model's outputs");
  std::vector<std::string> outputs;
  for (const SubsystemEntry& entry : model.subsystems)
    for (const OutputVariable& output : entry.description.outputs)
      if (!entry.description.kind.starts_with("constraint") || output.name != "residual")
        outputs.push_back(entry.description.name + "." + output.name);
  return outputs;
}

StudyPlan plan_of(const ModelFileCall& call) {
  const Model model = read_model(call.path, call.own, call.own.all("set"));
  StudyPlan plan{.model_name = model.name,
                 .types = types_in(call.own, model),
                 .steps = steps_in(call.own, model),
                 .outputs = {},
                 .table = call.own.value("output").value_or(model.name + "_study.csv")};
  plan.outputs = outputs_in(call.own, model);
  if (const auto text = call.own.value("accuracy")) {
    plan.accuracy = parse_number(*text).value_or(0.0);
    if (!(plan.accuracy > 0.0))
      throw InputError("concord study: --accuracy " + in_quotes(*text) +
                       " must be a positive number: an error in units of each output's range");
  }
  for (const char* name : {"cosim_type", "cosim_step", "cosim_output"})
    if (options::has(name))
      throw InputError(std::string("concord study: option -") + name +
                       " is what it varies itself; use --types, --steps and -o");
  if (plan.table.extension() != ".csv")
    throw InputError("concord study: -o " + in_quotes(plan.table.string()) +
                     " must end in .csv; the picture beside it ends in .png");
  return plan;
}

/// Also makes it.
fs::path folder_of(const StudyPlan& plan) {
  const fs::path folder = fs::path(plan.table).replace_extension("");
  together(PETSC_COMM_WORLD, [&] {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
      throw InputError("the folder " + in_quotes(folder.string()) +
                       " of the study's results cannot be made: " + error.message() +
                       "; choose another place with -o");
  });
  return folder;
}

std::vector<StudyRun> study_runs(const ModelFileCall& call, const StudyPlan& plan,
                                 const fs::path& folder) {
  std::vector<StudyRun> runs;
  for (const std::string& type : plan.types)
    for (const double step : plan.steps) {
      StudyRun& run = runs.emplace_back(StudyRun{.type = type, .step = step});
      run.file = (folder / (type + "_" + exact_number(step) + ".h5")).string();
      run_in_study(call, {}, run);
    }
  return runs;
}

/// On the first rank.
void compare_runs(std::vector<StudyRun>& runs, const StudyPlan& plan, const std::string& file) {
  const ResultsReader reference(file);
  for (StudyRun& run : runs)
    if (run.completed()) run.errors = compared(ResultsReader(run.file), reference, plan.outputs);
  observe_orders(runs);
}

/// What is counted as work in a study: evaluations of right-hand sides where every run tells them,
/// else integrations of all subsystems.
struct StudyWork {
  bool of_rhs = true;
  double of(const StudyRun& run) const {
    return static_cast<double>(of_rhs ? run.rhs : run.evaluations);
  }
  const char* name() const {
    return of_rhs ? "evaluations of right-hand sides" : "coupling evaluations";
  }
};

StudyWork work_in(const std::vector<StudyRun>& runs) {
  return {std::all_of(runs.begin(), runs.end(),
                      [](const StudyRun& run) { return !run.completed() || run.rhs > 0; })};
}

/// Failures are whole in the CSV file.
void print_runs(const std::vector<StudyRun>& runs) {
  constexpr std::size_t longest_reason = 110;
  std::size_t width = 4;
  for (const StudyRun& run : runs) width = std::max(width, run.type.size());
  const int type = static_cast<int>(width);
  std::printf("%-*s  %12s  %12s  %6s  %12s  %11s  %13s  %9s  %s\n", type, "type", "step [s]",
              "relative L2", "order", "max of range", "evaluations", "rhs", "time [s]",
              "worst output");
  for (const StudyRun& run : runs) {
    if (!run.completed()) {
      const bool cut = run.failure.size() > longest_reason;
      std::printf("%-*s  %12.6g  failed: %s%s\n", type, run.type.c_str(), run.step,
                  run.failure.substr(0, longest_reason).c_str(), cut ? " ..." : "");
      continue;
    }
    char order[16] = "";
    if (std::isfinite(run.order)) std::snprintf(order, sizeof order, "%.2f", run.order);
    std::printf("%-*s  %12.6g  %12.4e  %6s  %12.4e  %11lld  %13lld  %9.3g  %s\n", type,
                run.type.c_str(), run.step, run.worst().relative, order,
                run.worst_maximum().of_range(), static_cast<long long>(run.evaluations),
                static_cast<long long>(run.rhs), run.wall_time, run.worst().name.c_str());
  }
}

std::optional<Advice> advice_in(const std::vector<StudyRun>& runs, double accuracy) {
  const StudyWork work = work_in(runs);
  std::vector<WorkPoint> points;
  for (const StudyRun& run : runs)
    if (run.completed())
      points.push_back({run.type, run.step, run.worst_maximum().of_range(), work.of(run)});
  return advice_for(accuracy, points);
}

/// Down, to two digits.
double rounded_down(double step) {
  const double unit = std::pow(10.0, std::floor(std::log10(step)) - 1.0);
  return unit * std::floor(step / unit * (1.0 + 1e-9));
}

std::string advice_in_words(const std::optional<Advice>& advice, double accuracy,
                            const char* work) {
  const std::string goal = "for errors below " + short_number(accuracy) + " of each range: ";
  if (!advice) return goal + "no method came near; take smaller steps, or see the failures";
  char text[256];
  std::snprintf(text, sizeof text, "-cosim_type %s -cosim_step %.3g, about %.2g %s%s",
                advice->type.c_str(), rounded_down(advice->step), advice->work, work,
                advice->reached ? "" : "; by its order, no run was as good");
  return goal + text;
}

using StudyJson = nlohmann::ordered_json;

StudyJson json_of(const StudyRun& run) {
  StudyJson json = {
      {"type", run.type}, {"step", run.step}, {"file", run.file}, {"failure", run.failure}};
  if (!run.completed()) return json;
  json["worst_output"] = run.worst().name;
  json["relative_l2"] = json_number(run.worst().relative);
  json["maximum_of_range"] = json_number(run.worst_maximum().of_range());
  json["order"] = json_number(run.order);
  json["steps"] = run.steps;
  json["coupling_evaluations"] = run.evaluations;
  json["rhs_evaluations"] = run.rhs;
  json["wall_time"] = run.wall_time;
  json["outputs"] = StudyJson::object();
  for (const VariableError& e : run.errors.errors)
    json["outputs"][e.name] = {{"relative_l2", json_number(e.relative)},
                               {"maximum", json_number(e.maximum)},
                               {"maximum_of_range", json_number(e.of_range())}};
  return json;
}

std::string csv_number(double value) { return std::isfinite(value) ? exact_number(value) : ""; }

void write_study(const StudyPlan& plan, const std::vector<StudyRun>& runs) {
  TextOutput output(plan.table.string());
  std::string line =
      "type,step,failure,worst_output,relative_l2,order,maximum_of_range,steps,"
      "coupling_evaluations,rhs_evaluations,wall_time,file";
  for (const std::string& name : plan.outputs)
    line += "," + csv_field(name + ":l2") + "," + csv_field(name + ":max");
  output.write(line + "\n");
  for (const StudyRun& run : runs) {
    line = run.type + "," + exact_number(run.step) + "," + csv_field(run.failure) + ",";
    if (!run.completed()) {
      output.write(line + std::string(8 + 2 * plan.outputs.size(), ',') + "\n");
      continue;
    }
    line += csv_field(run.worst().name) + "," + csv_number(run.worst().relative) + "," +
            csv_number(run.order) + "," + csv_number(run.worst_maximum().of_range()) + "," +
            std::to_string(run.steps) + "," + std::to_string(run.evaluations) + "," +
            std::to_string(run.rhs) + "," + short_number(run.wall_time) + "," + csv_field(run.file);
    for (const VariableError& e : run.errors.errors)
      line += "," + csv_number(e.relative) + "," + csv_number(e.maximum);
    output.write(line + "\n");
  }
  output.close();
}

/// Without matplotlib there is none, which is told. An error of 0 has no logarithm.
void draw_study(const StudyPlan& plan, const std::vector<StudyRun>& runs, bool tells) {
  const StudyWork work = work_in(runs);
  const fs::path path = fs::path(plan.table).replace_extension(".png");
  StudyJson drawn = StudyJson::array();
  for (const StudyRun& run : runs)
    if (run.completed() && run.worst().relative > 0.0)
      drawn.push_back({{"type", run.type},
                       {"step", run.step},
                       {"work", work.of(run)},
                       {"error", run.worst().relative}});
  if (drawn.empty()) return;
  try {
    require_drawing({path.string()});
  } catch (const InputError& error) {
    std::fprintf(stderr, "concord: note: no picture: %s\n", error.what());
    return;
  }
  draw_in_python("study", {{"title", plan.model_name}, {"work", work.name()}, {"runs", drawn}},
                 path);
  if (tells) std::printf("  picture               %s\n", path.c_str());
}

void tell_study(const StudyPlan& plan, const StudyReference& reference,
                const std::vector<StudyRun>& runs, bool as_json) {
  const StudyWork work = work_in(runs);
  const auto advice = advice_in(runs, plan.accuracy);
  const std::string words = advice_in_words(advice, plan.accuracy, work.name());
  const StudyRun& against = reference.run;
  if (as_json) {
    StudyJson json = {{"model", plan.model_name},
                      {"reference",
                       {{"type", against.type},
                        {"step", against.step},
                        {"file", against.file},
                        {"why", reference.why}}},
                      {"runs", StudyJson::array()}};
    for (const StudyRun& run : runs) json["runs"].push_back(json_of(run));
    json["accuracy"] = plan.accuracy;
    json["recommended"] = StudyJson();
    if (advice)
      json["recommended"] = {{"type", advice->type},
                             {"step", advice->step},
                             {"work", advice->work},
                             {"reached", advice->reached}};
    json["recommended_in_words"] = words;
    std::printf("%s\n", json.dump(2).c_str());
    return;
  }
  std::printf("%s: errors against %s, steps of %.6g s, tight tolerances%s\n",
              plan.model_name.c_str(), against.type.c_str(), against.step,
              reference.why.empty() ? "" : ("; not monolithic: " + reference.why).c_str());
  print_runs(runs);
  std::printf("%s\n  table                 %s\n", words.c_str(), plan.table.c_str());
}

void require_completed(const std::vector<StudyRun>& runs) {
  const bool none =
      std::none_of(runs.begin(), runs.end(), [](const StudyRun& run) { return run.completed(); });
  if (none) throw_failure(runs.front(), "no run of the study completed; the first: ");
}

int study_model(const ModelFileCall& call) {
  StudyPlan plan;
  together(PETSC_COMM_WORLD, [&] { plan = plan_of(call); });
  const fs::path folder = folder_of(plan);
  const StudyReference reference = reference_run(call, plan.steps.back(), folder);
  std::vector<StudyRun> runs = study_runs(call, plan, folder);
  together(PETSC_COMM_WORLD, [&] {
    if (rank_in(PETSC_COMM_WORLD) != 0) return;
    compare_runs(runs, plan, reference.run.file);
    write_study(plan, runs);
    const bool as_json = call.own.has("json");
    tell_study(plan, reference, runs, as_json);
    draw_study(plan, runs, !as_json);
  });
  require_completed(runs);
  return 0;
}

const RegisteredCommand study({
    .name = "study",
    .place = 14,
    .launch = "mpirun -n R ",
    .usage = "MODEL [--steps 1e-2,1e-3] [--types jfm,jacobi] [--accuracy 1e-4] [--json] [-options]",
    .summary = "error and work of methods and steps: a table, a\npicture, and which to use",
    .brief = "error and work of methods and steps: which to use",
    .description =
        "Runs the model with every method and macro-step, on all ranks, one run after the other, "
        "and\ncompares the outputs with those of the monolithic system, or, where the model does "
        "not allow\nthat, with the recommended method at a quarter of the smallest step; either "
        "with tight\ntolerances. A run that fails is listed with its reason.\n"
        "  relative L2, max of range  as of concord compare, of the worst output\n"
        "  order                      p in error ~ step^p, from the step before\n"
        "  evaluations, rhs           integrations of all subsystems; of right-hand sides\n"
        "All options count for every run; tolerances of integrators (-subsystem_rtol) and of the\n"
        "coupling (-cosim_rtol) bound the error from below. Exit code 1: no run has completed.",
    .words = words_of_models(
        {{.name = "steps",
          .value = "LIST",
          .help = "macro-steps in s: 1e-2,1e-3 or logspace(1e-1, 1e-3, 5)\n"
                  "(default: a 50th of the experiment, and three times half of it)"},
         {.name = "types",
          .value = "LIST",
          .help = "as of -cosim_type (default: all that can run the model)"},
         {.name = "accuracy",
          .value = "1e-4",
          .help = "recommend method and step for this error, in units of\neach output's range"},
         {.name = "variables",
          .letter = 'v',
          .value = "NAMES",
          .help = "outputs that count: names or patterns (default: all)"},
         {.name = "json", .letter = 'j', .help = "the table on standard output as JSON"},
         {.name = "output",
          .letter = 'o',
          .value = "FILE",
          .help = "table (default <model>_study.csv; the picture <model>_study.png and\n"
                  "the results in the folder <model>_study go with it)"}}),
    .example = "study model.yaml --steps 1e-2,1e-3 --types jfm,missiles,jacobi",
    .more_help = options_help,
    .run =
        [](const Arguments& arguments) { return with_model_file(study, arguments, study_model); },
});

}  // namespace
}  // namespace concord
