#pragma once

#include <optional>
#include <string>
#include <vector>

#include "network/written_parts.hpp"
#include "record/results_writer.hpp"
#include "simulation/simulation_core.hpp"

namespace concord {

/// Writes accepted communication points into the results file: every n-th of them and those of
/// events, or what lies at the times of the user's grid; and the last.
class Recorder : public StepObserver, public CheckpointedRows {
 public:
  /// Collective.
  Recorder(SimulationCore& simulation, const std::string& path, const std::string& command_line);

  const std::string& path() const { return path_; }

  /// The first row.
  void start();
  /// Whether there is a results file of this run.
  bool begun() const { return writer_->begun(); }
  void step_accepted(const StepReport& report) override;

  /// A results file that opens, up to here. Collective.
  void flush() { writer_->flush(); }

  /// How far it has come; what is read, in place of `start`, goes on from there in the file that
  /// is there, or, where other columns are recorded than before or that file is lost, begins
  /// another one. Throws InputError where that would replace rows from before. Collective.
  void io(Archive& archive);

  std::vector<std::byte> mark() const override;
  void secure(const std::vector<std::byte>& mark) override;
  std::optional<ResultsObstacle> obstacle(const std::vector<std::byte>& mark) const override;
  /// In words: where it goes on, if that is not the file from before.
  const std::string& told() const { return told_; }

  /// Writes what is pending, what is known of the run's quality and the counters. Collective.
  void close(RunStatus status, RunCosts costs, const RunQuality& quality);

 private:
  ResultsRow row(const CommunicationPoint& point, std::span<const double> states);
  void take_slopes(std::span<const Sample> outputs, bool known, std::vector<double>& slopes) const;
  ResultsRow whole(ResultsRow row, std::vector<Sample>& inputs) const;
  RecordedEvent recorded(const EventReport& event) const;
  bool record_events(const StepReport& report, const ResultsRow& row);
  void write_inside(const StepReport& report);
  void find_text_outputs(std::span<const WrittenPart> parts, ResultsLayout& layout);
  void record_texts(double time);
  void forget_texts(bool told);
  void write(const ResultsRow& row);
  void begin_another(const std::string& before, const std::string& earlier);
  void begin_without(const std::string& run, const std::string& reason);
  void begin_here(const EarlierRows& earlier);

  /// A row that is not written yet, as it was when its macro-step was accepted: the next one, which
  /// may fail, moves subsystems and communication point on.
  struct Kept {
    double time = 0.0;
    std::vector<Sample> outputs, inputs;
    std::vector<double> states, balance, slopes, state_slopes;
    std::vector<Polynomial> polynomials;

    void keep(const ResultsRow& row);
    void io(Archive& archive) {
      CONCORD_MEMBERS(archive, time);
      CONCORD_MEMBERS_PER(archive, Per::input, inputs, balance, polynomials);
      CONCORD_MEMBERS_PER(archive, Per::output, outputs, slopes);
      CONCORD_MEMBERS_PER(archive, Per::state, states, state_slopes);
    }
    ResultsRow row() const;
  };

  /// What a checkpoint knows of the rows.
  struct Mark {
    ResultsPosition position;
    std::string columns;
    void io(Archive& archive) { CONCORD_MEMBERS(archive, position, columns); }
  };
  static Mark read_mark(const std::vector<std::byte>& mark);

  /// A text output of this rank.
  struct TextOutput {
    std::size_t subsystem = 0, index = 0;  ///< own
    std::size_t column = 0;                ///< among those of all ranks
    bool bytes = false;
    std::uint64_t told = 0;  ///< TextExchange::changes, as far as they are recorded
  };

  SimulationCore& simulation_;
  std::string path_;
  int every_;
  const OutputGrid& grid_;  ///< of rows; not given: communication points
  std::vector<double> states_, slopes_, state_slopes_, left_slopes_;
  std::vector<Link> within_;  ///< of inputs within groups, by local output
  std::vector<Sample> inputs_, left_inputs_;
  std::vector<std::string> text_names_;  ///< of all ranks; empty: none are recorded
  std::vector<TextOutput> text_outputs_;
  bool records_polynomials_;
  bool knows_slopes_;  ///< of signals, at communication points
  std::vector<bool> exact_slopes_;
  std::optional<ResultsWriter> writer_;
  StepSums sums_;  ///< of the macro-steps since the last row
  int since_row_ = 0;
  Kept kept_;
  std::string columns_;            ///< which, as options say it
  std::vector<std::string> runs_;  ///< whose files hold what was before
  std::string told_;
};

}  // namespace concord
