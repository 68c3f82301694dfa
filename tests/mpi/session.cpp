/// What a Session starts and ends: alone, or in a program that has initialised MPI and gives it
/// some of its ranks. Argument: "whole" or "part". Exit code 0 where everything was as promised.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>

#include "concord/model_builder.hpp"
#include "concord/simulation.hpp"

namespace {

class Decay : public concord::OdeModel {
 public:
  concord::OdeInterface interface() const override {
    concord::OdeInterface result;
    result.inputs = {{"u", "", 0.0}};
    result.states = {{"x", "", 1.0}};
    result.outputs = {{"x", ""}};
    result.feedthrough.emplace();
    return result;
  }
  void derivatives(double, std::span<const double> x, std::span<const double> u,
                   std::span<double> dxdt) override {
    dxdt[0] = u[0] - x[0];
  }
  void outputs(double, std::span<const double> x, std::span<const double>,
               std::span<double> y) override {
    y[0] = x[0];
  }
};

/// x1' = -x1, x2' = x1 - x2: x2(1) = 2 / e.
bool simulates(MPI_Comm comm) {
  concord::ModelBuilder model("decays", 0.0, 1.0);
  model.add("one", [] { return std::make_unique<Decay>(); })
      .add("two", [] { return std::make_unique<Decay>(); })
      .connect("one.x", "two.u");
  concord::Simulation simulation(comm, model.source(), {{"cosim_type", "jfm"}});
  simulation.start();
  simulation.advance_until(1.0);
  return std::abs(simulation.value("two.x") - 2.0 * std::exp(-1.0)) < 1e-5;
}

bool finalized() {
  int flag = 0;
  MPI_Finalized(&flag);
  return flag != 0;
}

int whole(int argc, char** argv) {
  bool right = false;
  {
    const concord::Session session(argc, argv);
    right = simulates(MPI_COMM_WORLD);
  }
  return right && finalized() ? 0 : 1;
}

/// On all ranks but the last of several.
int part(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  bool right = true;
  try {
    concord::Simulation early(MPI_COMM_SELF, concord::model_file("none.yaml"));
    right = false;
  } catch (const concord::InputError& error) {
    right = std::strstr(error.what(), "PETSc is not initialised") != nullptr;
  }
  const bool takes_part = ranks == 1 || rank < ranks - 1;
  MPI_Comm some = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, takes_part ? 0 : MPI_UNDEFINED, rank, &some);
  if (takes_part) {
    const concord::Session session(some);
    right = simulates(some) && right;
    right = simulates(MPI_COMM_SELF) && right;
  }
  right = right && !finalized();
  int all = 0, own = right ? 1 : 0;
  MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 1 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return argc > 1 && std::strcmp(argv[1], "part") == 0 ? part(argc, argv) : whole(1, argv);
}
