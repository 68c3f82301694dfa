/// A controller in a program of its own, with its own time loop, MPI and PETSc, that simulates a
/// house with Concord on some of its ranks; see README.md.
#include <mpi.h>
#include <petscsys.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "concord/simulation.hpp"

namespace {

constexpr double period = 600.0;  // s, of the controller
constexpr double wanted = 21.0;   // degC
constexpr int windows_open = 72;  // period in which the house begins to lose more heat
constexpr double more_loss = 90.0;

/// Proportional and integral, on a rank that knows nothing of the simulation.
class Controller {
 public:
  double power(double temperature) {
    const double error = wanted - temperature;
    sum_ += error;
    return 60.0 * error + 3.0 * sum_;  // W
  }

 private:
  double sum_ = 0.0;
};

/// The house on the ranks of a communicator, as the host's time loop sees it.
class House {
 public:
  House(MPI_Comm comm, const std::string& model)
      : simulation_(comm, concord::model_file(model),
                    {{"cosim_type", "jfm"}, {"cosim_step", "60"}}),
        temperature_(simulation_.variable("room.temperature")),
        power_(simulation_.settable("room.power")) {
    simulation_.start();
  }

  double temperature() { return simulation_.value(temperature_); }

  void heat(double power, double until) {
    simulation_.set(power_, power);
    simulation_.advance_until(until);
  }

  void open_windows() { simulation_.set("wall.loss", more_loss); }

  /// What the temperature would be at `time` without heating; the simulation stays where it is.
  double without_heating(double time) {
    const concord::Snapshot now = simulation_.snapshot();
    heat(0.0, time);
    const double cold = temperature();
    simulation_.restore(now);
    return cold;
  }

  bool finished() const { return simulation_.finished(); }
  double stop_time() const { return simulation_.stop_time(); }

 private:
  concord::Simulation simulation_;
  concord::Variable temperature_;
  concord::Settable power_;
};

/// One number from the first rank of the world to the last, or back.
void send(double& number, int from, int to, int rank) {
  if (from == to) {
    return;
  }
  if (rank == from) {
    MPI_Send(&number, 1, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
  } else if (rank == to) {
    MPI_Recv(&number, 1, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/// The last rank controls; it simulates only where it is alone.
void run(const std::string& model) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int last = ranks - 1;
  const bool controls = rank == last, simulates = rank < last || ranks == 1;
  MPI_Comm simulating = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, simulates ? 0 : MPI_UNDEFINED, rank, &simulating);
  {
    Controller controller;
    std::unique_ptr<House> house;
    if (simulates) {
      house = std::make_unique<House>(simulating, model);
    }
    for (int step = 0; step < 144; ++step) {
      double temperature = house ? house->temperature() : 0.0;
      send(temperature, 0, last, rank);
      double power = controls ? controller.power(temperature) : 0.0;
      for (int other = 0; other < last; ++other) {
        send(power, last, other, rank);
      }
      if (rank == 0) {
        std::printf("%.0f %.12g %.12g\n", step * period, temperature, power);
      }
      if (house && step == windows_open) {
        house->open_windows();
        const double cold = house->without_heating(house->stop_time());
        if (rank == 0) {
          std::printf("without heating %.12g\n", cold);
        }
      }
      if (house) {
        house->heat(power, (step + 1) * period);
      }
    }
    if (house && rank == 0) {
      std::printf("%s\n", house->finished() ? "finished" : "not finished");
    }
  }
  if (simulating != MPI_COMM_NULL) {
    MPI_Comm_free(&simulating);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  PetscInitialize(&argc, &argv, nullptr, nullptr);
  try {
    run(argc > 1 ? argv[1] : "house.yaml");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  PetscFinalize();
  MPI_Finalize();
  return 0;
}
