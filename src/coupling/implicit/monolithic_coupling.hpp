#pragma once

#include "coupling/points/start.hpp"

namespace concord {

class NetworkEquations;

/// The reference: all equations as one ODE, inputs eliminated at every evaluation (algebraic loops
/// solved inside), integrated with the default -subsystem_* settings (CVODE BDF unless one is
/// named).
///
/// Works on a RankNetwork that holds every subsystem: each rank integrates the whole, so that the
/// result does not depend on the number of ranks.
class MonolithicCoupling : public Coupling {
 public:
  MonolithicCoupling(RankNetwork& subsystems, const SubsystemSettings& settings);
  void start(const MacroStep& first, double stop, CommunicationPoint& point) override;
  CouplingReport solve(const MacroStep& step, const CommunicationPoint& point,
                       Trial& trial) override;
  void rejected() override;
  void restart(CommunicationPoint& point) override;
  std::string explain(const CouplingReport& report) override;
  std::span<const double> states() const override {
    return whole_ ? whole_->states() : std::span<const double>();
  }
  Subsystem* whole() override { return whole_.get(); }
  bool retrace(const MacroStep& step, std::span<double> states, std::span<Sample> outputs) override;
  PointEvaluation* evaluation() override;
  void io(Archive& archive) override;
  const Counters* counters() const override { return whole_ ? &whole_->counters() : nullptr; }

 private:
  void refuse_events() const;
  void put_out(CommunicationPoint& point);
  void make_whole();

  RankNetwork& subsystems_;
  SubsystemSettings settings_;
  std::unique_ptr<Subsystem> whole_;       ///< from the start on
  NetworkEquations* equations_ = nullptr;  ///< of whole_
  MacroStep first_;
  double stop_ = 0.0;
  double time_ = 0.0, time_before_ = 0.0;
  InputContinuity next_ = InputContinuity::smooth;
};

}  // namespace concord
