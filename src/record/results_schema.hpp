#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "record/results_content.hpp"
#include "record/step_sums.hpp"

namespace concord {

// What is in a results file, once: whoever creates, fills, ends or reads one goes through these
// tables, and a test holds them against FORMAT.md. A new dataset is a new entry (below /steps: in
// step_sums.cpp), and its line in FORMAT.md.

inline constexpr std::int32_t results_format_version = 1;

/// Extents of datasets: rows, macro-steps, events, and what the layout counts.
enum class Extent {
  rows,
  steps,
  outputs,
  inputs,
  states,
  connections,
  subsystems,
  ranks,
  events,
  coefficients,
  files,
  runs,
  parts,
  links,
  text_outputs,
  texts
};

/// Whether it grows with the run, or with each that goes on from it.
constexpr bool grows_within(Extent extent) {
  return extent == Extent::rows || extent == Extent::steps || extent == Extent::events ||
         extent == Extent::texts;
}
constexpr bool grows(Extent extent) { return grows_within(extent) || extent == Extent::runs; }

/// Of what grows with the run.
constexpr std::uint64_t length_of(Extent extent, const Lengths& lengths) {
  if (extent == Extent::events) return lengths.events;
  if (extent == Extent::texts) return lengths.texts;
  return extent == Extent::steps ? lengths.steps : lengths.rows;
}

/// Texts that are known from the beginning.
struct KnownTexts {
  std::vector<std::string> (*of)(const ResultsLayout& layout);
};

/// Numbers that are known from the beginning.
struct KnownNumbers {
  std::vector<double> (*of)(const ResultsLayout& layout);
};

/// Numbers that are known at the end; each is `before` until then.
struct FinalNumbers {
  double before;
  std::vector<double> (*of)(const ResultsEnd& end);
};

/// Of an event: what was before it, and what follows it.
enum class Limit { left, right };

/// Numbers of each row, or of each event: of this rank's columns, or one that every rank knows.
struct RowNumbers {
  const RecordedColumns ResultsLayout::*columns;  ///< null: one
  void (*fill)(const ResultsRow& row, std::span<const std::size_t> local_index,
               std::span<double> to);
  Limit limit = Limit::left;  ///< of an event
};

/// A text of each event, which every rank knows.
struct EventTexts {
  std::string RecordedEvent::*text;
};

/// A text of each change of a text output, which every rank knows.
struct ChangeTexts {
  std::string RecordedText::*text;
};

/// A text of each run that has written the file.
struct RunTexts {
  std::string RunRecord::*text;
};

/// An entry of StepSums.
struct StepNumber {
  std::size_t index;
};

struct ResultsDataset {
  std::string path;
  Number number;
  std::vector<Extent> extents;
  std::function<bool(const ResultsLayout& layout)> exists;
  std::variant<KnownTexts, KnownNumbers, FinalNumbers, RowNumbers, EventTexts, ChangeTexts,
               RunTexts, StepNumber>
      content;
  bool on_grids = true;  ///< whether rows on the user's grid have it

  bool grows() const { return concord::grows(extents[0]); }
  /// A column is a variable that carries a name.
  bool has_variables() const { return extents[0] == Extent::rows && path.ends_with("/values"); }
  std::string group() const { return path.substr(0, path.rfind('/')); }
};

using AttributeValue = std::variant<std::string, std::int32_t, std::int64_t, double>;

struct ResultsAttribute {
  const char* object;  ///< "/" or a dataset's path
  const char* name;
  AttributeValue (*begin)(const ResultsLayout& layout, int ranks);
  AttributeValue (*end)(const ResultsEnd& end);  ///< null: stays
};

/// In the order in which they come into being.
const std::vector<ResultsDataset>& results_datasets();
std::span<const ResultsAttribute> results_attributes();

/// That of a path; throws std::logic_error where there is none.
const ResultsDataset& dataset_of(std::string_view path);

/// Where rows are on a grid, events have none: the dataset of what follows them, for one of rows.
std::string right_limits_of(std::string_view path);
/// "/events/outputs" of "/outputs/values", "/events/left/outputs/derivatives" of
/// "/outputs/derivatives".
std::string left_limits_of(std::string_view path);
bool are_slopes(std::string_view path);

/// The dataset whose entries stand for those of an extent (a dimension scale); empty: none.
std::string scale_of(Extent extent, const ResultsLayout& layout);

/// Of what the layout counts.
std::size_t size_of(Extent extent, const ResultsLayout& layout);

/// "f64[T, n_out]", "str": as in FORMAT.md.
std::string type_text(const ResultsDataset& dataset);
std::string type_text(const ResultsAttribute& attribute);

std::string_view to_string(RunStatus status);
/// While the run goes on.
std::string first_status(const ResultsLayout& layout);

}  // namespace concord
