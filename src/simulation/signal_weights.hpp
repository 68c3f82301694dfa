#pragma once

#include <string>
#include <vector>

#include "network/model.hpp"

namespace concord {

/// What signals count for in schedules, by what holding them costs.
struct SignalWeights {
  std::vector<double> weights;  ///< of each input of the network, mean 1; empty: 1 each
  std::string remark;           ///< what could not be weighted, and why; empty: nothing
};

/// On this rank alone, with the options of the run: linearises every subsystem at the start and
/// takes macro-steps on trial, at most a hundred. The signal into input i of subsystem k weighs
///
///     w_i = sum over outputs o of k of |K_oi| |factor| m_i / s_o,  K = D + C (I - h A)^-1 h B,
///
/// m_i: mean change of the output that feeds it over a macro-step, which is what a hold misses; K:
/// how outputs at the end of a macro-step h answer; s_o: the largest that output o has been. A
/// hundredth of every weight is its count, so that signals that rest at the start count, too.
/// What a subsystem without linearisation receives weighs 1. Where the trial fails, all count the
/// same, and the remark says why.
SignalWeights trial_signal_weights(const Model& model);

}  // namespace concord
