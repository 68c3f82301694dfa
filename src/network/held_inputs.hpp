#pragma once

#include <span>
#include <vector>

#include "concord/archive.hpp"
#include "concord/polynomial.hpp"

namespace concord {

/// Own inputs that are held between events: in every macro-step they have the values given here,
/// whatever holds say.
class HeldInputs {
 public:
  /// `which`: local indices.
  explicit HeldInputs(std::vector<std::size_t> which)
      : which_(std::move(which)), values_(which_.size()) {}

  /// From here on they have these values; whole local array. Calls `changed` with each input whose
  /// value has changed.
  template <class Changed>
  void hold(std::span<const Sample> inputs, const Changed& changed) {
    for (std::size_t j = 0; j < which_.size(); ++j) {
      const double value = inputs[which_[j]].value;
      if (values_[j] != value) {
        changed(which_[j]);
      }
      values_[j] = value;
    }
  }

  /// The inputs of a macro-step with these in their place.
  std::span<const Polynomial> feed(std::span<const Polynomial> inputs) {
    if (which_.empty()) {
      return inputs;
    }
    fed_.assign(inputs.begin(), inputs.end());
    for (std::size_t j = 0; j < which_.size(); ++j) {
      fed_[which_[j]].c = {values_[j], 0.0, 0.0, 0.0};
    }
    return fed_;
  }

  void io(Archive& archive) { CONCORD_MEMBERS_PER(archive, Per::held, values_); }

 private:
  std::vector<std::size_t> which_;
  std::vector<double> values_;
  std::vector<Polynomial> fed_;  ///< scratch
};

}  // namespace concord
