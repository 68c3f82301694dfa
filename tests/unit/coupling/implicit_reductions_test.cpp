// How often the ranks of an implicit coupling wait for each other.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include "coupling/implicit/implicit_coupling.hpp"
#include "unit/coupling/mock_network.hpp"

namespace {

int reductions = 0;

}  // namespace

#undef MPI_Allreduce  // PETSc counts by a macro

/// In place of the library's, which MPI's profiling interface keeps under another name.
extern "C" int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op how,
                             MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  reductions += size > 1 ? 1 : 0;
  return PMPI_Allreduce(from, to, count, type, how, comm);
}

namespace concord::test {
namespace implicit_reductions_test {

Method preset(const std::string& type, Predictor predictor) {
  const auto& presets = method_presets();
  Method method = *std::find_if(presets.begin(), presets.end(),
                                [&](const Method& one) { return one.type == type; });
  method.predictor = predictor;
  return method;
}

/// Three lags in a ring, x_k' = -x_k + x_{k-1} / 2, on up to three ranks.
class ImplicitReductions : public ::testing::Test {
 protected:
  static LinearPart lag(const std::string& name, double start) {
    const auto scalar = [](double value) { return Eigen::MatrixXd::Constant(1, 1, value); };
    return {name, scalar(-1.0), scalar(0.5), scalar(1.0), scalar(0.0), start, true};
  }

  /// Reductions in `solve` of each macro-step.
  std::vector<int> run(const Method& method, int steps) {
    constexpr double h = 1e-3;
    RankNetwork& subsystems = network_.subsystems();
    ImplicitCoupling coupling(method, subsystems, 1e-8);
    CommunicationPoint point;
    coupling.start({0.0, h, h}, 1.0, point);
    subsystems.see(point.inputs, point.outputs, h);
    Trial trial{point.inputs, point.outputs, std::vector<Polynomial>(point.inputs.size())};
    point.polynomials = trial.polynomials;
    std::vector<int> counts;
    for (int n = 0; n < steps; ++n) {
      const int before = reductions;
      subsystems.save();
      const auto report = coupling.solve({n * h, (n + 1) * h, h}, point, trial);
      counts.push_back(reductions - before);
      EXPECT_EQ(report.status, CouplingStatus::converged);
      point.time = (n + 1) * h;
      point.last_step = h;
      point.slopes_known = true;
      point.inputs = trial.inputs;
      point.outputs = trial.outputs;
      point.polynomials = trial.polynomials;
      subsystems.see(point.inputs, point.outputs, h);
      coupling.commit(point);
    }
    return counts;
  }

  MockNetwork network_{{lag("a", 1.0), lag("b", 2.0), lag("c", 4.0)},
                       {{"c.y0", "a.u0"}, {"a.y0", "b.u0"}, {"b.y0", "c.u0"}},
                       PETSC_COMM_WORLD};
};

/// After some macro-steps in which nothing but the kept matrix was needed.
TEST_F(ImplicitReductions, OneOnTheFastPath) {
  int ranks = 1;
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  const auto counts = run(preset("jfm", Predictor::missiles), 30);
  for (std::size_t n = 15; n < counts.size(); ++n) {
    EXPECT_EQ(counts[n], ranks > 1 ? 1 : 0) << "macro-step " << n;
  }
}

}  // namespace implicit_reductions_test
}  // namespace concord::test
