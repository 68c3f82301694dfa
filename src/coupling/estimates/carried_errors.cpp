#include "coupling/estimates/carried_errors.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>

#include "coupling/estimation/phi_functions.hpp"
#include "coupling/estimation/step_response.hpp"

namespace concord {
namespace {

/// Which states depend on one another, whichever way: their parts' numbers.
std::vector<int> parts_among(const SparseRows& a) {
  std::vector<int> parent(static_cast<std::size_t>(a.rows()));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int i) {
    while (parent[static_cast<std::size_t>(i)] != i)
      i = parent[static_cast<std::size_t>(i)] =
          parent[static_cast<std::size_t>(parent[static_cast<std::size_t>(i)])];
    return i;
  };
  for (Eigen::Index row = 0; row < a.rows(); ++row)
    for (SparseRows::InnerIterator entry(a, row); entry; ++entry)
      parent[static_cast<std::size_t>(root(static_cast<int>(row)))] =
          root(static_cast<int>(entry.col()));
  std::vector<int> number(parent.size(), -1), result(parent.size());
  int next = 0;
  for (std::size_t i = 0; i < parent.size(); ++i) {
    int& of_root = number[static_cast<std::size_t>(root(static_cast<int>(i)))];
    if (of_root < 0) of_root = next++;
    result[i] = of_root;
  }
  return result;
}

}  // namespace

void CarriedErrors::prepare(const LinearMap& map, double h, How how) {
  last_ = gamma * h;
  if (map.is_sparse()) {
    exact_ = false;
    return prepare_sparse(map.entries());
  }
  sparse_.reset();
  const Eigen::MatrixXd& a = map.whole();
  const Eigen::Index n = a.rows();
  exact_ = how == How::exactly && n < few_states;
  if (exact_) {
    const Eigen::VectorXd units = balancing_units(a, Eigen::MatrixXd(n, 0), h);
    const Eigen::VectorXd inverse = units.cwiseInverse();
    const Eigen::MatrixXd balanced = inverse.asDiagonal() * a * units.asDiagonal();
    grown_and_summed(balanced, h - last_, grown_first_, summed_first_);
    grown_and_summed(balanced, last_, grown_last_, summed_last_);
    for (auto* part : {&grown_first_, &summed_first_, &grown_last_, &summed_last_}) {
      *part = (units.asDiagonal() * *part * inverse.asDiagonal()).eval();
    }
    // Beyond all numbers: an error that grows so is told as one by any method.
    exact_ = grown_first_.allFinite() && grown_last_.allFinite();
  }
  if (!exact_) shifted_.compute(Eigen::MatrixXd::Identity(n, n) - last_ * a);
}

void CarriedErrors::prepare_sparse(const SparseRows& a) {
  sparse_ = std::make_unique<Sparse>();
  if (a.rows() == 0) return;
  sparse_->part_of = parts_among(a);
  sparse_->parts.resize(static_cast<std::size_t>(*std::ranges::max_element(sparse_->part_of)) + 1);
  for (std::size_t i = 0; i < sparse_->part_of.size(); ++i)
    sparse_->parts[static_cast<std::size_t>(sparse_->part_of[i])].push_back(static_cast<int>(i));
  Eigen::SparseMatrix<double> shifted(a.rows(), a.cols());
  shifted.setIdentity();
  shifted -= Eigen::SparseMatrix<double>(last_ * a);
  sparse_->shifted.compute(shifted);
}

Eigen::VectorXd CarriedErrors::Sparse::solve(const Eigen::VectorXd& right) const {
  if (shifted.succeeded()) return shifted.solve(right);
  return Eigen::VectorXd::Constant(right.size(), std::numeric_limits<double>::quiet_NaN());
}

/// Columns that reach different parts are solved for together.
SparseRows CarriedErrors::Sparse::response(const SparseRows& forcing) const {
  const Eigen::SparseMatrix<double> columns = forcing;
  std::vector<std::vector<int>> together, reached(static_cast<std::size_t>(columns.cols()));
  std::vector<std::size_t> used(parts.size(), 0);
  for (int c = 0; c < columns.cols(); ++c) {
    auto& reach = reached[static_cast<std::size_t>(c)];
    for (Eigen::SparseMatrix<double>::InnerIterator entry(columns, c); entry; ++entry)
      reach.push_back(part_of[static_cast<std::size_t>(entry.row())]);
    std::ranges::sort(reach);
    reach.erase(std::unique(reach.begin(), reach.end()), reach.end());
    std::size_t group = 0;
    for (const int part : reach) group = std::max(group, used[static_cast<std::size_t>(part)]);
    for (const int part : reach) used[static_cast<std::size_t>(part)] = group + 1;
    if (group >= together.size()) together.resize(group + 1);
    together[group].push_back(c);
  }
  std::vector<Eigen::Triplet<double>> entries;
  for (const auto& group : together) {
    Eigen::VectorXd right = Eigen::VectorXd::Zero(columns.rows());
    for (const int c : group)
      for (Eigen::SparseMatrix<double>::InnerIterator entry(columns, c); entry; ++entry)
        right[entry.row()] += entry.value();
    const Eigen::VectorXd x = solve(right);
    for (const int c : group)
      for (const int part : reached[static_cast<std::size_t>(c)])
        for (const int state : parts[static_cast<std::size_t>(part)])
          entries.emplace_back(state, c, x[state]);
  }
  SparseRows result(columns.rows(), columns.cols());
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

LinearMap CarriedErrors::response(const LinearMap& map) const {
  if (map.rows() == 0 || map.cols() == 0) return map;
  if (sparse_) return sparse_->response(SparseRows(last_ * map.entries()));
  const Eigen::MatrixXd& b = map.whole();
  return exact_ ? Eigen::MatrixXd(summed_last_ * b) : Eigen::MatrixXd(shifted_.solve(last_ * b));
}

Eigen::VectorXd CarriedErrors::over_last(const LinearMap::Vector& x,
                                         const LinearMap::Vector& w) const {
  if (x.size() == 0) return x;
  if (sparse_) return sparse_->solve(x + last_ * w);
  return exact_ ? Eigen::VectorXd(grown_last_ * x + summed_last_ * w)
                : Eigen::VectorXd(shifted_.solve(x + last_ * w));
}

Eigen::VectorXd CarriedErrors::over_first(const LinearMap::Vector& x,
                                          const LinearMap::Vector& stage,
                                          const LinearMap::Vector& w) const {
  return exact_ ? Eigen::VectorXd(grown_first_ * x + summed_first_ * w)
                : Eigen::VectorXd(x + (1.0 - gamma) / gamma * (stage - x));
}

}  // namespace concord
