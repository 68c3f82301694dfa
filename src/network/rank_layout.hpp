#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "concord/archive.hpp"
#include "network/network.hpp"

namespace concord {

/// Where the variables of a rank's own subsystems are in its flat arrays.
class RankLayout {
 public:
  RankLayout(const Network& network, const Partition& partition, int rank);

  std::size_t n_inputs() const { return inputs_.offset.back(); }
  std::size_t n_outputs() const { return outputs_.offset.back(); }
  std::size_t n_states() const { return states_.back(); }

  /// Own subsystems, by their position in the model; and all of them, 0 to n_own() - 1.
  std::span<const std::size_t> global() const { return global_; }
  std::span<const std::size_t> all() const { return all_; }
  std::size_t global(std::size_t k) const { return global_[k]; }
  std::size_t local(std::size_t global) const {
    return static_cast<std::size_t>(std::lower_bound(global_.begin(), global_.end(), global) -
                                    global_.begin());
  }

  IndexRange inputs_of(std::size_t k) const { return inputs_.of(k); }
  IndexRange outputs_of(std::size_t k) const { return outputs_.of(k); }
  IndexRange states_of(std::size_t k) const { return {states_[k], states_[k + 1]}; }

  /// Which own subsystem has a local input.
  std::size_t subsystem_of_input(std::size_t input) const {
    const auto behind = std::upper_bound(inputs_.offset.begin(), inputs_.offset.end(), input);
    return static_cast<std::size_t>(behind - inputs_.offset.begin()) - 1;
  }

  /// Position of each global input and output in its owner's arrays.
  std::span<const std::size_t> local_inputs() const { return inputs_.local; }
  std::span<const std::size_t> local_outputs() const { return outputs_.local; }

  /// Local indices of the inputs that a connection feeds and that move between events, ascending;
  /// and of those that are held between events.
  const std::vector<std::size_t>& connected_inputs() const { return connected_; }
  const std::vector<std::size_t>& held_inputs() const { return held_; }

  ArchiveLayout archive_layout() const;

 private:
  struct Variables {
    std::vector<std::size_t> offset{0};  ///< of each own subsystem's
    std::vector<std::size_t> local;

    IndexRange of(std::size_t k) const { return {offset[k], offset[k + 1]}; }
  };

  std::vector<std::size_t> global_, all_;
  Variables inputs_, outputs_;
  std::vector<std::size_t> states_{0};
  std::vector<std::size_t> connected_, held_;
};

}  // namespace concord
