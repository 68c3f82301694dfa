#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "concord/archive.hpp"
#include "concord/polynomial.hpp"
#include "simulation/checkpointed_rows.hpp"
#include "simulation/run_costs.hpp"
#include "simulation/run_quality.hpp"
#include "subsystem/subsystem.hpp"
#include "support/text_column.hpp"

namespace concord {

/// Texts, most of which are one of a few.
class RepeatedTexts {
 public:
  void push_back(const std::string& text) {
    const auto found = std::find(few_.begin(), few_.end(), text);
    which_.push_back(static_cast<std::uint32_t>(found - few_.begin()));
    if (found == few_.end()) few_.push_back(text);
  }
  std::size_t size() const { return which_.size(); }
  std::vector<std::string> all() const {
    std::vector<std::string> result;
    result.reserve(size());
    for (const std::uint32_t i : which_) result.push_back(few_[i]);
    return result;
  }

 private:
  std::vector<std::string> few_;
  std::vector<std::uint32_t> which_;
};

/// The columns of one dataset that this rank writes.
struct RecordedColumns {
  bool recorded = true;             ///< false leaves the group out of the file
  std::size_t total = 0;            ///< columns of the dataset, over all ranks
  TextColumn names;                 ///< all `total` of them, in model-file order
  RepeatedTexts units;              ///< all `total` of them
  RepeatedTexts display;            ///< the units to show them in, all of them
  std::vector<std::size_t> column;  ///< global column of each of this rank's columns, ascending
  std::vector<std::size_t> local_index;  ///< where this rank finds it in its own arrays
};

/// How much there is of what grows with a run.
struct Lengths {
  std::uint64_t rows = 0, steps = 0, events = 0;
  std::uint64_t texts = 0;  ///< changes of texts and bytes

  bool covers(const Lengths& other) const {
    return rows >= other.rows && steps >= other.steps && events >= other.events &&
           texts >= other.texts;
  }
  Lengths& operator+=(const Lengths& more) {
    rows += more.rows, steps += more.steps, events += more.events, texts += more.texts;
    return *this;
  }
  Lengths operator+(const Lengths& more) const { return Lengths(*this) += more; }
  /// What lies behind `begin`.
  Lengths operator-(const Lengths& begin) const {
    return {rows - begin.rows, steps - begin.steps, events - begin.events, texts - begin.texts};
  }
  void io(Archive& archive) { CONCORD_MEMBERS(archive, rows, steps, events, texts); }
  int memory_version() const { return 2; }
};

/// The files with a run's rows below its results file (-cosim_record_split); each is a results file
/// by itself.
struct ResultsParts {
  std::vector<std::string> names;  ///< relative to the results file's folder
  std::vector<Lengths> lengths;    ///< what each holds; of the last one 0 while the run goes on

  bool empty() const { return names.empty(); }
};

/// What a run was made from and with; one that goes on from a checkpoint adds its own.
struct RunRecord {
  std::string started;  ///< UTC, ISO 8601
  std::string host, ranks, command_line;
  std::string options;    ///< lines "-cosim_type jfm": those of runs, as they took effect
  std::string versions;   ///< lines "PETSc 3.18.1"
  std::string continues;  ///< the results file with what was before, if that is another one
};

/// Where the rows before a file's first one are, where it does not begin with the run's.
struct EarlierRows {
  std::string file;  ///< empty: nowhere any more, or there are none
  std::string run;   ///< whose checkpoints are looking for them, where they are lost
};

/// What a results file holds; columns of what is not recorded are empty.
struct ResultsLayout {
  std::string model_name;
  std::string command_line;
  std::string run;           ///< by which its checkpoints know it
  std::string replaced_run;  ///< whose rows are lost, so that this file was begun
  std::size_t ranks = 1;
  std::string changes;
  std::string initial_values;  ///< lines "ball.h=0.9" of what initial equations have found
  std::string petsc_options;
  std::string model_text;  ///< empty where nothing describes the model
  std::vector<std::string> file_names, file_roles, file_sha256;  ///< of the model and all it names
  RunRecord run_record;
  RecordedColumns outputs, inputs, states;
  RecordedColumns balance{false, 0,  {}, {},
                          {},    {}, {}};  ///< named like connections, of local inputs
  bool slopes = false;  ///< whether those of outputs and states are known in every row
  bool grid = false;    ///< rows are where the user wants them, not at the ends of macro-steps
  int compression = 0;  ///< gzip's level, once the run is done, or the part is full
  std::uint64_t part_bytes = 0;  ///< of a part at most; 0: the file is one
  ResultsParts parts;            ///< that there are; none: the file holds its rows itself
  bool is_part = false;          ///< of another file's rows
  std::size_t coefficients = 0;  ///< of /inputs/polynomials, for the columns of `inputs`; 0: none
  std::vector<std::string> text_names,
      text_types;              ///< of outputs that are no numbers, of all ranks
  TextColumn subsystem_names;  ///< all, in model-file order
  RepeatedTexts subsystem_kinds;
  std::vector<int> subsystem_ranks;
  std::vector<int> subsystem_groups;                   ///< from 1; 0: of none
  std::vector<std::string> link_outputs, link_inputs;  ///< connections; none of a model of many
  std::vector<int> link_loops;                         ///< 0: in no algebraic loop, else which one
};

/// One row: this rank's arrays at a communication point, whole (the layout picks the columns).
struct ResultsRow {
  double time = 0.0;
  std::span<const Sample> outputs;
  std::span<const Sample> inputs;
  std::span<const double> states;
  std::span<const Polynomial> polynomials;  ///< of the macro-step that ended here
  std::span<const double> balance = {};     ///< accumulated balance error of every input
  std::span<const double> slopes = {};      ///< of every output; NaN where not known; none: nowhere
  std::span<const double> state_slopes = {};  ///< likewise
};

/// How much of a run is recorded.
struct ResultsPosition {
  std::string run;  ///< whose
  Lengths lengths;

  void io(Archive& archive) { CONCORD_MEMBERS(archive, run, lengths); }
};

/// What happened at a communication point; the same on every rank.
struct RecordedEvent {
  std::string subsystem;  ///< by name; "" of the model itself
  std::string what;
};

/// From when on a text output is what; the same on every rank.
struct RecordedText {
  double time = 0.0;
  std::string variable;
  std::string value;  ///< bytes in hexadecimal digits
};

/// What is known at the end of a run, of all ranks.
struct ResultsEnd {
  RunStatus status = RunStatus::running;
  RunCosts costs;                     ///< on the first rank
  std::vector<double> output_errors;  ///< per recorded output
  RunQuality quality;
};

}  // namespace concord
