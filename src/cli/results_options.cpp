#include "cli/results_options.hpp"

#include <algorithm>
#include <filesystem>
#include <unordered_set>
#include <utility>

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

}  // namespace

ResultsOptions read_results_options(const Command& command, std::span<const std::string> arguments,
                                    std::size_t files) {
  const GivenWords given = read_words(command, arguments);
  ResultsOptions options;
  options.files = given.names;
  options.output = given.value("output");
  options.events = given.value("events");
  options.follow = given.has("follow");
  options.tolerance = tolerance_in(command, given);
  options.json = given.has("json");
  if (given.has("variables"))
    for (const std::string& list : given.words.at("variables"))
      for (std::string& name : listed_names(list)) options.variables.push_back(std::move(name));
  if (options.files.size() != files)
    refuse_words(command, std::string("'concord ") + command.name + "' takes " +
                              std::to_string(files) +
                              (files == 1 ? " results file" : " results files") + ", not " +
                              std::to_string(options.files.size()));
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

}  // namespace concord
