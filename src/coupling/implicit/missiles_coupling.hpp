#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coupling/implicit/missed_growth.hpp"
#include "coupling/implicit/missiles_iteration.hpp"
#include "coupling/implicit/output_terms.hpp"
#include "coupling/implicit/prediction_error.hpp"
#include "coupling/points/start.hpp"
#include "coupling/problem/constraint_sizes.hpp"

namespace concord {

/// Solve `missiles`: end values of the inputs from the estimators' linear system, then one real
/// integration of every subsystem, no rollback (Eguillon et al. 2022, section 3).
///
/// Where that leads is looked at. If an input then misses what feeds it by half of its size, and
/// every subsystem can roll back, the macro-step is iterated in place: Newton's method with the
/// estimators' matrix, as in jfm, or, where that is of no use, what is put out is fed back. An
/// iteration that stops on the way has failed, but at the noise of signals that ought to be 0. With
/// quintic inputs the first macro-step, whose defects nobody knows yet, is iterated in any case:
/// its error would be of a lower order than all that follow. Signals that are missed in macro-step
/// after macro-step while they grow without bounds are no result, unless iterations confirm them:
/// the macro-step has failed.
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
    CONCORD_MEMBERS(archive, consistent_, constraint_sizes_, estimators_, system_, error_,
                    iteration_, growth_);
    CONCORD_MEMBERS_PER(archive, Per::input, fed_);
  }
  int memory_version() const override { return 2; }
  void view() const override { system_.view(); }

 private:
  bool predict(const MacroStep& step, const CommunicationPoint& point, Trial& trial);
  void integrate(const MacroStep& step, const CommunicationPoint& point, Trial& trial,
                 CouplingReport& report);
  void iterate(const MacroStep& step, const CommunicationPoint& point, Trial& trial,
               CouplingReport& report);
  void settle(const MacroStep& step, const CommunicationPoint& point, Trial& trial,
              CouplingReport& report);
  void estimate_error(const MacroStep& step, const Trial& trial, CouplingReport& report);
  bool runs_away() const;
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
  OutputTerms terms_;
  std::vector<Sample> fed_;
  InputMisses misses_;
  MissedGrowth growth_;
  MissilesIteration iteration_;
  bool settled_ = false;                 ///< the first macro-step, iterated; its defects are known
  std::optional<std::string> run_away_;  ///< on the rank of the worst input
};

}  // namespace concord
