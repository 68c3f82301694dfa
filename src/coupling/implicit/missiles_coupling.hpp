#pragma once

#include "coupling/estimation/missiles_system.hpp"
#include "coupling/implicit/prediction_error.hpp"
#include "coupling/points/start.hpp"
#include "coupling/problem/constraint_sizes.hpp"
#include "coupling/problem/joins.hpp"

namespace concord {

/// Solve `missiles`: end values of the inputs from the estimators' linear system, then one real
/// integration of every subsystem, no rollback (Eguillon et al. 2022, section 3).
///
/// Where that leads is looked at. If an input then misses what feeds it by half of its size, and
/// every subsystem can roll back, the macro-step is iterated in place: Newton's method with the
/// estimators' matrix, as in jfm, or, where that is of no use, what is put out is fed back. An
/// iteration that stops on the way has failed, but at the noise of signals that ought to be 0.
/// Signals that are missed in macro-step after macro-step while they grow without bounds are no
/// result, unless iterations confirm them: the macro-step has failed.
class MissilesCoupling : public Coupling {
 public:
  MissilesCoupling(const Method& method, RankNetwork& subsystems);
  void start(const MacroStep& first, double stop, CommunicationPoint& point) override;
  CouplingReport solve(const MacroStep& step, const CommunicationPoint& point,
                       Trial& trial) override;
  void commit(const CommunicationPoint& point) override;
  void rejected() override { estimators_.forget(); }
  void restart(CommunicationPoint& point) override;
  std::string explain(const CouplingReport& report) override;
  std::span<const Sample> fed() const override { return fed_; }
  bool passed_layer() const override { return joins_.any_layer(); }
  void io(Archive& archive) override {
    archive(consistent_, constraint_sizes_, estimators_, system_, error_, miss_, in_vain_, resting_,
            growth_, missed_, far_off_);
    archive.per(Per::input, fed_);
    archive.per(Per::connected, sizes_);
  }
  void view() const override { system_.view(); }

 private:
  bool predict(const MacroStep& step, const CommunicationPoint& point, Trial& trial);
  void integrate(const MacroStep& step, const CommunicationPoint& point, Trial& trial,
                 CouplingReport& report);
  void iterate(const MacroStep& step, const CommunicationPoint& point, Trial& trial,
               CouplingReport& report);
  void learn_terms(const Trial& trial);
  bool begin_layers_afresh(const MacroStep& step, const CommunicationPoint& point, Trial& trial);
  template <class Again>
  double correct(const CommunicationPoint& point, Trial& trial, double ratio, const Again& again);
  template <class Again>
  double feed_back(Trial& trial, double ratio, const Again& again);
  /// Of the coupling condition: what is left, what it must be small against, and how large that has
  /// been.
  struct Row {
    double rest, value, size;
  };
  Row row(std::size_t j, const Trial& trial) const;
  double miss(std::size_t j, const Row& row) const;
  void measure(const Trial& trial, Outcome outcome);
  double growth();
  bool runs_away(const Trial& trial);
  std::string words_of_worst(const Trial& trial) const;

  Method method_;
  RankNetwork& subsystems_;
  ConsistentInputs consistent_;
  ConstraintRows constraints_;
  ConstraintSizes constraint_sizes_;
  Joins joins_;
  Estimators estimators_;
  MissilesSystem system_;
  PredictionError error_;
  std::vector<Sample> fed_;
  std::vector<Sample> output_terms_, terms_;

  bool rolls_back_;            ///< everyone
  double miss_ = 0.0;          ///< of the last trial, the worst, in units of the input's size
  double ratio_ = 0.0;         ///< what was left of its coupling condition, in tolerances
  bool iterated_ = false;      ///< the last trial
  bool unfinished_ = false;    ///< its iteration helped, and not enough
  int in_vain_ = 0;            ///< macro-steps, the last ones, whose iteration did not help
  int resting_ = 0;            ///< macro-steps that will not be iterated
  double growth_ = 1.0;        ///< of signals that have been missed, in the last trial
  int missed_ = 0;             ///< macro-steps, the last ones, that missed noticeably
  int far_off_ = 0;            ///< and those that were far off
  std::vector<double> sizes_;  ///< of the connected inputs before these
  std::vector<Sample> best_;   ///< inputs of an iteration
  std::optional<std::string> run_away_;  ///< on the rank of the worst input
};

}  // namespace concord
