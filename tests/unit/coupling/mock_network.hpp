#pragma once

#include <Eigen/Core>
#include <string>
#include <utility>
#include <vector>

#include "coupling/points/start.hpp"
#include "network/placement/placement.hpp"
#include "unit/ode/models.hpp"

namespace concord::test {

/// x' = A x + B u, y = C x + D u, from x = `start` in each state.
struct LinearPart {
  std::string name;
  Eigen::MatrixXd a, b, c, d;
  double start = 0.0;
  bool declared = false;  ///< it says that it is linear
};

/// Linear subsystems, wired, on one rank or spread over those of `comm`; inputs u0, u1, ...,
/// outputs y0, y1, ...
class MockNetwork {
 public:
  using Wires = std::vector<std::pair<std::string, std::string>>;

  MockNetwork(const std::vector<LinearPart>& parts, const Wires& wires,
              MPI_Comm comm = PETSC_COMM_SELF)
      : model_(model_of(parts, wires)),
        network_(model_),
        partition_(in_blocks(placement_problem(model_, network_), size_of(comm))),
        subsystems_(comm, model_, network_, partition_, SettingsList(parts.size())) {}

  RankNetwork& subsystems() { return subsystems_; }

  /// At the start.
  CommunicationPoint start(double h) {
    ConsistentInputs consistent(subsystems_);
    CommunicationPoint point;
    start_consistently(subsystems_, consistent, Wanted::values_and_derivatives, {0.0, h}, 100.0,
                       point);
    return point;
  }

 private:
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  static int size_of(MPI_Comm comm) {
    int size = 1;
    MPI_Comm_size(comm, &size);
    return size;
  }

  static Eigen::Map<const Eigen::VectorXd> vector(Span values) {
    return {values.data(), static_cast<Eigen::Index>(values.size())};
  }
  static void copy(const Eigen::MatrixXd& from, Out to) {
    Eigen::Map<RowMajor>(to.data(), from.rows(), from.cols()) = from;
  }

  static std::unique_ptr<LambdaModel> ode(const LinearPart& part) {
    const auto sum = [](const Eigen::MatrixXd& of_x, const Eigen::MatrixXd& of_u) {
      return [=](double, Span x, Span u, Out result) {
        Eigen::Map<Eigen::VectorXd>(result.data(), of_x.rows()) =
            of_x * vector(x) + of_u * vector(u);
      };
    };
    const auto n = static_cast<std::size_t>(part.a.rows());
    auto model = std::make_unique<LambdaModel>(
        std::vector<double>(n, part.start), static_cast<std::size_t>(part.d.cols()),
        static_cast<std::size_t>(part.d.rows()), sum(part.a, part.b), sum(part.c, part.d));
    if (part.declared) {
      model->declare_linear();
    }
    model->exact = [=](double, Span, Span, const Jacobians& result) {
      copy(part.a, result.f_x);
      copy(part.b, result.f_u);
      copy(part.c, result.g_x);
      copy(part.d, result.g_u);
    };
    return model;
  }

  static Model model_of(const std::vector<LinearPart>& parts, const Wires& wires) {
    Model model;
    for (const LinearPart& part : parts) {
      auto& entry = model.subsystems.emplace_back();
      entry.description = describe_ode(part.name, "native", ode(part)->interface());
      entry.type.own().create = [part](const SubsystemEntry&, const SubsystemSettings& settings) {
        return make_ode_subsystem(describe_ode(part.name, "native", ode(part)->interface()),
                                  ode(part), settings);
      };
    }
    for (const auto& [from, to] : wires) {
      model.connections.push_back({from, to, ""});
    }
    return model;
  }

  Model model_;
  Network network_;
  Partition partition_;
  RankNetwork subsystems_;
};

}  // namespace concord::test
