#pragma once

#include "coupling/points/start.hpp"

namespace concord {

/// Schedule `staggered_grid`, solve `none`: two groups of subsystems whose grids are shifted by
/// half a macro-step (Arnold 2012, staggered time grids; leapfrog).
///
/// The first group goes from t_N to t_{N+1} with the second's outputs at t_{N+1/2} held, the second
/// from t_{N+1/2} to t_{N+3/2} with the first's at t_{N+1}: every input is held at its value in the
/// middle, which makes order 2 of constants at the cost of one integration. The second group passes
/// t_{N+1} in the middle of its macro-step, where it stops for its outputs: seen from one
/// communication point to the next it takes a half with the old inputs, the first group the whole,
/// then it another half with the new ones, which is symmetric in time. Direct feedthrough
/// puts out what follows from inputs half a macro-step old, and costs an order.
class StaggeredGridCoupling : public Coupling {
 public:
  StaggeredGridCoupling(const Method& method, RankNetwork& subsystems);
  void start(const MacroStep& first, double stop, CommunicationPoint& point) override;
  CouplingReport solve(const MacroStep& step, const CommunicationPoint& point,
                       Trial& trial) override;
  void restart(CommunicationPoint& point) override;
  std::string explain(const CouplingReport& report) override;
  void io(Archive& archive) override { CONCORD_MEMBERS(archive, consistent_); }

 private:
  struct Group {
    std::vector<std::size_t> members;  ///< own
    std::vector<std::size_t> inputs;   ///< their connected inputs, local
  };
  Outcome advance(const Group& group, const MacroStep& step, Trial& trial);

  RankNetwork& subsystems_;
  bool makes_consistent_;
  ConsistentInputs consistent_;
  Group first_, second_;
};

}  // namespace concord
