#include "cli/results_options.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <sstream>
#include <unordered_set>
#include <utility>

#include "concord/errors.hpp"

namespace concord {
namespace {

void add_names(const std::string& list, std::vector<std::string>& names) {
  std::istringstream stream(list);
  for (std::string name; std::getline(stream, name, ',');) {
    const auto first = name.find_first_not_of(' ');
    if (first == std::string::npos) continue;
    names.push_back(name.substr(first, name.find_last_not_of(' ') - first + 1));
  }
}

/// Number of insertions, deletions and replacements that turn a into b (Levenshtein 1966).
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string nearest_names(const std::string& wanted, const std::vector<std::string>& names) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& name : names) ranked.emplace_back(edit_distance(wanted, name), name);
  const std::size_t count = std::min<std::size_t>(3, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(count),
                    ranked.end());
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + ranked[i].second;
  return text.empty() ? "; nothing is recorded there" : "; the nearest names are " + text;
}

void require_output_apart(const ResultsOptions& options) {
  std::error_code error;
  for (const std::string& file : options.files)
    if (options.output && std::filesystem::equivalent(*options.output, file, error))
      throw InputError("-o names the results file '" + file + "' itself; choose another file");
}

}  // namespace

ResultsOptions read_results_options(const Command& command, std::span<const std::string> arguments,
                                    std::size_t files) {
  const GivenWords given = read_words(command, arguments);
  ResultsOptions options;
  options.files = given.names;
  options.output = given.value("output");
  options.events = given.value("events");
  if (given.has("variables"))
    for (const std::string& list : given.words.at("variables")) add_names(list, options.variables);
  if (options.files.size() != files)
    refuse_words(command, std::string("'concord ") + command.name + "' takes " +
                              std::to_string(files) +
                              (files == 1 ? " results file" : " results files") + ", not " +
                              std::to_string(options.files.size()));
  require_output_apart(options);
  return options;
}

std::vector<std::string> select_names(const std::vector<std::string>& wanted,
                                      const std::vector<std::string>& names,
                                      const std::string& where) {
  if (wanted.empty()) return names;
  std::unordered_set<std::string> selected;
  for (const std::string& pattern : wanted) {
    bool found = false;
    for (const std::string& name : names)
      if (name == pattern || fnmatch(pattern.c_str(), name.c_str(), 0) == 0) {
        selected.insert(name);
        found = true;
      }
    if (!found)
      throw InputError("there is no variable '" + pattern + "' in " + where +
                       nearest_names(pattern, names));
  }
  std::vector<std::string> result;
  std::copy_if(names.begin(), names.end(), std::back_inserter(result),
               [&](const std::string& name) { return selected.contains(name); });
  return result;
}

std::vector<RecordedVariable> select_variables(const ResultsReader& results,
                                               const std::vector<std::string>& wanted) {
  std::vector<std::string> names;
  for (const RecordedVariable& v : results.variables()) names.push_back(v.name);
  const auto list = select_names(wanted, names, "'" + results.path().string() + "'");
  const std::unordered_set<std::string> selected(list.begin(), list.end());
  std::vector<RecordedVariable> result;
  std::copy_if(results.variables().begin(), results.variables().end(), std::back_inserter(result),
               [&](const RecordedVariable& v) { return selected.contains(v.name); });
  return result;
}

}  // namespace concord
