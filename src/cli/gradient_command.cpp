#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/json_number.hpp"
#include "cli/model_command.hpp"
#include "cli/output_file.hpp"
#include "cli/study_model.hpp"
#include "concord/errors.hpp"
#include "studies/asked_runs.hpp"
#include "studies/cost.hpp"
#include "support/agreement.hpp"
#include "support/name_patterns.hpp"
#include "support/petsc.hpp"
#include "support/ranks.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// What the command line asks for.
struct GradientWish {
  explicit GradientWish(const ModelFileCall& call)
      : text(call.own.value("of").value_or("")),
        cost(text),
        model(call, [this](Model& one) { cost.add_to(one); }) {
    for (const std::string& list : call.own.all("by"))
      for (const std::string& word : listed_names(list)) add(word);
    require_once(names, "concord gradient: --by");
  }

  void add(const std::string& word) {
    const std::size_t sign = word.find('=');
    names.push_back(word.substr(0, sign));
    if (sign == word.npos) {
      at.push_back(model.number(names.back(), "--by"));
      return;
    }
    const auto value = parse_number(word.substr(sign + 1));
    if (!value || !std::isfinite(*value))
      throw InputError("concord gradient: --by " + in_quotes(word) +
                       " must be a name, or a name and its value: left.m=5");
    at.push_back(model.number(names.back(), *value));
  }

  std::string text;
  Cost cost;
  StudyModel model;
  std::vector<std::string> names;
  std::vector<Varied> at;
  double terms = 0.0;  ///< magnitude of what the cost sums
};

/// sum |dc/da| |a| of the integrals and ends that a cost c is made of, which may cancel in it.
double terms_of(GradientWish& wish, std::vector<double> answers) {
  constexpr double little = 1e-6;
  const double value = wish.cost.value(answers);
  double terms = 0.0;
  for (std::size_t i = 0; i < wish.cost.questions().at_stop.size(); ++i) {
    const double before = std::exchange(answers[i], (1.0 + little) * answers[i]);
    terms += std::abs(wish.cost.value(answers) - value) / little;
    answers[i] = before;
  }
  return std::max(terms, std::abs(value));
}

/// What errors of runs, which are relative to ranges, may make of a difference with the smallest
/// step, where they do not cancel.
double noise_of(double terms, const AskedRuns& runs, const Varied& number) {
  return runs.largest_error().value_or(0.0) * terms / (smallest_share * number.size);
}

/// A derivative, what may be wrong with it, and whether differences with other steps tell another
/// one, though runs are exact enough.
struct ToldDerivative {
  std::string name;
  double at, size, slope, error;
  bool doubtful;
};

std::vector<ToldDerivative> told(const GradientWish& wish, const Derivatives& found,
                                 const AskedRuns& runs) {
  constexpr double much = 1e-2;
  std::vector<ToldDerivative> result;
  for (std::size_t i = 0; i < wish.names.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    const double slope = found.by(0, column), error = found.errors(0, column);
    const double value_alone = std::abs(found.values[0]);
    const double least_noise = noise_of(value_alone, runs, wish.at[i]);
    const double rounding = 1e-9 * value_alone / wish.at[i].size;
    const bool doubtful = error > much * std::abs(slope) && error > std::max(least_noise, rounding);
    const auto [value, size] = wish.at[i];
    result.push_back({wish.names[i], value, size, slope,
                      error + noise_of(wish.terms, runs, wish.at[i]), doubtful});
  }
  return result;
}

Derivatives derivatives_of(GradientWish& wish, AskedRuns& runs) {
  return differentiate(wish.at, [&](const std::vector<std::vector<double>>& points) {
    const Eigen::MatrixXd answers = runs.at(points);
    Eigen::MatrixXd costs(1, answers.cols());
    for (Eigen::Index i = 0; i < answers.cols(); ++i) {
      const auto column = answers.col(i);
      costs(0, i) = wish.cost.value({column.data(), static_cast<std::size_t>(column.size())});
      if (wish.terms == 0.0 && column.allFinite())
        wish.terms = terms_of(wish, {column.begin(), column.end()});
    }
    return costs;
  });
}

void require_known(const GradientWish& wish, const Derivatives& found, const ExactRuns& exact) {
  if (!std::isfinite(found.values[0])) {
    exact.runs->rethrow_failure("the run fails: ");
    throw SimulationError("the cost " + in_quotes(wish.text) + " is not a number");
  }
  for (std::size_t i = 0; i < wish.names.size(); ++i)
    if (!std::isfinite(found.by(0, static_cast<Eigen::Index>(i)))) {
      exact.runs->rethrow_failure("there is no derivative by " + wish.names[i] +
                                  ", as runs beside the point fail: ");
      throw SimulationError("there is no derivative by " + wish.names[i] + ", as the cost " +
                            in_quotes(wish.text) + " is not a number beside the point");
    }
}

void tell(const GradientWish& wish, double value, const std::vector<ToldDerivative>& derivatives) {
  std::printf("%s: %s = %.12g\n", wish.model.name().c_str(), wish.text.c_str(), value);
  if (!derivatives.empty())
    std::printf("  %-24s %15s %18s %10s %14s\n", "by", "at", "derivative", "error", "1 % changes");
  for (const ToldDerivative& one : derivatives)
    std::printf("  %-24s %15.9g %18.11g %10.1e %13.4g\n", one.name.c_str(), one.at, one.slope,
                one.error, 0.01 * one.size * one.slope);
}

void warn(const std::vector<ToldDerivative>& derivatives) {
  for (const ToldDerivative& one : derivatives)
    if (one.doubtful)
      std::fprintf(stderr,
                   "concord: warning: the derivative by %s is doubtful: differences of other sizes "
                   "give another one; the cost has a kink or a jump there, or runs are not exact "
                   "enough (-cosim_accuracy)\n",
                   one.name.c_str());
}

std::string as_json(const GradientWish& wish, double value,
                    const std::vector<ToldDerivative>& derivatives, const ExactRuns& exact) {
  nlohmann::ordered_json file;
  file["model"] = wish.model.name();
  file["of"] = wish.text;
  file["value"] = value;
  file["by"] = nlohmann::ordered_json::array();
  for (const ToldDerivative& one : derivatives)
    file["by"].push_back(
        {{"name", one.name}, {"value", one.at}, {"derivative", one.slope}, {"error", one.error}});
  file["runs"] = exact.runs->count();
  file["error_of_runs"] = json_number(exact.error());
  return file.dump(2) + "\n";
}

int gradient_of(const ModelFileCall& call) {
  if (!call.own.has("of"))
    throw InputError("concord gradient needs a cost: --of \"integral((left.x - right.x)^2)\"");
  std::optional<GradientWish> wish;
  together(PETSC_COMM_WORLD, [&] { wish.emplace(call); });
  std::vector<double> point;
  for (const Varied& number : wish->at) point.push_back(number.value);
  const ExactRuns exact =
      exact_runs(call, "gradient", wish->model, wish->names, point, wish->cost.questions());
  const Derivatives found = derivatives_of(*wish, *exact.runs);
  together(PETSC_COMM_WORLD, [&] {
    require_known(*wish, found, exact);
    if (rank_in(PETSC_COMM_WORLD) != 0) return;
    const double value = found.values[0];
    const std::vector<ToldDerivative> derivatives = told(*wish, found, *exact.runs);
    tell(*wish, value, derivatives);
    std::printf("  runs                  %s\n", exact.in_words().c_str());
    warn(derivatives);
    const std::string path = call.own.value("output").value_or("");
    if (path.empty()) return;
    const std::string text = as_json(*wish, value, derivatives, exact);
    write_output_file(path, text);
    std::printf("  derivatives           %s\n", path.c_str());
  });
  return 0;
}

const RegisteredCommand gradient({
    .name = "gradient",
    .place = 36,
    .launch = "mpirun -n R ",
    .usage = "MODEL --of COST [--by left.m,right.k] [-o gradient.json] [-options]",
    .summary = "derivatives of a number that a run gives by parameters and start values",
    .description =
        "COST is an expression in variables at the stop (left.x), in integrals over the\n"
        "experiment of expressions in outputs and parameters, integral((left.x - right.x)^2),\n"
        "and in sums of squares of what variables are off a table, misfit(data.csv), which has\n"
        "a column time. Derivatives are central differences of runs with three steps each,\n"
        "extrapolated (Ridders 1982), with the error that they tell of; six runs for each\n"
        "number, which ranks share. Where no option says how exactly they run, it is to 1e-10\n"
        "of each signal's range, or to 1e-8 or 1e-6 where that fails.",
    .words = words_of_models(
        {{.name = "of", .value = "COST", .help = "\"final(left.x) + 0.1*integral(left.v^2)\""},
         {.name = "by",
          .value = "LIST",
          .help = "left.m,right.k: parameters and start values; left.m=5 at\nanother value than "
                  "the model's (default: the cost alone)"},
         {.name = "ranks_per_run", .value = "n", .help = "ranks of each run (default 1)"},
         {.name = "output", .letter = 'o', .value = "FILE", .help = "the same as JSON"}}),
    .example = "gradient model.yaml --of \"integral((left.x - right.x)^2)\" --by left.m,right.k",
    .more_help = options_help,
    .run =
        [](const Arguments& arguments) {
          return with_model_file(gradient, arguments, gradient_of);
        },
});

}  // namespace
}  // namespace concord
