#pragma once

#include <span>
#include <string>
#include <vector>

#include "record/results_reader.hpp"

namespace concord {

// The commands that read results files. `arguments` are those after the command's name. They print
// to stdout, return the exit code 0 and throw InputError for everything that is wrong.

/// Error of A against the reference B, per variable: relative L2 and maximum.
int compare_command(std::span<const std::string> arguments);
/// Variables as a table.
int export_command(std::span<const std::string> arguments);
/// Lines of the rows that the user wanted on a grid, of the instants of events, or of both.
enum class ChosenRows { grid, events, all };
/// Lines at an event: what was before it, and what follows.
enum class EventLines { both, right };
struct ChosenLines {
  ChosenRows rows = ChosenRows::all;
  EventLines at_events = EventLines::both;
};
/// Where rows are on a grid those of the grid, else all.
ChosenRows own_rows(const ResultsReader& results);
/// The same of chosen variables, under the names they have there.
void write_table(const ResultsReader& results, const std::vector<RecordedVariable>& variables,
                 ChosenLines chosen, const std::string& file);

}  // namespace concord
