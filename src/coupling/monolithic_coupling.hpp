#pragma once

#include "coupling/start.hpp"
#include "subsystem/integrator_settings.hpp"

namespace concord {

/// The reference: all equations as one ODE, inputs eliminated at every evaluation (algebraic loops
/// solved inside), integrated by CVODE BDF with the tolerances of -subsystem_rtol and _atol.
///
/// Works on a RankNetwork that holds every subsystem: each rank integrates the whole, so that the
/// result does not depend on the number of ranks.
class MonolithicCoupling : public Coupling {
 public:
  MonolithicCoupling(RankNetwork& subsystems, const SubsystemSettings& settings);
  ~MonolithicCoupling() override;
  void start(const MacroStep& first, double stop, CommunicationPoint& point) override;
  CouplingReport solve(const MacroStep& step, const CommunicationPoint& point,
                       Trial& trial) override;
  std::string explain(const CouplingReport& report) override;

  /// All states in model-file order.
  std::span<const double> states() const;

 private:
  class Ode;
  std::unique_ptr<Ode> ode_;
};

}  // namespace concord
