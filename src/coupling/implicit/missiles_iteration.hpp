#pragma once

#include <functional>
#include <span>
#include <vector>

#include "coupling/estimation/missiles_system.hpp"
#include "coupling/implicit/input_misses.hpp"
#include "coupling/problem/joins.hpp"

namespace concord {

/// The iteration of a MISSILES macro-step whose prediction is of no use: Newton's method with the
/// estimators' matrix, or, where that is of no use, what is put out is fed back.
///
/// Where iterations don't help, at the noise of signals that ought to be 0, they are tried in ever
/// fewer macro-steps.
class MissilesIteration {
 public:
  /// `fed`: P y of the last integration; `most`: rounds of either kind.
  MissilesIteration(RankNetwork& subsystems, Joins& joins, Estimators& estimators,
                    MissilesSystem& system, const InputMisses& misses,
                    const std::vector<Sample>& fed, int most);

  /// Whether every subsystem can roll back.
  bool possible() const { return possible_; }
  /// Whether it did not help of late.
  bool rests() const { return resting_ > 0; }

  /// A new attempt, which has not been iterated.
  void begin() {
    done_ = unfinished_ = ended_early_ = false;
    corrections_ = 0;
  }

  /// From where the prediction led, or from the values at t_N where that fails, to the coupling's
  /// tolerance or as far as it comes; trial is the best there was. `integrate`: every subsystem
  /// once, with the trial's inputs, which then are measured. Collective.
  void run(const MacroStep& step, const CommunicationPoint& point, Trial& trial,
           const std::function<void()>& integrate);

  /// What defects would tell, were there any: from where the prediction led, without any of what
  /// `run` does where that doesn't help.
  void settle(const CommunicationPoint& point, Trial& trial,
              const std::function<void()>& integrate);

  bool done() const { return done_; }
  /// Whether it helped, and not enough.
  bool unfinished() const { return unfinished_; }
  /// Whether it was ended by its deadline.
  bool ended_early() const { return ended_early_; }

  /// The trial was accepted.
  void commit();
  void restart() { resting_ = in_vain_ = 0; }

  void io(Archive& archive) { CONCORD_MEMBERS(archive, in_vain_, resting_); }

 private:
  using Again = std::function<double()>;

  Again again_by(const std::function<void()>& integrate);
  bool begin_layers_afresh(const MacroStep& step, const CommunicationPoint& point, Trial& trial);
  double correct(const CommunicationPoint& point, Trial& trial, double ratio, double enough,
                 const Again& again);
  double feed_back(Trial& trial, double ratio, const Again& again);
  bool out_of_time() const {
    return misses_.late() && subsystems_.deadline().counts_after(corrections_);
  }

  RankNetwork& subsystems_;
  Joins& joins_;
  Estimators& estimators_;
  MissilesSystem& system_;
  const InputMisses& misses_;
  const std::vector<Sample>& fed_;
  int most_;
  bool possible_;
  bool done_ = false, unfinished_ = false, ended_early_ = false;
  int corrections_ = 0;       ///< of the attempt
  int in_vain_ = 0;           ///< macro-steps, the last ones, whose iteration did not help
  int resting_ = 0;           ///< macro-steps that will not be iterated
  std::vector<Sample> best_;  ///< inputs
};

}  // namespace concord
