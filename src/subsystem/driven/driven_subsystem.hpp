#pragma once

#include <memory>
#include <vector>

#include "signal/sampled_signals.hpp"
#include "subsystem/subsystem.hpp"

namespace concord {

/// Which signal feeds which input of a subsystem.
struct Drive {
  std::shared_ptr<const SampledSignals> signals;
  std::vector<std::size_t> inputs;  ///< of the subsystem, one per signal
  /// Whether the subsystem may be stopped at every row, as it takes steps of any size; else it is
  /// fed with what the signals are at the begin of each macro-step, or the line through it.
  bool any_step = true;
};

/// What is seen of a subsystem some of whose inputs are signals of time: the other inputs, and the
/// signals behind its outputs. It offers no linearization.
SubsystemDescription driven_description(const SubsystemDescription& inner, const Drive& drive);

/// The subsystem with these inputs. Macro-steps are cut at the rows of the signals, so that each
/// piece has inputs that are exactly polynomials.
std::unique_ptr<Subsystem> drive_subsystem(std::unique_ptr<Subsystem> inner, const Drive& drive);

}  // namespace concord
