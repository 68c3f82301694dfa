#include "simulation/order_trial.hpp"

#include <exception>
#include <memory>

#include "simulation/simulation_core.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

/// A fast transient at the start takes many short macro-steps, in which nothing is stiff.
constexpr int fewest_on_trial = 50, most_on_trial = 400;  // macro-steps
constexpr double share_on_trial = 0.1;                    // of the experiment

/// What goes wrong here goes wrong in the run, where it is told.
bool shows_stiffness(const Model& model, MPI_Comm comm) {
  try {
    SimulationCore core(std::make_unique<SimulationPlan>(comm, model));
    core.start();
    const Settings& settings = core.plan().settings;
    const double end = settings.start + share_on_trial * (settings.stop - settings.start);
    for (int steps = 0; steps < most_on_trial && !core.finished() &&
                        (steps < fewest_on_trial || core.time() < end);
         ++steps) {
      core.advance();
      if (agree_on_largest(comm, core.subsystems().has_stiff_outputs() ? 1 : 0) != 0) return true;
    }
  } catch (const std::exception&) {
    return false;
  }
  return false;
}

}  // namespace

void find_stiffness(Model& model, MPI_Comm comm) {
  model.stiff = false;
  if (read_settings(model).chose_order_six) {
    model.stiff = shows_stiffness(model, comm);
  }
}

}  // namespace concord
