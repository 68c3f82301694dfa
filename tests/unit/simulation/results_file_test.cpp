#include "concord/results_file.hpp"

#include <gtest/gtest.h>
#include <petscsys.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "cli/commands.hpp"
#include "concord/model_builder.hpp"
#include "files/hdf5_io.hpp"
#include "network/model.hpp"
#include "record/results_schema.hpp"
#include "support/hdf5_error.hpp"
#include "unit/simulation/pair_model.hpp"

namespace concord {
namespace results_file_test {

namespace fs = std::filesystem;

/// A folder that all ranks share, with the model in it.
class ResultsFileLibrary : public testing::Test {
 protected:
  void SetUp() override {
    long process = getpid();
    MPI_Bcast(&process, 1, MPI_LONG, 0, PETSC_COMM_WORLD);
    folder_ = fs::path(testing::TempDir()) / ("results_file_" + std::to_string(process));
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank_);
    if (rank_ == 0) {
      fs::create_directories(folder_);
      std::ofstream(folder_ / "pair.yaml") << pair;
    }
    MPI_Barrier(PETSC_COMM_WORLD);
  }
  void TearDown() override {
    MPI_Barrier(PETSC_COMM_WORLD);
    if (rank_ == 0) fs::remove_all(folder_);
  }
  std::string file(const char* name) const { return (folder_ / name).string(); }
  ModelSource source() const { return model_file(file("pair.yaml")); }

  fs::path folder_;
  int rank_ = 0;
};

std::vector<double> numbers(hid_t file, const std::string& path) {
  const Hdf5Dataset dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT));
  const Hdf5Dataspace space(H5Dget_space(dataset));
  std::vector<double> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  return values;
}

Hdf5File opened(const std::string& path) {
  const Hdf5Properties access = file_access();
  return Hdf5File(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access));
}

std::string status_of(const std::string& path) {
  return read_string_attribute(opened(path), "status");
}

/// All datasets have the same bits, but for wall times and what says which run it was.
void expect_same(const std::string& a, const std::string& b) {
  const Hdf5Quiet quiet;
  const Hdf5File in_a = opened(a), in_b = opened(b);
  std::size_t compared = 0;
  for (const ResultsDataset& dataset : results_datasets()) {
    const char* path = dataset.path.c_str();
    const bool clock = dataset.path.ends_with("_time") || dataset.group() == "/ranks";
    if (clock || dataset.group() == "/runs") continue;
    const bool there = H5Lexists(in_a, dataset.group().empty() ? path : dataset.group().c_str(),
                                 H5P_DEFAULT) > 0 &&
                       H5Lexists(in_a, path, H5P_DEFAULT) > 0;
    if (!there) continue;
    ++compared;
    if (dataset.number == Number::text) {
      EXPECT_EQ(read_strings(in_a, path), read_strings(in_b, path)) << path;
      continue;
    }
    const auto x = numbers(in_a, path), y = numbers(in_b, path);
    ASSERT_EQ(x.size(), y.size()) << path;
    const bool same = x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0;
    EXPECT_TRUE(same) << path;
  }
  EXPECT_GT(compared, 20u);
  for (const char* name : {"model_name", "status", "error_estimate_of", "no_estimate"})
    EXPECT_EQ(read_string_attribute(in_a, name), read_string_attribute(in_b, name)) << name;
}

/// The command's run of the same model, with the same options, in the program's database.
void run_as_command(const ModelSource& source, Options options, const std::string& path) {
  options["cosim_output"] = path;
  for (const auto& [name, value] : options)
    PetscOptionsSetValue(nullptr, ("-" + name).c_str(), value.c_str());
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_command(std::move(*source({})), "concord run"), 0);
  testing::internal::GetCapturedStdout();
  for (const auto& [name, value] : options) PetscOptionsClearValue(nullptr, ("-" + name).c_str());
}

TEST_F(ResultsFileLibrary, AFileIsThatOfTheCommand) {
  const std::vector<Options> cases = {
      {{"cosim_type", "jfm"}, {"cosim_step", "0.01"}},
      {{"cosim_type", "missiles"}, {"cosim_step", "0.01"}, {"cosim_record", "outputs,polynomials"}},
      {{"cosim_type", "jacobi"}, {"cosim_step", "0.001"}, {"cosim_record_every", "7"}},
      {{"cosim_type", "jfm"}, {"cosim_adapt", "iteration"}}};
  for (const Options& options : cases) {
    {
      Simulation simulation(PETSC_COMM_WORLD, source(), options);
      simulation.start();
      ResultsFile results(simulation, file("library.h5"), "a test");
      while (!simulation.finished()) simulation.advance();
      results.close();
    }
    run_as_command(source(), options, file("command.h5"));
    MPI_Barrier(PETSC_COMM_WORLD);
    expect_same(file("library.h5"), file("command.h5"));
    MPI_Barrier(PETSC_COMM_WORLD);
  }
}

TEST_F(ResultsFileLibrary, AFileSaysHowTheRunEnded) {
  const Options options = {{"cosim_type", "jfm"}, {"cosim_step", "0.1"}};
  Simulation simulation(PETSC_COMM_WORLD, source(), options);
  EXPECT_THROW(ResultsFile(simulation, file("early.h5")), InputError);
  simulation.start();
  const Snapshot begin = simulation.snapshot();
  {
    ResultsFile results(simulation, file("a.h5"));
    simulation.advance_until(0.3);
    EXPECT_THROW(ResultsFile(simulation, file("a.h5")), InputError);  // it is being written
    results.flush();
    MPI_Barrier(PETSC_COMM_WORLD);
    EXPECT_EQ(status_of(file("a.h5")), "running");
    EXPECT_EQ(numbers(opened(file("a.h5")), "/time").size(), 4u);
    MPI_Barrier(PETSC_COMM_WORLD);
    results.close();
    EXPECT_THROW(results.close(), InputError);
  }
  MPI_Barrier(PETSC_COMM_WORLD);
  EXPECT_EQ(status_of(file("a.h5")), "interrupted");
  ResultsFile late(simulation, file("b.h5"));
  simulation.advance_until(1.0);
  late.close();
  MPI_Barrier(PETSC_COMM_WORLD);
  EXPECT_EQ(status_of(file("b.h5")), "completed");
  EXPECT_NEAR(numbers(opened(file("b.h5")), "/time").front(), 0.3, 1e-15);
  ResultsFile back(simulation, file("c.h5"));
  simulation.restore(begin);
  EXPECT_THROW(simulation.advance(), InputError);
}

TEST_F(ResultsFileLibrary, AFileOfARunThatFailsSaysSo) {
  if (rank_ == 0)
    std::ofstream(file("grows.yaml")) << "name: grows\nexperiment: {start: 0, stop: 2}\n"
                                         "subsystems:\n  a:\n    equations:\n"
                                         "      states: {x: 1}\n      derivatives: {x: x*x}\n"
                                         "      outputs: {y: x}\n";
  MPI_Barrier(PETSC_COMM_WORLD);
  Simulation simulation(PETSC_COMM_WORLD, model_file(file("grows.yaml")), {{"cosim_step", "0.1"}});
  simulation.start();
  ResultsFile results(simulation, file("grows.h5"));
  EXPECT_THROW(simulation.advance_until(2.0), SimulationError);
  results.close();
  MPI_Barrier(PETSC_COMM_WORLD);
  EXPECT_EQ(status_of(file("grows.h5")), "failed");
}

}  // namespace results_file_test
}  // namespace concord
