#include "cli/results_options.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
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

/// --phase, --range and --log of plot.
void take_axes(const Command& command, const GivenWords& given, ResultsOptions& options) {
  if (const auto text = given.value("phase")) {
    options.phase = listed_names(*text);
    if (options.phase.size() != 2)
      refuse_words(command, "--phase takes two variables, left.x,left.v, not " + in_quotes(*text));
  }
  if (const auto text = given.value("range")) {
    const auto ends = listed_names(*text);
    const auto begin = parse_number(ends.empty() ? "" : ends[0]),
               end = parse_number(ends.size() == 2 ? ends[1] : "");
    if (!begin || !end || !(*begin < *end))
      refuse_words(command, "--range takes two times in s, 0.5,2, not " + in_quotes(*text));
    options.range = {*begin, *end};
  }
  options.log = given.value("log").value_or("");
  if (given.has("log") && options.log != "x" && options.log != "y" && options.log != "xy")
    refuse_words(command, "--log takes x, y or xy, not " + in_quotes(options.log));
}

/// "84mm", "8.4cm", "3.3in", in mm.
double width_in(const Command& command, const std::string& text) {
  constexpr std::pair<std::string_view, double> units[] = {{"mm", 1.0}, {"cm", 10.0}, {"in", 25.4}};
  constexpr double least = 30.0, most = 2000.0;
  for (const auto& [unit, size] : units) {
    if (!text.ends_with(unit)) continue;
    const auto number = parse_number(text.substr(0, text.size() - unit.size()));
    if (number && *number * size >= least && *number * size <= most) return *number * size;
  }
  refuse_words(command,
               "--width must be 30mm to 2000mm, in mm, cm or in: 84mm, not " + in_quotes(text));
}

/// --title, --width, --font and --letters of plot.
void take_looks(const Command& command, const GivenWords& given, ResultsOptions& options) {
  constexpr double least = 3.0, most = 100.0;
  options.title = given.value("title");
  options.letters = given.has("letters");
  if (const auto text = given.value("width")) options.width = width_in(command, *text);
  if (const auto text = given.value("font")) {
    options.font = parse_number(*text);
    if (!options.font || !(*options.font >= least && *options.font <= most))
      refuse_words(command, "--font must be a size from 3 to 100 points, not " + in_quotes(*text));
  }
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
  options.follow = given.has("follow");
  options.network = given.has("network");
  options.tolerance = tolerance_in(command, given);
  options.interval = interval_in(command, given);
  options.json = given.has("json");
  take_axes(command, given, options);
  take_looks(command, given, options);
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
