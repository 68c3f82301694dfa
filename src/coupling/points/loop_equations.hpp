#pragma once

#include <string>
#include <vector>

#include "coupling/point_evaluation.hpp"

namespace concord {

/// The equations of one algebraic loop: with u the inputs that close it (fed by one of its outputs,
/// felt by another), the rows are u - P g(u), and gamma where an input is the unknown of a direct
/// constraint (Arnold 2012, algebraic loops and coupling by constraints).
///
/// Each rank that takes part has u, the rows and their Jacobian whole, in the same bits: what
/// follows from them needs no agreement. A loop whose subsystems are all on one rank concerns that
/// rank alone, any other loop all ranks.
class LoopEquations {
 public:
  LoopEquations(RankNetwork& subsystems, const FeedthroughComponent& loop);

  /// Whether this rank takes part; on the others nothing below may be called.
  bool here() const { return here_; }

  std::size_t size() const { return inputs_.size(); }
  /// Size of the last macro-step, of the first one at the start.
  double step() const { return subsystems_.step(); }
  const std::string& text() const { return text_; }
  /// Own subsystems in the loop.
  std::span<const std::size_t> own() const { return own_.subsystems; }
  /// "a.u" of each row.
  const std::string& name(std::size_t row) const;
  /// Global index.
  std::size_t input(std::size_t row) const { return inputs_[row]; }
  bool is_constraint(std::size_t row) const { return constraint_[row]; }

  /// Pattern of the Jacobian, rows compressed; the diagonal is part of it.
  const std::vector<std::size_t>& row_starts() const { return pattern_.row_starts; }
  const std::vector<std::size_t>& columns() const { return pattern_.columns; }

  /// Sizes of the inputs, 0 where not known.
  std::vector<double> sizes() const;

  /// u as it stands in this rank's inputs; all ranks'.
  void read(std::span<const Sample> inputs, std::vector<Sample>& u) const;
  /// Into this rank's inputs.
  void write(std::span<const Sample> u, std::span<Sample> inputs) const;

  /// Rows at u, which is left in `inputs`. False, on every rank that takes part, where an output
  /// cannot be evaluated.
  bool evaluate(PointEvaluation& point, Wanted wanted, std::span<const Sample> u,
                std::span<Sample> inputs, std::span<Sample> outputs, std::vector<Sample>& rows);

  /// d rows/d u at `inputs`, in the pattern's order, by the subsystems' linearisations, else by
  /// differences of outputs with increments relative to `sizes`. False as above.
  bool linearize(PointEvaluation& point, std::span<const double> sizes, std::span<Sample> inputs,
                 std::vector<double>& jacobian);

  /// As above from linearisations alone: false where a subsystem of the loop offers none.
  bool linearize(PointEvaluation& point, std::span<const Sample> inputs,
                 std::vector<double>& jacobian);

  /// For inputs that have no start value, what their senders put out for the others' start values.
  void take_missing_starts(PointEvaluation& point, std::span<Sample> inputs,
                           std::span<Sample> outputs);

 private:
  struct Row {  ///< of an output on this rank
    std::size_t row;
    std::size_t subsystem;
    std::size_t output;  ///< local index
    double factor, offset;
    bool constraint;
  };
  struct Entry {  ///< of d rows/d u, from this rank's g_u
    std::size_t entry;
    std::size_t subsystem;
    std::size_t output, input;  ///< the subsystem's own
    double factor;
    bool constraint;
  };

  struct Pattern {
    std::vector<std::size_t> row_starts{0}, columns;
  };
  struct Own {
    std::vector<std::size_t> subsystems;  ///< of this rank
    std::vector<std::size_t> inputs;      ///< of these, in the loop, local indices
    std::vector<std::size_t> input_rows;
    std::vector<Row> rows;
    std::vector<Entry> entries;
    std::vector<std::vector<double>> g_u;  ///< per subsystem
  };
  /// Kept for their storage only.
  struct Scratch {
    std::vector<Sample> outputs;  ///< of all, only where differences are made
    std::vector<double> message;
  };

  void find_inputs(const FeedthroughComponent& loop);
  void find_own(const FeedthroughComponent& loop);
  void find_rows();
  void find_entries();
  bool difference(std::size_t k, PointEvaluation& point, std::span<const double> sizes,
                  std::span<Sample> inputs, std::vector<double>& g_u);
  bool outputs_at(std::size_t k, PointEvaluation& point, std::span<const Sample> inputs,
                  std::vector<double>& y);
  void fill(PointEvaluation& point, std::vector<double>& jacobian) const;
  bool shared(std::vector<double>& values, bool ok) const;
  std::vector<double> missing_starts() const;
  void put_out(PointEvaluation& point, std::span<const Sample> inputs, std::span<Sample> outputs);

  RankNetwork& subsystems_;
  std::string text_;
  std::vector<std::size_t> inputs_;  ///< global, ascending
  std::vector<bool> constraint_;
  Own own_;
  Pattern pattern_;
  mutable Scratch scratch_;
  bool here_ = true;
  bool alone_ = true;
};

}  // namespace concord
