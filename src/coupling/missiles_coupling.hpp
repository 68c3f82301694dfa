#pragma once

#include "coupling/missiles_system.hpp"
#include "coupling/prediction_error.hpp"
#include "coupling/start.hpp"

namespace concord {

/// Solve `missiles`: end values of the inputs from the estimators' linear system, then one real
/// integration of every subsystem, no rollback (Eguillon et al. 2022, section 3).
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
  void view() const override { system_.view(); }

 private:
  double worst_ratio(const Trial& trial) const;

  Method method_;
  RankNetwork& subsystems_;
  ConsistentInputs consistent_;
  ConstraintRows constraints_;
  Estimators estimators_;
  MissilesSystem system_;
  PredictionError error_;
  std::vector<Sample> fed_;
};

}  // namespace concord
