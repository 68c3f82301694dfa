#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <algorithm>
#include <span>
#include <type_traits>

#include "coupling/problem/row_major.hpp"
#include "subsystem/sparse_model.hpp"

namespace concord {

/// Row by row.
using Entries = Eigen::SparseMatrix<double, Eigen::RowMajor>;

/// A, B, C or D of a linearisation: whole, or the entries that can be other than zero.
class StateSpaceMatrix {
 public:
  /// `values` row by row.
  void take(std::span<const double> values, Eigen::Index rows, Eigen::Index columns) {
    is_sparse_ = false;
    whole_ = Eigen::Map<const RowMajor>(values.data(), rows, columns);
  }
  /// `values` in the pattern's order.
  void take(std::span<const double> values, const RowPattern& pattern, Eigen::Index columns) {
    is_sparse_ = true;
    entries_ = Eigen::Map<const Entries>(static_cast<Eigen::Index>(pattern.rows()), columns,
                                         std::ssize(values), pattern.begins.data(),
                                         pattern.columns.data(), values.data());
  }

  Eigen::Index rows() const { return is_sparse_ ? entries_.rows() : whole_.rows(); }
  Eigen::Index cols() const { return is_sparse_ ? entries_.cols() : whole_.cols(); }
  bool is_sparse() const { return is_sparse_; }

  /// What `use` makes of the matrix, of one type or the other.
  template <class Use>
  auto with(Use&& use) const {
    return is_sparse_ ? use(entries_) : use(whole_);
  }

  template <class Matrix>
  const Matrix& as() const {
    if constexpr (std::is_same_v<Matrix, Entries>)
      return entries_;
    else
      return whole_;
  }

  Eigen::VectorXd column(Eigen::Index j) const {
    if (!is_sparse_) return whole_.col(j);
    return entries_ * Eigen::VectorXd::Unit(entries_.cols(), j);
  }

  bool operator==(const StateSpaceMatrix& other) const {
    if (is_sparse_ != other.is_sparse_ || rows() != other.rows() || cols() != other.cols())
      return false;
    if (!is_sparse_) return whole_ == other.whole_;
    const auto same = [&](const auto* one, const auto* two, Eigen::Index count) {
      return std::equal(one, one + count, two);
    };
    const Eigen::Index count = entries_.nonZeros();
    return count == other.entries_.nonZeros() &&
           same(entries_.outerIndexPtr(), other.entries_.outerIndexPtr(), rows() + 1) &&
           same(entries_.innerIndexPtr(), other.entries_.innerIndexPtr(), count) &&
           same(entries_.valuePtr(), other.entries_.valuePtr(), count);
  }

  /// All that is stored.
  std::span<const double> values() const {
    if (is_sparse_) return {entries_.valuePtr(), static_cast<std::size_t>(entries_.nonZeros())};
    return {whole_.data(), static_cast<std::size_t>(whole_.size())};
  }

 private:
  bool is_sparse_ = false;
  Eigen::MatrixXd whole_;
  Entries entries_;
};

}  // namespace concord
