#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "files/table_output.hpp"
#include "record/results_reader.hpp"

namespace concord {

/// What compare, export and plot are asked for on the command line.
struct ResultsOptions {
  std::vector<std::string> files;
  std::vector<std::string> variables;  ///< names and patterns; empty means all
  std::optional<std::string> output;   ///< -o; never one of the files
  std::optional<std::string> rows;     ///< of export: grid, events or all
  std::optional<std::string> events;   ///< of export: both or right
  std::optional<double> interval;      ///< of export: s, between rows of its own
  std::optional<CsvDialect> dialect;   ///< of export
  bool follow = false;                 ///< of plot: until the run ends
  std::optional<double> tolerance;     ///< of compare: in units of ranges
  std::vector<std::string> phase;      ///< of plot: names over x and y; empty: over time
  std::optional<std::pair<double, double>> range;  ///< of plot: s
  std::string log;                                 ///< of plot: axes, "x", "y" or "xy"
  std::optional<std::string> title;                ///< of plot
  std::optional<double> width, font;               ///< of plot: mm, points
  bool letters = false;                            ///< of plot
  bool network = false;                            ///< of plot: instead of variables
  bool json = false;                               ///< of compare
};

/// `least` to `most` is how many file names there must be; `arguments` are those after the
/// command's name. Throws InputError.
ResultsOptions read_results_options(const Command& command, std::span<const std::string> arguments,
                                    std::size_t least, std::size_t most);

/// The variables of `results` that `wanted` stands for.
std::vector<RecordedVariable> select_variables(const ResultsReader& results,
                                               const std::vector<std::string>& wanted);

/// The same; where nothing is wanted the outputs, or what is recorded instead of them. Throws
/// InputError where nothing is.
std::vector<RecordedVariable> shown_variables(const ResultsReader& results,
                                              const std::vector<std::string>& wanted);

}  // namespace concord
