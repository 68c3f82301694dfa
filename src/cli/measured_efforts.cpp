#include "cli/measured_efforts.hpp"

#include <algorithm>
#include <cmath>

#include "concord/errors.hpp"
#include "record/results_reader.hpp"
#include "support/agreement.hpp"
#include "support/options.hpp"
#include "support/petsc.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

/// What takes no time that a clock shows still takes a place in a group.
constexpr double least_share = 1e-6;

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw InputError("option -cosim_schedule_efforts: '" + path + "' " + what);
}

std::vector<double> measured(const std::string& path, const Model& model) {
  if (path.empty()) {
    throw InputError("option -cosim_schedule_efforts needs the name of a results file");
  }
  const ResultsReader results(path);
  const auto costs = results.costs();
  const bool same = std::equal(
      costs.begin(), costs.end(), model.subsystems.begin(), model.subsystems.end(),
      [](const auto& cost, const auto& entry) { return cost.subsystem == entry.description.name; });
  if (!same) {
    std::vector<std::string> names;
    for (const auto& cost : costs) {
      names.push_back(cost.subsystem);
    }
    refuse(path, "holds results of another model, '" + results.model_name() +
                     "', with subsystems " + joined(names) + "; give results of this model, '" +
                     model.name + "'");
  }
  double total = 0.0;
  std::vector<double> efforts, advances;
  for (const auto& cost : costs) {
    efforts.push_back(cost.all);
    advances.push_back(cost.advances);
    total += cost.all;
  }
  if (!(std::isfinite(total) && total > 0.0) ||
      *std::min_element(efforts.begin(), efforts.end()) < 0) {
    refuse(path, "holds no times of its subsystems (status " + results.status() +
                     "); give results of a run that has ended");
  }
  if (std::equal(advances.begin() + 1, advances.end(), advances.begin()) && advances.size() > 1) {
    refuse(path,
           "holds one time for all subsystems, as -cosim_type monolithic measures it; give results "
           "of a method that runs them one by one");
  }
  for (double& effort : efforts) {
    effort = std::max(effort, least_share * total);
  }
  return efforts;
}

}  // namespace

void take_measured_efforts(Model& model, MPI_Comm comm) {
  const auto path = options::text("cosim_schedule_efforts");
  if (!path) {
    return;
  }
  const int rank = rank_in(comm);
  std::vector<double> efforts(model.subsystems.size());
  together(comm, [&] {
    if (rank == 0) {
      efforts = measured(*path, model);
    }
  });
  MPI_Bcast(efforts.data(), static_cast<int>(efforts.size()), MPI_DOUBLE, 0, comm);
  for (std::size_t k = 0; k < efforts.size(); ++k) {
    model.subsystems[k].effort = efforts[k];
  }
}

}  // namespace concord
