#pragma once

#include <optional>
#include <span>
#include <vector>

#include "network/inside_rows.hpp"
#include "network/own_subsystems.hpp"
#include "network/rank_layout.hpp"

namespace concord {

/// Outputs that depend on time alone, looked at ahead on a fine grid over the whole experiment:
/// nothing else tells of a gust that comes and goes within a macro-step. What is narrower than the
/// grid stays unseen.
class ScannedOutputs {
 public:
  ScannedOutputs(OwnSubsystems& own, const RankLayout& layout, const Network& network);

  /// Local indices.
  std::span<const std::size_t> outputs() const { return outputs_; }

  /// At a communication point at `begin`, with own inputs as they are there (whole local array);
  /// `total`: how many such outputs all ranks have. Whether that was not known yet.
  bool scan(double begin, double end, std::span<const Sample> inputs, std::size_t total);
  /// Subsystems have other parameters.
  void forget() { scanned_.reset(); }

  /// Between two looks, s; 0: there was none.
  double resolution() const { return cell_; }

  /// From the least to the largest value of the output.
  double range(std::size_t i) const;

  /// What a signal is beside the polynomial through its values at points of a macro-step: the mean
  /// of the difference, and of its magnitude.
  struct Beside {
    double mean = 0.0, magnitude = 0.0;
  };
  Beside beside(std::size_t i, const MacroStep& step, const InsideRows& rows) const;

 private:
  /// What values are made of, beside parameters.
  struct Stamp {
    double begin, end;
    std::vector<double> inputs;
    bool operator==(const Stamp&) const = default;
  };

  Stamp stamp(double begin, double end, std::span<const Sample> inputs) const;
  void look(std::size_t k, std::span<const Sample> inputs);

  OwnSubsystems& own_;
  const RankLayout& layout_;
  std::vector<std::size_t> subsystems_, outputs_;
  double begin_ = 0.0, cell_ = 0.0;
  std::size_t count_ = 0;                    ///< of looks
  std::vector<std::vector<double>> values_;  ///< by output; empty where it does not move
  std::optional<Stamp> scanned_;             ///< with which; nothing: not known
  std::vector<Sample> there_;                ///< scratch
};

}  // namespace concord
