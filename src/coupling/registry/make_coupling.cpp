#include "coupling/registry/make_coupling.hpp"

#include "coupling/estimates/compared_coupling.hpp"
#include "coupling/estimates/richardson_coupling.hpp"
#include "coupling/explicit/explicit_coupling.hpp"
#include "coupling/explicit/staggered_grid_coupling.hpp"
#include "coupling/implicit/implicit_coupling.hpp"
#include "coupling/implicit/missiles_coupling.hpp"
#include "coupling/implicit/monolithic_coupling.hpp"

namespace concord {

std::unique_ptr<Coupling> make_coupling(const Method& method, RankNetwork& subsystems,
                                        const SubsystemSettings& defaults, double loosest_rtol) {
  if (method.compares_with_prediction()) {
    Method plain = method;
    plain.estimate = ErrorEstimate::none;
    return std::make_unique<ComparedCoupling>(
        make_coupling(plain, subsystems, defaults, loosest_rtol), method, subsystems);
  }
  switch (method.solve) {
    case Solve::none:
      if (method.takes_steps_twice()) {
        return std::make_unique<RichardsonCoupling>(method, subsystems);
      }
      if (method.schedule == Schedule::staggered_grid) {
        return std::make_unique<StaggeredGridCoupling>(method, subsystems);
      }
      return std::make_unique<ExplicitCoupling>(method, subsystems);
    case Solve::monolithic:
      return std::make_unique<MonolithicCoupling>(subsystems, defaults);
    case Solve::missiles:
      return std::make_unique<MissilesCoupling>(method, subsystems);
    case Solve::snes:
      break;
  }
  return std::make_unique<ImplicitCoupling>(method, subsystems, loosest_rtol);
}

}  // namespace concord
