#pragma once

#include <span>
#include <vector>

namespace concord {

/// What holds and coupling have missed of the inputs over an interval (HoldErrors), per connected
/// input: the means of the error e and of its deviation d, e just before the end, and the mean of e
/// over the macro-step where that was largest, as far as it was seen inside. `unseen`: the share of
/// the interval in which e was seen at the ends only, so that e - P D d is the error. `layers`:
/// what of the mean lies in layers, which are over long before a macro-step is. `held`: means of
/// inputs that are held between events (RankNetwork::held_inputs).
struct Disturbance {
  std::vector<double> mean, deviation, unseen, layers;
  std::span<const double> end, largest_seen;
  std::vector<double> held{};
  /// Of what was seen inside: the sum over macro-steps of the integral of (h/2 - tau) e, in which
  /// what cancels in the mean counts as far as it comes early or late.
  std::vector<double> moment{};
};

}  // namespace concord
