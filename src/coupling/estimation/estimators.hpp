#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coupling/coupling.hpp"
#include "coupling/estimation/end_gains.hpp"
#include "coupling/estimator_settings.hpp"
#include "coupling/problem/subsystem_gains.hpp"

namespace concord {

class Estimator;

/// The COSTARICA estimators of a rank's own subsystems, where they give states and a linearisation.
class Estimators {
 public:
  /// `hold`: of the inputs.
  Estimators(RankNetwork& subsystems, const EstimatorSettings& settings, const Hold& hold);
  ~Estimators();

  static bool possible(const Capabilities& has) { return has.states && has.linearization; }

  /// What `prepare` found on this rank.
  enum class State { same_gains, new_gains, failed };

  /// Which connected inputs of this rank begin the macro-step afresh (Joins).
  void begin_afresh(std::span<const char> afresh);

  /// Linearises where needed for the macro-step from the communication point.
  State prepare(const MacroStep& step, const CommunicationPoint& point);

  /// Whether a prediction of this rank is a tangent that `correct` can better.
  bool curved() const;

  /// Whether own subsystem k has an estimator.
  bool linearizes(std::size_t k) const { return estimators_[k] != nullptr; }

  /// Free responses such that predictions for the inputs `end` (whole local array) are those of f
  /// and g where they lead. False where some fail there on this rank.
  bool correct(std::span<const Sample> end);

  /// Free responses such that predictions for the inputs `end` are `outputs` (whole local arrays).
  void match(std::span<const Sample> end, std::span<const Sample> outputs);

  /// Free responses of the tangents again.
  void return_to_tangents();

  /// Free responses (b) of all own subsystems' outputs, by `prepare`.
  std::span<const Sample> free_outputs() const { return free_outputs_; }

  /// Copies the K of every estimator.
  void copy_gains(SubsystemGains& gains) const;

  /// Outputs of own subsystem k for the inputs `end`; whole local arrays.
  void predict(std::size_t k, std::span<const Sample> end, std::span<Sample> outputs);

  /// What own outputs are sums of: |C| |x| + |D| |u|, and the same of their slopes; 0 where nothing
  /// is linearised. Whole local arrays.
  void output_terms(std::span<const Sample> inputs, std::span<Sample> outputs) const;

  /// The macro-step is accepted; real outputs at its end, with the inputs that led there and were
  /// predicted with. Whole local arrays.
  void observe(std::span<const Sample> inputs, std::span<const Sample> outputs);

  /// Forgets the defects.
  void forget();

  /// Forgets all that was learnt: something has jumped.
  void restart_touched();

  /// What was learnt, and the linearisations that are kept.
  void io(Archive& archive);

  /// After a failure on any rank: the subsystem and why it could not be advanced or linearised.
  /// Collective.
  std::optional<std::string> explain() const;

 private:
  State prepare_own(std::size_t k, const MacroStep& step, const CommunicationPoint& point);
  void copy_free_response(std::size_t k);

  RankNetwork& subsystems_;
  int parts_;                                           ///< of an input's end
  std::vector<std::unique_ptr<Estimator>> estimators_;  ///< null: it has none
  std::vector<char> afresh_;                            ///< as they were told, last
  std::vector<IndexRange> connected_;  ///< positions of each own subsystem's connected inputs
  std::vector<Sample> free_outputs_;
  EndGains::Pool pool_;  ///< of one macro-step, kept for its storage only
  std::optional<std::string> failure_;
};

}  // namespace concord
