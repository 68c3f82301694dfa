#pragma once

#include <optional>
#include <span>
#include <vector>

#include "coupling/coupling.hpp"

namespace concord {

/// The indirect constraints of the network, in the order of the model: which are on this rank, what
/// their unknowns and equations are, and which answer to each other.
class IndirectConstraints {
 public:
  explicit IndirectConstraints(RankNetwork& subsystems);

  /// On all ranks.
  std::size_t count() const { return answering_.size(); }

  /// Own ones, and their positions among all.
  std::span<const std::size_t> own() const { return own_; }
  std::span<const std::size_t> positions() const { return positions_; }
  /// Of own constraint k.
  std::size_t position(std::size_t k) const;

  /// Those with a subsystem in common with c, fed or in the equation: they answer to its unknown.
  std::span<const std::size_t> answering(std::size_t c) const { return answering_[c]; }

  /// Unknowns of the same colour are moved at once: no constraint answers to two of them (Curtis,
  /// Powell and Reid 1974).
  std::size_t colour(std::size_t c) const { return colours_[c]; }
  std::size_t n_colours() const { return n_colours_; }

  /// All ranks', from own inputs. Collective.
  std::vector<double> unknowns(std::span<const Sample> inputs) const;

  /// gamma and d gamma/dt of all ranks, from own outputs. Collective.
  std::vector<Sample> equations(std::span<const Sample> outputs) const;

 private:
  void find_answering();
  void find_colours();

  RankNetwork& subsystems_;
  std::vector<std::size_t> own_, positions_;
  std::vector<std::vector<std::size_t>> answering_;
  std::vector<std::size_t> colours_;
  std::size_t n_colours_ = 0;
};

}  // namespace concord
