#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "files/table_output.hpp"
#include "record/results_reader.hpp"

namespace concord {

/// What compare and export are asked for on the command line.
struct ResultsOptions {
  std::vector<std::string> files;
  std::vector<std::string> variables;  ///< names and patterns; empty means all
  std::optional<std::string> output;   ///< -o; never one of the files
  std::optional<std::string> rows;     ///< of export: grid, events or all
  std::optional<std::string> events;   ///< of export: both or right
  std::optional<double> interval;      ///< of export: s, between rows of its own
  bool texts = false;                  ///< of export: text outputs alone
  std::optional<CsvDialect> dialect;   ///< of export
  std::optional<double> tolerance;     ///< of compare: in units of ranges
  bool json = false;                   ///< of compare
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
