#include "concord/errors.hpp"
#include "subsystem/fmu/setup.hpp"

namespace concord {

std::unique_ptr<Subsystem> make_model_exchange(std::shared_ptr<const FmuSetup> setup,
                                               const SubsystemSettings& /*settings*/) {
  throw InputError(setup->request.path.string() +
                   ": model exchange is not supported yet; use -subsystem_fmu_interface cs");
}

}  // namespace concord
