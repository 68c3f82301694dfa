#include "coupling/problem/input_operator.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <utility>

#include "unit/ode/models.hpp"

namespace concord::test {
namespace input_operator_test {

SubsystemEntry entry(const std::string& name, std::size_t inputs, std::size_t outputs) {
  const auto model = [=] {
    return std::make_unique<LambdaModel>(
        std::vector<double>{0.0}, inputs, outputs, [](double, Span, Span, Out) {},
        [](double, Span, Span, Out) {});
  };
  SubsystemEntry result;
  result.description = describe_ode(name, "native", model()->interface());
  result.type.own().create = [=](const SubsystemEntry&, const SubsystemSettings& settings) {
    return make_ode_subsystem(describe_ode(name, "native", model()->interface()), model(),
                              settings);
  };
  return result;
}

/// One output feeds two inputs, one feeds its own subsystem, one input stays at its start value.
Model three() {
  Model model;
  model.subsystems = {entry("a", 2, 2), entry("b", 1, 1), entry("c", 3, 2)};
  const std::pair<const char*, const char*> wires[] = {
      {"b.y0", "a.u0"}, {"c.y1", "a.u1"}, {"a.y0", "b.u0"}, {"a.y0", "c.u0"}, {"c.y0", "c.u2"}};
  for (const auto& [from, to] : wires) {
    model.connections.push_back({from, to, ""});
  }
  return model;
}

class Operator : public ::testing::TestWithParam<int> {
 protected:
  Eigen::MatrixXd dense_of(Mat matrix) const {
    PetscInt rows = 0;
    petsc(MatGetSize(matrix, &rows, nullptr));
    Eigen::MatrixXd result(rows, rows);
    for (PetscInt i = 0; i < rows; ++i) {
      for (PetscInt j = 0; j < rows; ++j) {
        petsc(MatGetValues(matrix, 1, &i, 1, &j, &result(i, j)));
      }
    }
    return result;
  }
};

TEST_P(Operator, IsTheDenseOne) {
  const int parts = GetParam();
  const Model model = three();
  const Network network(model);
  const Partition partition = Partition::on_one_rank(network);
  const RankNetwork subsystems(PETSC_COMM_SELF, model, network, partition, SettingsList(3));
  SubsystemGains gains(subsystems, parts);
  InputOperator found(subsystems, gains);

  const auto inputs = static_cast<Eigen::Index>(network.n_inputs()) * parts;
  const auto outputs = static_cast<Eigen::Index>(network.n_outputs()) * parts;
  Eigen::MatrixXd k = Eigen::MatrixXd::Zero(outputs, inputs);
  Eigen::MatrixXd p = Eigen::MatrixXd::Zero(inputs, outputs);
  for (std::size_t s = 0; s < 3; ++s) {
    for (std::size_t row = 0; row < network.outputs_of(s).size() * parts; ++row) {
      for (std::size_t column = 0; column < gains.columns(s); ++column) {
        const double value = std::sin(static_cast<double>(1 + 5 * row + 3 * column + s));
        gains.own(s, row, column) = value;
        const auto input = gains.inputs(s)[column / parts] * parts + column % parts;
        k(static_cast<Eigen::Index>(network.outputs_of(s).first * parts + row),
          static_cast<Eigen::Index>(input)) = value;
      }
    }
  }
  std::vector<Eigen::Index> rows;  // of the connected inputs
  for (std::size_t i = 0; i < network.n_inputs(); ++i) {
    for (int part = 0; network.links()[i] && part < parts; ++part) {
      rows.push_back(static_cast<Eigen::Index>(i) * parts + part);
      p(rows.back(), static_cast<Eigen::Index>(network.links()[i]->output) * parts + part) = 1.0;
    }
  }
  const Eigen::MatrixXd whole = Eigen::MatrixXd::Identity(inputs, inputs) - p * k;
  const Eigen::MatrixXd expected = whole(rows, rows);

  VecHandle residual_scale, scale;
  petsc(MatCreateVecs(found.matrix(), scale.out(), residual_scale.out()));
  Eigen::VectorXd r(expected.rows()), s(expected.rows());
  for (PetscInt i = 0; i < s.size(); ++i) {
    r[i] = 2.0 + 0.25 * static_cast<double>(i * i);
    s[i] = 1.0 + 0.5 * static_cast<double>(i);
    petsc(VecSetValue(residual_scale, i, r[i], INSERT_VALUES));
    petsc(VecSetValue(scale, i, s[i], INSERT_VALUES));
  }
  for (Vec values : {Vec(residual_scale), Vec(scale)}) {
    petsc(VecAssemblyBegin(values));
    petsc(VecAssemblyEnd(values));
  }
  for (int twice = 0; twice < 2; ++twice) {
    found.assemble(gains, residual_scale, scale);
    const Eigen::MatrixXd scaled = r.cwiseInverse().asDiagonal() * expected * s.asDiagonal();
    EXPECT_EQ(found.own_rows(), expected.rows());
    EXPECT_LT((dense_of(found.matrix()) - scaled).cwiseAbs().maxCoeff(), 1e-14);
  }
}

/// Those who share it see whether it is still theirs, and its factors follow its entries.
TEST_P(Operator, SolvesWithWhatItIsNow) {
  const int parts = GetParam();
  const Model model = three();
  const Network network(model);
  const Partition partition = Partition::on_one_rank(network);
  const RankNetwork subsystems(PETSC_COMM_SELF, model, network, partition, SettingsList(3));
  SubsystemGains gains(subsystems, parts);
  InputOperator found(subsystems, gains);
  VecHandle ones, b, x;
  petsc(MatCreateVecs(found.matrix(), b.out(), x.out()));
  petsc(VecDuplicate(x, ones.out()));
  petsc(VecSet(ones, 1.0));
  petsc(VecSet(b, 3.0));
  std::int64_t before = found.contents();
  for (const double size : {0.1, 0.7, 0.2}) {
    for (std::size_t s = 0; s < 3; ++s) {
      for (std::size_t row = 0; row < network.outputs_of(s).size() * parts; ++row) {
        for (std::size_t column = 0; column < gains.columns(s); ++column) {
          gains.own(s, row, column) = size * std::cos(static_cast<double>(row + 2 * column + s));
        }
      }
    }
    found.assemble(gains, ones, ones);
    if (size == 0.7) {
      petsc(VecSet(ones, 2.0));
      found.assemble(gains, ones, ones);
      petsc(VecSet(ones, 1.0));
    }
    EXPECT_NE(found.contents(), std::exchange(before, found.contents()));
    for (int twice = 0; twice < 2; ++twice) {
      ASSERT_TRUE(found.solve(b, x));
      EXPECT_EQ(found.contents(), before);
      const Eigen::VectorXd expected = dense_of(found.matrix())
                                           .partialPivLu()
                                           .solve(Eigen::VectorXd::Constant(found.own_rows(), 3.0));
      for (PetscInt i = 0; i < found.own_rows(); ++i) {
        double value = 0.0;
        petsc(VecGetValues(x, 1, &i, &value));
        EXPECT_NEAR(value, expected[i], 1e-13);
      }
    }
  }
}

TEST_P(Operator, SaysWhereItIsSingular) {
  const int parts = GetParam();
  Model model;
  model.subsystems = {entry("a", 1, 1), entry("b", 1, 1)};
  model.connections = {{"a.y0", "b.u0", ""}, {"b.y0", "a.u0", ""}};
  const Network network(model);
  const Partition partition = Partition::on_one_rank(network);
  const RankNetwork subsystems(PETSC_COMM_SELF, model, network, partition, SettingsList(2));
  SubsystemGains gains(subsystems, parts);
  InputOperator found(subsystems, gains);
  VecHandle ones, x;
  petsc(MatCreateVecs(found.matrix(), ones.out(), x.out()));
  petsc(VecSet(ones, 1.0));
  for (const double gain : {0.5, 1.0, 0.5, 1.0}) {
    for (std::size_t s = 0; s < 2; ++s) {
      for (std::size_t part = 0; part < static_cast<std::size_t>(parts); ++part) {
        gains.own(s, part, part) = gain;
      }
    }
    found.assemble(gains, ones, ones);
    for (int twice = 0; twice < 2; ++twice) {
      EXPECT_EQ(found.solve(ones, x), gain < 1.0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, Operator, ::testing::Values(1, 2));

}  // namespace input_operator_test
}  // namespace concord::test
