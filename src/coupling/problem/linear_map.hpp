#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <memory>
#include <utility>

namespace concord {

using SparseRows = Eigen::SparseMatrix<double, Eigen::RowMajor>;

/// A matrix, whole or as the entries that can be other than zero.
class LinearMap {
 public:
  LinearMap() = default;
  LinearMap(Eigen::MatrixXd whole) : whole_(std::move(whole)) {}
  LinearMap(SparseRows entries)
      : entries_(std::make_shared<const SparseRows>(std::move(entries))) {}

  bool is_sparse() const { return entries_ != nullptr; }
  const Eigen::MatrixXd& whole() const { return whole_; }  ///< where not sparse
  const SparseRows& entries() const { return *entries_; }  ///< where sparse

  Eigen::Index rows() const { return is_sparse() ? entries_->rows() : whole_.rows(); }
  Eigen::Index cols() const { return is_sparse() ? entries_->cols() : whole_.cols(); }
  double trace() const { return is_sparse() ? entries_->diagonal().sum() : whole_.trace(); }

  using Vector = Eigen::Ref<const Eigen::VectorXd>;
  /// `to` has as many entries as there are rows.
  void set_product(const Vector& v, Eigen::Ref<Eigen::VectorXd> to) const {
    if (is_sparse())
      to = *entries_ * v;
    else
      to.noalias() = whole_ * v;
  }
  void add_product(const Vector& v, Eigen::Ref<Eigen::VectorXd> to, double factor = 1.0) const {
    if (is_sparse())
      to += factor * (*entries_ * v);
    else if (factor == 1.0)
      to.noalias() += whole_ * v;
    else
      to.noalias() += factor * (whole_ * v);
  }
  Eigen::VectorXd operator*(const Vector& v) const {
    Eigen::VectorXd result(rows());
    set_product(v, result);
    return result;
  }

  bool is_zero_column(Eigen::Index column) const {
    if (!is_sparse()) return whole_.col(column).isZero(0.0);
    for (Eigen::Index k = 0; k < entries_->nonZeros(); ++k)
      if (entries_->innerIndexPtr()[k] == column && entries_->valuePtr()[k] != 0.0) return false;
    return true;
  }

  /// `use(column, value)` of all that can be other than zero.
  template <class Use>
  void for_row(Eigen::Index row, Use&& use) const {
    if (is_sparse())
      for (SparseRows::InnerIterator entry(*entries_, row); entry; ++entry)
        use(entry.col(), entry.value());
    else
      for (Eigen::Index column = 0; column < whole_.cols(); ++column)
        use(column, whole_(row, column));
  }

 private:
  Eigen::MatrixXd whole_;
  std::shared_ptr<const SparseRows> entries_;
};

/// d + c r.
LinearMap sum_with_product(const LinearMap& d, const LinearMap& c, const LinearMap& r);

}  // namespace concord
