#pragma once

#include <cstdint>

#include "coupling/collocation/node_system.hpp"

namespace concord {

/// Sweeps of a NodeSystem until what is left is below the tolerance: a simplified Newton method
/// (Hairer and Wanner, Solving ODEs II, IV.8). With derivatives from the guess each sweep leaves
/// about the guess's error times what the sweep moved; those of the last macro-step are kept as
/// long as two sweeps are enough with them.
class CollocationSweeps {
 public:
  enum class End { converged, at_noise, out_of_time, slow, failed };

  CollocationSweeps(const Deadline& deadline, double tolerance, int most)
      : deadline_(deadline), tolerance_(tolerance), most_(most) {}

  /// From the guess, which the first sweep makes a prediction of; `first`: whether derivatives may
  /// be kept there. The same on every rank. Collective.
  End run(NodeSystem& system, NodeSystem::Derivatives first);

  int count() const { return count_; }   ///< sweeps of the last run
  double left() const { return left_; }  ///< about: of its result, in units of sizes
  /// Something has jumped: nothing is known of rates and derivatives.
  void restart();

  void io(Archive& archive) { CONCORD_MEMBERS(archive, rate_, rest_, derived_, off_); }
  int memory_version() const { return 2; }

 private:
  NodeSystem::Derivatives choose(NodeSystem::Derivatives first, double rate) const;
  void learn(bool kept, double rate);

  const Deadline& deadline_;
  double tolerance_;
  int most_;
  int count_ = 0;
  double left_ = 0.0;
  /// What a sweep with kept derivatives leaves of the one before, at most; less well known with
  /// each macro-step in which it was not seen.
  double rate_ = 1.0;
  int rest_ = 0;          ///< macro-steps in which derivatives are not kept any more
  bool derived_ = false;  ///< there are derivatives to keep
  double off_ = 0.0;      ///< how far the sweep moved that took them
};

}  // namespace concord
