#pragma once

#include <span>
#include <vector>

#include "network/model.hpp"
#include "network/rank_layout.hpp"
#include "signal/sizes.hpp"

namespace concord {

/// How large own inputs and outputs are, local indices. An input without a nominal value of its own
/// has that of the output which feeds it.
struct SignalSizes {
  SignalSizes(const Model& model, const Network& network, const RankLayout& layout);

  void io(Archive& archive) {
    inputs.io(archive, Per::input);
    outputs.io(archive, Per::output);
  }

  Sizes inputs, outputs;
};

/// |d gamma/dy| of own constraints by the outputs in their equations; local indices of inputs, 0
/// for all others.
class EquationWeights {
 public:
  /// `constraints`: which own subsystems are some.
  EquationWeights(std::vector<std::size_t> constraints, std::size_t n_inputs)
      : constraints_(std::move(constraints)), values_(constraints_.empty() ? 0 : n_inputs, 0.0) {}

  std::span<const std::size_t> constraints() const { return constraints_; }
  std::span<const double> values() const { return values_; }

  /// From g_u of a constraint whose inputs are `in`. Where an equation answers to nothing, the
  /// weights it had are better.
  void take(IndexRange in, std::span<const double> g_u);

  void io(Archive& archive) { CONCORD_MEMBERS_PER(archive, Per::input, values_); }

 private:
  std::vector<std::size_t> constraints_;
  std::vector<double> values_;
};

}  // namespace concord
