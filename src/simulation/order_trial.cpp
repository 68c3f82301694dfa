#include "simulation/order_trial.hpp"

#include <exception>
#include <memory>

#include "simulation/simulation_core.hpp"
#include "support/petsc.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

constexpr int most_steps_on_trial = 50;  // macro-steps

/// What goes wrong here goes wrong in the run, where it is told.
bool shows_stiffness(const Model& model) {
  try {
    SimulationCore core(std::make_unique<SimulationPlan>(PETSC_COMM_SELF, model));
    core.start();
    for (int steps = 0; steps < most_steps_on_trial && !core.finished(); ++steps) {
      core.advance();
      if (core.subsystems().has_stiff_outputs()) return true;
    }
  } catch (const std::exception&) {
    return false;
  }
  return false;
}

}  // namespace

void find_stiffness(Model& model, MPI_Comm comm) {
  model.stiff = false;
  if (!read_settings(model).chose_order_six) return;
  int stiff = 0;
  if (rank_in(comm) == 0) {
    Model on_trial = model;
    on_trial.stiff = false;
    stiff = shows_stiffness(on_trial) ? 1 : 0;
  }
  MPI_Bcast(&stiff, 1, MPI_INT, 0, comm);
  model.stiff = stiff != 0;
}

}  // namespace concord
