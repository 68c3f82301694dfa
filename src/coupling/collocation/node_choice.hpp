#pragma once

#include "concord/archive.hpp"
#include "coupling/collocation/collocation_nodes.hpp"
#include "coupling/coupling.hpp"

namespace concord {

/// How many nodes macro-steps have where the run chooses: as many as make right-hand sides per
/// second of the simulation fewest.
///
/// Of k nodes' error one node more leaves decay^2, where `decay` is the share that each further
/// power of the polynomials has of the one before (Hairer and Wanner 1999, Stiff differential
/// equations solved by Radau methods, choose by how fast Newton's method converges).
///
/// The size that they allow is that at which a macro-step leaves no more than is allowed, and all
/// to come no more than the run may still grow by: what errors have come to so far, in a time and
/// for what macro-steps have left in it, tells how they add up.
class NodeChoice {
 public:
  struct Seen {
    double h;                ///< of a macro-step
    double error, unmasked;  ///< of the method alone, in tolerances; and where noise counts as well
    double decay;            ///< CollocationError::decay
    int sweeps;
  };

  NodeChoice(NodeFamily family, int count) : family_(family), count_(count) {}

  int count() const { return count_; }
  /// It becomes part of the run. The same on every rank.
  void learn(const Seen& seen, const StepJudgement& judgement);

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, count_, wanted_, better_, agreeing_, rest_, pause_, last_change_);
    CONCORD_MEMBERS(archive, now_, half_, quarter_);
  }

 private:
  /// So far.
  struct State {
    double elapsed = 0.0;
    double left = 0.0;  ///< by macro-steps, each for itself
    double run = 0.0;   ///< what became of it
  };
  /// What macro-steps leave, of one node more or less than now.
  struct Outlook {
    double h;
    double at_end, within;  ///< in tolerances; what of that is of the order of the polynomials
    double decay;
    double allowed, rate;  ///< most of a macro-step, and per second
    int sweeps;
  };

  double accumulation() const;
  void observe(const Seen& seen, const StepJudgement& judgement);
  double next_size(const Outlook& outlook, int count) const;
  int cheapest(const Outlook& outlook, double bound) const;
  void vote(int count);
  void change(int by);

  NodeFamily family_;
  int count_;
  double wanted_ = 0.0;  ///< h that the last macro-step allowed the next; 0: unknown
  int better_ = 0;       ///< count that the last macro-steps were for
  int agreeing_ = 0;     ///< so many of them
  int rest_ = 0;         ///< macro-steps up to the next change
  int pause_ = 8;
  int last_change_ = 0;
  State now_;
  State half_, quarter_;  ///< at half to all, and at a quarter to half, of the time passed
};

}  // namespace concord
