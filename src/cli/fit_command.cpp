#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/json_number.hpp"
#include "cli/model_command.hpp"
#include "cli/output_file.hpp"
#include "cli/presentation.hpp"
#include "cli/study_model.hpp"
#include "concord/errors.hpp"
#include "modelfile/parameters_file.hpp"
#include "studies/data_fit.hpp"
#include "support/agreement.hpp"
#include "support/petsc.hpp"
#include "support/ranks.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

constexpr const char* free_form = "a name, or a name with bounds: left.m=1:10";

std::pair<double, double> bounds_in(const std::string& word, const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto lower = parse_number(text.substr(0, colon));
  const auto upper = colon == text.npos ? std::nullopt : parse_number(text.substr(colon + 1));
  if (!lower || !upper || !(*lower < *upper))
    throw InputError("concord fit: --free " + in_quotes(word) + " must be " + free_form);
  return {*lower, *upper};
}

/// Starts where the model is, if that lies between the bounds, else in the middle.
FreeNumber free_in(const std::string& word, const StudyModel& model) {
  const std::size_t sign = word.find('=');
  FreeNumber result{.name = word.substr(0, sign)};
  if (sign == word.npos) {
    result.start = model.number(result.name, "--free").value;
    result.lower = -std::numeric_limits<double>::infinity();
    result.upper = std::numeric_limits<double>::infinity();
    return result;
  }
  std::tie(result.lower, result.upper) = bounds_in(word, word.substr(sign + 1));
  const auto known = model.known(result.name);
  const bool inside = known && *known >= result.lower && *known <= result.upper;
  result.start = inside ? *known : 0.5 * (result.lower + result.upper);
  return result;
}

/// What the command line asks for.
struct FitWish {
  explicit FitWish(const ModelFileCall& call) : model(call, [](Model&) {}) {
    files = call.own.all("data");
    if (files.empty())
      throw InputError("concord fit needs measured data: concord fit MODEL data.csv --free left.m");
    for (const std::string& file : files) data.tables.push_back(read_measurements(file));
    for (const std::string& word : call.own.all("free")) free.push_back(free_in(word, model));
    if (free.empty())
      throw InputError("concord fit needs numbers that it may change: --free " +
                       std::string("left.m=1:10"));
    require_once(names_of(free), "concord fit: --free");
    for (const std::string& word : call.own.all("deviation")) add_deviation(word);
  }

  void add_deviation(const std::string& word) {
    const std::size_t sign = word.find('=');
    const auto value = sign == word.npos ? std::nullopt : parse_number(word.substr(sign + 1));
    if (!value || !(*value > 0.0))
      throw InputError("concord fit: --deviation " + in_quotes(word) +
                       " must be a variable and a positive number: left.x=0.01");
    deviations[word.substr(0, sign)] = *value;
  }

  StudyModel model;
  std::vector<std::string> files;
  Questions data;
  std::vector<FreeNumber> free;
  std::map<std::string, double> deviations;
};

void tell_numbers(const FitWish& wish, const FittedNumbers& found) {
  std::printf("  %-24s %15s   %s\n", "number", "found", "95 % interval");
  for (std::size_t i = 0; i < wish.free.size(); ++i) {
    const double value = found.least.numbers[i], half = found.confidence.half_widths[i];
    std::printf("  %-24s %15.9g   ", wish.free[i].name.c_str(), value);
    if (wish.free[i].at_lower(value)) {
      std::printf("at its lower bound\n");
    } else if (wish.free[i].at_upper(value)) {
      std::printf("at its upper bound\n");
    } else {
      std::printf("%.6g to %.6g\n", value - half, value + half);
    }
  }
}

void tell_correlations(const FitWish& wish, const FittedNumbers& found) {
  constexpr double close = 0.9;
  for (std::size_t i = 0; i < wish.free.size(); ++i)
    for (std::size_t j = i + 1; j < wish.free.size(); ++j) {
      const double r =
          found.confidence.correlations(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
      if (std::abs(r) >= close)
        std::printf("  correlation           %.4f of %s and %s\n", r, wish.free[i].name.c_str(),
                    wish.free[j].name.c_str());
    }
}

void tell_variables(const FittedNumbers& found) {
  for (const MeasuredVariable& variable : found.variables)
    std::printf(
        "  residual              %s: %.4g (rms of %zu values), standard deviation %.4g %s\n",
        variable.name.c_str(), variable.residual, variable.values, variable.deviation,
        variable.known ? "given" : "estimated");
}

/// Numbers of which the data tell no more than rounding does.
void warn_of_unknown(const FitWish& wish, const FittedNumbers& found) {
  constexpr double hopeless = 1e6;
  if (!(found.confidence.condition > hopeless)) return;
  std::string direction;
  for (std::size_t i = 0; i < wish.free.size(); ++i) {
    const double part = found.confidence.weakest[static_cast<Eigen::Index>(i)];
    if (std::abs(part) > 0.1)
      direction += (direction.empty() ? "" : ", ") + wish.free[i].name + " " + short_number(part);
  }
  std::fprintf(
      stderr,
      "concord: warning: the data do not tell these numbers apart: they hardly change when "
      "the numbers go together along (%s), each by its size; singular values are %.3g "
      "apart\n",
      direction.c_str(), found.confidence.condition);
}

void tell(const FitWish& wish, const FittedNumbers& found, const ExactRuns& exact) {
  std::size_t values = 0;
  for (const MeasuredVariable& variable : found.variables) values += variable.values;
  std::printf("%s: %zu numbers from %zu values of %zu variables\n", wish.model.name().c_str(),
              wish.free.size(), values, found.variables.size());
  tell_numbers(wish, found);
  tell_correlations(wish, found);
  tell_variables(found);
  std::printf("  ended                 after %d iterations: %s\n", found.least.iterations,
              found.least.reason.c_str());
  std::printf("  runs                  %s\n", exact.in_words().c_str());
}

std::string as_parameters(const FitWish& wish, const FittedNumbers& found) {
  std::vector<std::pair<std::string, double>> values;
  for (std::size_t i = 0; i < wish.free.size(); ++i)
    values.emplace_back(wish.free[i].name, found.least.numbers[i]);
  return parameters_text("Numbers of " + wish.model.name() + ", found by concord fit", values);
}

std::string as_json(const FitWish& wish, const FittedNumbers& found, const ExactRuns& exact) {
  nlohmann::ordered_json file;
  file["model"] = wish.model.name();
  for (std::size_t i = 0; i < wish.free.size(); ++i)
    file["numbers"].push_back({{"name", wish.free[i].name},
                               {"value", found.least.numbers[i]},
                               {"half_width", json_number(found.confidence.half_widths[i])}});
  for (Eigen::Index i = 0; i < found.confidence.correlations.rows(); ++i) {
    const Eigen::VectorXd row = found.confidence.correlations.row(i);
    file["correlations"].push_back(std::vector<double>(row.begin(), row.end()));
  }
  for (const MeasuredVariable& variable : found.variables)
    file["variables"].push_back({{"name", variable.name},
                                 {"values", variable.values},
                                 {"residual", variable.residual},
                                 {"deviation", variable.deviation},
                                 {"deviation_given", variable.known}});
  file["condition"] = json_number(found.confidence.condition);
  file["converged"] = found.least.converged;
  file["reason"] = found.least.reason;
  file["runs"] = exact.runs->count();
  file["error_of_runs"] = json_number(exact.error());
  return file.dump(2) + "\n";
}

void write(const std::string& path, const FitWish& wish, const FittedNumbers& found,
           const ExactRuns& exact) {
  const std::string text =
      path.ends_with(".json") ? as_json(wish, found, exact) : as_parameters(wish, found);
  write_output_file(path, text);
  std::printf("  numbers               %s\n", path.c_str());
}

/// Data of each variable over all tables, and what the fitted run answers there.
void draw(const std::filesystem::path& picture, const FitWish& wish, const FittedNumbers& found) {
  nlohmann::ordered_json variables;
  Eigen::Index answer = 0;
  for (const TimeTable& table : wish.data.tables)
    for (std::size_t row = 0; row < table.time.size(); ++row)
      for (std::size_t column = 0; column < table.names.size(); ++column) {
        auto& one = variables[table.names[column]];
        one["name"] = table.names[column];
        one["time"].push_back(table.time[row]);
        one["measured"].push_back(json_number(table.columns[column][row]));
        one["fitted"].push_back(json_number(found.answers[answer++]));
      }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (auto& one : variables) list.push_back(std::move(one));
  draw_in_python("fit", {{"title", wish.model.name()}, {"variables", std::move(list)}}, picture);
}

void end(const FitWish& wish, const FittedNumbers& found, const ExactRuns& exact,
         const GivenWords& own) {
  tell(wish, found, exact);
  warn_of_unknown(wish, found);
  for (const std::string& path : own.all("output")) write(path, wish, found, exact);
  if (const auto picture = own.value("plot")) {
    draw(*picture, wish, found);
    std::printf("  picture               %s\n", picture->c_str());
  }
}

int fit_model(const ModelFileCall& call) {
  std::optional<FitWish> wish;
  together(PETSC_COMM_WORLD, [&] { wish.emplace(call); });
  const ExactRuns exact =
      exact_runs(call, "fit", wish->model, names_of(wish->free), starts_of(wish->free), wish->data);
  std::optional<DataFit> fit;
  together(PETSC_COMM_WORLD,
           [&] { fit.emplace(wish->free, wish->data.tables, wish->deviations, *exact.runs); });
  const FittedNumbers found = fit->find();
  together(PETSC_COMM_WORLD, [&] {
    if (rank_in(PETSC_COMM_WORLD) == 0) end(*wish, found, exact, call.own);
    if (!found.least.converged)
      throw SimulationError("the fit has not converged (" + found.least.reason +
                            "); give other bounds, fewer numbers, or look at -fit_tao_monitor");
  });
  return 0;
}

const RegisteredCommand fit({
    .name = "fit",
    .place = 37,
    .launch = "mpirun -n R ",
    .usage = "MODEL data.csv --free left.m=1:10 [--free ...] [-o fit.yaml] [-options]",
    .summary = "numbers of a model such that it goes through measured data",
    .brief = "numbers of a model such that it goes through measured data",
    .description =
        "The data are CSV with a column time and columns that are called as the model's\n"
        "variables, left.x; several files count together. Bounded least squares (PETSc's\n"
        "TAOBRGN, options -fit_tao_*), with the standard deviation of each variable estimated\n"
        "where it is not given, and 95 % intervals from the linearisation. Numbers start where\n"
        "the model is, or in the middle of their bounds. Ranks share the runs; where no option\n"
        "says how exactly they run, it is to 1e-10 of each signal's range, or to 1e-8 or 1e-6\n"
        "where that fails. Exit code 1: it has not converged.",
    .words = words_of_models(
        {{.name = "free",
          .value = "left.m=1:10",
          .help = "a parameter or start value to be found, with or without\nbounds; as often as "
                  "wanted"},
         {.name = "data", .value = "FILE", .help = "the same as after MODEL"},
         {.name = "deviation",
          .value = "left.x=0.01",
          .help = "standard deviation of a measured variable, where it is known"},
         {.name = "ranks_per_run", .value = "n", .help = "ranks of each run (default 1)"},
         {.name = "plot", .value = "FILE", .help = "picture of data and fitted run"},
         {.name = "output",
          .letter = 'o',
          .value = "FILE",
          .help = "what was found: YAML for --parameters, or .json with intervals"}}),
    .more = "data",
    .example = "fit model.yaml measured.csv --free left.m=1:10 --free left.d -o fit.yaml",
    .more_help = options_help,
    .run = [](const Arguments& arguments) { return with_model_file(fit, arguments, fit_model); },
});

}  // namespace
}  // namespace concord
