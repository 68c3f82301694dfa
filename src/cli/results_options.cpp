#include "cli/results_options.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <unordered_set>

#include "concord/errors.hpp"
#include "support/name_patterns.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

void require_output_apart(const ResultsOptions& options) {
  std::error_code error;
  for (const std::string& file : options.files)
    if (options.output && std::filesystem::equivalent(*options.output, file, error))
      throw InputError("-o names the results file '" + file + "' itself; choose another file");
}

std::optional<double> tolerance_in(const Command& command, const GivenWords& given) {
  const auto text = given.value("tolerance");
  if (!text) return std::nullopt;
  const auto number = parse_number(*text);
  if (!number || *number < 0.0)
    refuse_words(command,
                 "--tolerance must be a number that is not negative, not " + in_quotes(*text));
  return number;
}

std::optional<double> interval_in(const Command& command, const GivenWords& given) {
  const auto text = given.value("interval");
  if (!text) return std::nullopt;
  const auto number = parse_number(*text);
  if (!number || !(*number > 0.0) || !std::isfinite(*number))
    refuse_words(command, "--interval must be a time in s above 0, not " + in_quotes(*text));
  if (given.has("rows") || given.has("events"))
    refuse_words(command, "--interval gives rows of its own; leave --rows and --events out");
  return number;
}

}  // namespace

ResultsOptions read_results_options(const Command& command, std::span<const std::string> arguments,
                                    std::size_t least, std::size_t most) {
  const GivenWords given = read_words(command, arguments);
  ResultsOptions options;
  options.files = given.names;
  options.output = given.value("output");
  options.rows = given.value("rows");
  options.events = given.value("events");
  if (const auto words = given.value("dialect")) options.dialect = csv_dialect(*words, "--dialect");
  options.tolerance = tolerance_in(command, given);
  options.interval = interval_in(command, given);
  options.json = given.has("json");
  options.texts = given.has("texts");
  if (options.texts && (given.has("rows") || given.has("events") || given.has("interval")))
    refuse_words(command,
                 "--texts gives rows of its own; leave --rows, --events and --interval out");
  if (given.has("variables"))
    for (const std::string& list : given.words.at("variables"))
      for (std::string& name : listed_names(list)) options.variables.push_back(std::move(name));
  const std::size_t found = options.files.size();
  if (found < least || found > most)
    refuse_words(command, std::string("'concord ") + command.name + "' takes " +
                              std::to_string(least) + (least < most ? " or more" : "") +
                              (most == 1 ? " results file" : " results files") + ", not " +
                              std::to_string(found));
  require_output_apart(options);
  return options;
}

std::vector<RecordedVariable> select_variables(const ResultsReader& results,
                                               const std::vector<std::string>& wanted) {
  std::vector<std::string> names;
  for (const RecordedVariable& v : results.variables()) names.push_back(v.name);
  const auto list = chosen_names(wanted, names, "'" + results.path().string() + "'");
  const std::unordered_set<std::string> selected(list.begin(), list.end());
  std::vector<RecordedVariable> result;
  std::copy_if(results.variables().begin(), results.variables().end(), std::back_inserter(result),
               [&](const RecordedVariable& v) { return selected.contains(v.name); });
  return result;
}

std::vector<RecordedVariable> shown_variables(const ResultsReader& results,
                                              const std::vector<std::string>& wanted) {
  if (!wanted.empty()) return select_variables(results, wanted);
  for (const Quantity q : {"/outputs/values", "/inputs/values", "/states/values"}) {
    std::vector<RecordedVariable> variables;
    std::copy_if(results.variables().begin(), results.variables().end(),
                 std::back_inserter(variables),
                 [&](const RecordedVariable& v) { return v.quantity == q; });
    if (!variables.empty()) return variables;
  }
  throw InputError("'" + results.path().string() + "' holds no variables, only times and steps");
}

}  // namespace concord
