#include "cli/study_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>

#include "cli/written_files.hpp"
#include "concord/errors.hpp"
#include "modelfile/model_file.hpp"
#include "support/name_patterns.hpp"
#include "support/options.hpp"
#include "support/petsc.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

std::vector<std::string> keys(const std::map<std::string, ModelNumber>& numbers) {
  std::vector<std::string> result;
  for (const auto& [name, number] : numbers) result.push_back(name);
  return result;
}

/// Those of the command line, which name no file.
Options given_options(const std::string& command) {
  for (const char* file : {"cosim_output", "cosim_checkpoint", "cosim_restart", "cosim_trace"})
    if (options::has(file))
      throw InputError("concord " + command + ": -" + file +
                       " has no meaning, as its runs are in memory; leave it out");
  Options result;
  for (const auto& [name, value] : options::named(options::all()))
    result[name] = value.empty() ? "true" : value;
  return result;
}

std::string rounded(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2g", value);
  return text.data();
}

}  // namespace

StudyModel::StudyModel(const ModelFileCall& call, std::function<void(Model&)> add)
    : source_([text = std::make_shared<const ModelFileText>(call.path),
               fixed = changes_in(call.own, call.own.all("set")),
               add = std::move(add)](const Changes& values) {
        ModelChanges all = fixed;
        for (ModelChange& change : read_changes(values)) all.push_back(std::move(change));
        auto model = std::make_shared<Model>(text->model(all));
        add(*model);
        return model;
      }) {
  const auto model = source_({});
  require_words_apart(call.own, *model);
  name_ = model->name;
  numbers_ = numbers_of(*model);
}

std::optional<double> StudyModel::known(const std::string& name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second.value);
}

Varied StudyModel::number(const std::string& name, const std::string& option) const {
  const auto value = known(name);
  if (!value)
    throw InputError(option + " " + in_quotes(name) +
                     ": what it is in the model is not known; if it has such a parameter or start "
                     "value, give its value, " +
                     option + " " + name + "=1.5; " + nearest_names(name, keys(numbers_)));
  return number(name, *value);
}

Varied StudyModel::number(const std::string& name, double value) const {
  const auto found = numbers_.find(name);
  const double nominal = found == numbers_.end() ? 0.0 : std::abs(found->second.nominal);
  return {value, value != 0.0 ? std::abs(value) : nominal > 0.0 ? nominal : 1.0};
}

void require_once(std::vector<std::string> names, const std::string& option) {
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end())
    throw InputError(option + " names " + in_quotes(*twice) + " twice; leave one of them out");
}

double ExactRuns::error() const {
  return runs->largest_error().value_or(std::numeric_limits<double>::quiet_NaN());
}

std::string ExactRuns::in_words() const {
  const std::string known = std::isnan(error()) ? "errors unknown: " + runs->unknown_error()
                                                : "errors up to " + rounded(error()) +
                                                      " of a signal's range, by their estimates";
  return std::to_string(runs->count()) + "; " + known;
}

ExactRuns exact_runs(const ModelFileCall& call, const std::string& command, const StudyModel& model,
                     const std::vector<std::string>& names, const std::vector<double>& point,
                     const Questions& questions) {
  Options options = given_options(command);
  const bool said =
      options::has("cosim_accuracy") || options::has("cosim_step") || options::has("cosim_adapt");
  const auto ranks =
      static_cast<int>(whole_number(call.own, command, "ranks_per_run", 1).value_or(1));
  std::vector<std::string> accuracies = {"1e-10", "1e-8", "1e-6"};
  if (said) accuracies = {""};
  ExactRuns result;
  for (const std::string& accuracy : accuracies) {
    if (!said) options["cosim_accuracy"] = accuracy;
    result.runs = std::make_unique<AskedRuns>(PETSC_COMM_WORLD, ranks, model.source(), options,
                                              names, questions);
    if (result.runs->at({point}).allFinite()) break;
  }
  result.runs->rethrow_failure("the run fails: ");
  return result;
}

}  // namespace concord
