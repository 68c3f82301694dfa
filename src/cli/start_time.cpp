#include "cli/start_time.hpp"

#include <petscsys.h>

#include "checkpoint/warm_start.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

void choose_start_time() {
  const auto path = options::text("cosim_restart_as_start");
  if (!path || path->empty() || options::has("cosim_start")) return;
  options::set("cosim_start", exact_number(time_of_checkpoint(PETSC_COMM_WORLD, *path)));
}

}  // namespace concord
