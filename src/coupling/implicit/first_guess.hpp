#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coupling/estimation/missiles_system.hpp"
#include "coupling/implicit/coupling_convergence.hpp"
#include "signal/history.hpp"

namespace concord {

/// Where the solve of an implicit coupling begins: the estimators' coupled prediction, the
/// continued holds, or back to t_N. Guesses are tested where they lead: one that cannot be
/// evaluated, or whose residual is many times the signals' sizes, gives way to the next one.
///
/// The ranks agree once, on the residual of the guess. What the guess stands on is supposed until
/// then, where it has been so for some macro-steps: that no rank's gains have changed or are
/// curved, that scales fit and that no input is in a layer. A rank that sees otherwise says so
/// together with its residual, and all agree before they look again.
///
/// Ten of its members are the parts of the coupling that a guess passes through.
class FirstGuess {
 public:
  /// `estimators`, `missiles`: null where none is there.
  FirstGuess(const Method& method, RankNetwork& subsystems, Joins& joins, Estimators* estimators,
             MissilesSystem* missiles, CouplingUnknowns& unknowns, CouplingEvaluation& evaluation,
             CouplingJacobian& jacobian, CouplingConvergence& convergence,
             const StepAttempt& attempt);

  /// The inputs' past begins here, and has gone on to here.
  void start(const CommunicationPoint& point) { history_.start(point.inputs, false); }
  void io(Archive& archive) { CONCORD_MEMBERS(archive, history_, calm_, calm_h_); }
  int memory_version() const { return 2; }
  void commit(const CommunicationPoint& point) { history_.push(point.last_step, point.inputs); }

  /// A new attempt. False where a subsystem that must be estimated cannot be. Collective.
  bool begin();

  /// Leaves trial and subsystems at the first guess that may be iterated from, else at the one that
  /// is least far off; false where none can be evaluated. `plain`: without the estimators and the
  /// kept Jacobian. Collective.
  bool find(bool plain);

  /// Whether it has converged already.
  bool is_good() const { return good_; }

  /// "; first guesses tried: the estimators' prediction (...), ..." where more than one was.
  /// `told`: a failure that need not be said again. Collective.
  std::string describe(const std::string& told = "");

 private:
  enum class Guess { estimated, extrapolated, held };
  enum class Fault { none, failed, far_off };
  /// What became of a guess in this attempt.
  struct Look {
    Guess guess;
    Fault fault;
    double residual;  ///< in units of the signals' sizes
  };

  /// What a prediction without agreement stands on, told to the others with the residual there.
  struct Supposition {
    bool objected = false;                                    ///< on this rank
    Estimators::State state = Estimators::State::same_gains;  ///< of the estimators, on this rank
  };

  Estimators::State prepare();
  bool predict(Estimators::State state);
  bool suppose(Estimators::State state);
  bool is_calm() const;
  bool take(Guess guess);
  void extrapolate();
  void turn_back();
  void evaluate(Guess guess);
  bool reach(Guess guess);
  bool looks_for_layers(Guess guess) const;
  bool look_at(Guess guess);
  void begin_layers_afresh(Guess guess);

  const Method& method_;
  RankNetwork& subsystems_;
  Joins& joins_;
  Estimators* estimators_;
  MissilesSystem* missiles_;
  CouplingUnknowns& unknowns_;
  CouplingEvaluation& evaluation_;
  CouplingJacobian& jacobian_;
  CouplingConvergence& convergence_;
  const StepAttempt& attempt_;
  SignalHistory history_;
  std::vector<Look> looks_;
  std::optional<std::string> failure_;  ///< why one of them could not be evaluated here
  std::vector<Sample> best_inputs_;
  bool estimated_ = false;  ///< the estimators' prediction is there
  Supposition supposed_;
  int calm_ = 0;  ///< macro-steps in a row whose predictions needed the kept matrix only
  double calm_h_ = 0.0;
  bool good_ = false;
};

}  // namespace concord
