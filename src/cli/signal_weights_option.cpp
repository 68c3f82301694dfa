#include "cli/signal_weights_option.hpp"

#include <cstdio>

#include "network/network.hpp"
#include "settings/settings.hpp"
#include "simulation/signal_weights.hpp"
#include "support/options.hpp"
#include "support/petsc.hpp"
#include "support/ranks.hpp"

namespace concord {

void take_signal_weights(Model& model, MPI_Comm comm) {
  if (options::text("cosim_schedule_signals") != "weighted") {
    return;
  }
  SignalWeights found;
  if (rank_in(comm) == 0) {
    found = trial_signal_weights(model);
    if (!found.remark.empty()) {
      std::fprintf(stderr, "concord: note: -cosim_schedule_signals weighted: %s\n",
                   found.remark.c_str());
    }
  }
  int count = static_cast<int>(found.weights.size());
  MPI_Bcast(&count, 1, MPI_INT, 0, comm);
  found.weights.resize(static_cast<std::size_t>(count));
  MPI_Bcast(found.weights.data(), count, MPI_DOUBLE, 0, comm);
  model.signal_weights = std::move(found.weights);
}

}  // namespace concord
