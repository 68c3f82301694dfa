#include "subsystem/isolated/subsystem_place.hpp"

#include "subsystem/isolated/distant_host.hpp"
#include "subsystem/isolated/recipe.hpp"
#include "subsystem/isolated/subsystem_process.hpp"

namespace concord {

std::unique_ptr<SubsystemPlace> begin_place(const Recipe& recipe, const IsolationOptions& options) {
  if (const ServedRecipe* served = recipe.served())
    return std::make_unique<DistantHost>(served->remote, served->link);
  return std::make_unique<SubsystemProcess>(recipe.what(), options.call_limit);
}

}  // namespace concord
