#include "studies/least_squares.hpp"

#include <gsl/gsl_cdf.h>
#include <petsctao.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/callback_guard.hpp"
#include "support/dense_decompositions.hpp"
#include "support/factorizations.hpp"
#include "support/options.hpp"
#include "support/petsc.hpp"
#include "support/vec_entries.hpp"

namespace concord {
namespace {

using TaoHandle = PetscHandle<Tao, TaoDestroy>;

/// What TAO's callbacks share.
class Problem {
 public:
  Problem(const std::vector<FreeNumber>& free, const ResidualsAt& residuals, double settled)
      : free_(free), residuals_(residuals), settled_(settled) {
    for (const FreeNumber& one : free) numbers_.push_back(one.start);
    take();
    largest_ = 1e6 * (1.0 + now_.values.norm());
  }

  /// Residuals at x, which is numbers by their sizes.
  const Residuals& at(Vec x) {
    if (!is_at(x)) {
      numbers_ = numbers_at(x);
      take();
    }
    return now_;
  }
  /// Whether it was there that `at` has been called last.
  bool is_at(Vec x) const { return numbers_at(x) == numbers_; }
  const std::vector<double>& numbers() const { return numbers_; }

  /// Whether the next step would gain nothing that counts.
  bool is_settled() const {
    constexpr double rounding = 1e-17;
    const auto rows = static_cast<double>(now_.values.size());
    const double sum = now_.values.squaredNorm();
    const double freedom = std::max(rows - static_cast<double>(free_.size()), 1.0);
    return gain() <= std::max(settled_ * sum / freedom, rounding * rows);
  }

  CallbackGuard guard;

 private:
  std::vector<double> numbers_at(Vec x) const {
    const ReadEntries entries(x);
    std::vector<double> numbers;
    for (std::size_t i = 0; i < free_.size(); ++i)
      numbers.push_back(std::clamp(entries[i] * free_[i].size(), free_[i].lower, free_[i].upper));
    return numbers;
  }

  void take() {
    now_ = residuals_(numbers_);
    if (!now_.values.allFinite()) now_.values.setConstant(largest_);
    now_.by = now_.by.unaryExpr([](double slope) { return std::isfinite(slope) ? slope : 0.0; });
    for (std::size_t i = 0; i < free_.size(); ++i)
      now_.by.col(static_cast<Eigen::Index>(i)) *= free_[i].size();
  }

  /// By how much the sum of squares would fall in a whole step of Gauss and Newton, which no number
  /// takes beyond its bound.
  double gain() const {
    const Eigen::VectorXd slope = now_.by.transpose() * now_.values;
    Eigen::MatrixXd open = now_.by;
    for (std::size_t i = 0; i < free_.size(); ++i) {
      const auto column = static_cast<Eigen::Index>(i);
      const bool held = (slope[column] > 0.0 && free_[i].at_lower(numbers_[i])) ||
                        (slope[column] < 0.0 && free_[i].at_upper(numbers_[i]));
      if (held) open.col(column).setZero();
    }
    const Eigen::VectorXd step = least_squares_solution(open, now_.values);
    return (open * step).squaredNorm();
  }

  const std::vector<FreeNumber>& free_;
  const ResidualsAt& residuals_;
  double settled_;
  std::vector<double> numbers_;
  Residuals now_;  ///< there, by sizes
  double largest_ = std::numeric_limits<double>::infinity();
};

PetscErrorCode residuals_for_tao(Tao, Vec x, Vec result, void* problem) {
  auto& own = *static_cast<Problem*>(problem);
  return own.guard.run(PetscErrorCode{PETSC_ERR_USER}, [&] {
    const Residuals& now = own.at(x);
    copy({now.values.data(), static_cast<std::size_t>(now.values.size())}, result);
    return PetscErrorCode{};
  });
}

PetscErrorCode jacobian_for_tao(Tao, Vec x, Mat result, Mat, void* problem) {
  auto& own = *static_cast<Problem*>(problem);
  return own.guard.run(PetscErrorCode{PETSC_ERR_USER}, [&] {
    const Residuals& now = own.at(x);
    PetscScalar* entries = nullptr;
    petsc(MatDenseGetArrayWrite(result, &entries));
    std::copy_n(now.by.data(), now.by.size(), entries);
    petsc(MatDenseRestoreArrayWrite(result, &entries));
    petsc(MatAssemblyBegin(result, MAT_FINAL_ASSEMBLY));
    petsc(MatAssemblyEnd(result, MAT_FINAL_ASSEMBLY));
    return PetscErrorCode{};
  });
}

/// TAO's own test, and that no step would gain anything.
PetscErrorCode test_for_tao(Tao tao, void* problem) {
  auto& own = *static_cast<Problem*>(problem);
  return own.guard.run(PetscErrorCode{PETSC_ERR_USER}, [&] {
    petsc(TaoDefaultConvergenceTest(tao, nullptr));
    TaoConvergedReason reason = TAO_CONTINUE_ITERATING;
    petsc(TaoGetConvergedReason(tao, &reason));
    Vec x = nullptr;
    petsc(TaoGetSolution(tao, &x));
    if (reason == TAO_CONTINUE_ITERATING && own.is_at(x) && own.is_settled())
      petsc(TaoSetConvergedReason(tao, TAO_CONVERGED_USER));
    return PetscErrorCode{};
  });
}

VecHandle vector_of(std::vector<double> values) {
  VecHandle result;
  petsc(VecCreateSeq(PETSC_COMM_SELF, static_cast<PetscInt>(values.size()), result.out()));
  copy(values, result);
  return result;
}

std::vector<double> by_sizes(const std::vector<FreeNumber>& free, double FreeNumber::*part) {
  std::vector<double> result;
  for (const FreeNumber& one : free)
    result.push_back(std::isfinite(one.*part) ? one.*part / one.size()
                                              : std::copysign(PETSC_INFINITY, one.*part));
  return result;
}

}  // namespace

double FreeNumber::size() const {
  if (std::isfinite(lower) && std::isfinite(upper)) return upper - lower;
  return start == 0.0 ? 1.0 : std::abs(start);
}

std::vector<double> starts_of(const std::vector<FreeNumber>& free) {
  std::vector<double> result;
  for (const FreeNumber& one : free) result.push_back(one.start);
  return result;
}

LeastSquares least_squares(const std::vector<FreeNumber>& free, const ResidualsAt& residuals,
                           double settled) {
  Problem problem(free, residuals, settled);
  const VecHandle x = vector_of(by_sizes(free, &FreeNumber::start));
  const VecHandle lower = vector_of(by_sizes(free, &FreeNumber::lower));
  const VecHandle upper = vector_of(by_sizes(free, &FreeNumber::upper));
  const Residuals& first = problem.at(x);
  const VecHandle result = vector_of(std::vector<double>(first.values.size()));
  MatHandle jacobian;
  petsc(MatCreateSeqDense(PETSC_COMM_SELF, static_cast<PetscInt>(first.by.rows()),
                          static_cast<PetscInt>(first.by.cols()), nullptr, jacobian.out()));
  TaoHandle tao;
  petsc(TaoCreate(PETSC_COMM_SELF, tao.out()));
  petsc(TaoSetOptionsPrefix(tao, "fit_"));
  petsc(TaoSetType(tao, TAOBRGN));
  if (!options::has("fit_tao_brgn_regularization_type"))
    options::set("fit_tao_brgn_regularization_type", "lm");
  petsc(TaoSetSolution(tao, x));
  petsc(TaoSetVariableBounds(tao, lower, upper));
  petsc(TaoSetResidualRoutine(tao, result, residuals_for_tao, &problem));
  petsc(TaoSetJacobianResidualRoutine(tao, jacobian, jacobian, jacobian_for_tao, &problem));
  petsc(TaoSetTolerances(tao, 0.0, 0.0, 0.0));  // what they would mean depends on the data
  petsc(TaoSetMaximumIterations(tao, 100));
  petsc(TaoSetFromOptions(tao));
  Tao inner = nullptr;
  petsc(TaoBRGNGetSubsolver(tao, &inner));
  petsc(TaoSetConvergenceTest(inner, test_for_tao, &problem));
  const PetscErrorCode code = TaoSolve(tao);
  problem.guard.rethrow();
  petsc(code);
  problem.at(x);

  LeastSquares found;
  found.numbers = problem.numbers();
  TaoConvergedReason reason = TAO_CONTINUE_ITERATING;
  petsc(TaoGetConvergedReason(tao, &reason));
  PetscInt iterations = 0;
  petsc(TaoGetIterationNumber(tao, &iterations));
  found.iterations = static_cast<int>(iterations);
  found.reason = reason == TAO_CONVERGED_USER ? "no step gains anything that counts"
                                              : TaoConvergedReasons[reason];
  found.converged = reason > 0;
  return found;
}

Confidence confidence_of(const std::vector<FreeNumber>& free, const std::vector<double>& numbers,
                         const Residuals& residuals, Deviations deviations) {
  const auto n = static_cast<Eigen::Index>(free.size());
  std::vector<Eigen::Index> open;
  for (Eigen::Index i = 0; i < n; ++i)
    if (!free[static_cast<std::size_t>(i)].at_bound(numbers[static_cast<std::size_t>(i)]))
      open.push_back(i);
  const auto m = static_cast<Eigen::Index>(open.size());
  Confidence result;
  result.half_widths.assign(free.size(), std::numeric_limits<double>::infinity());
  result.correlations = Eigen::MatrixXd::Identity(n, n);
  result.weakest = Eigen::VectorXd::Zero(n);
  const double freedom = static_cast<double>(residuals.values.size() - m);
  if (m == 0 || freedom <= 0.0) return result;

  Eigen::MatrixXd by(residuals.by.rows(), m);
  for (Eigen::Index k = 0; k < m; ++k)
    by.col(k) = residuals.by.col(open[static_cast<std::size_t>(k)]) *
                free[static_cast<std::size_t>(open[static_cast<std::size_t>(k)])].size();
  const SingularValues svd = singular_values(by);
  const auto& singular = svd.values;
  result.condition = singular[0] / singular[m - 1];
  const Eigen::MatrixXd root = svd.v * singular.cwiseInverse().asDiagonal();
  const Eigen::MatrixXd covariance = root * root.transpose();
  constexpr double upper = 0.975;  // of a distribution, for intervals of 95 %
  const double width = deviations == Deviations::known ? gsl_cdf_ugaussian_Pinv(upper)
                                                       : gsl_cdf_tdist_Pinv(upper, freedom);
  for (Eigen::Index k = 0; k < m; ++k) {
    const Eigen::Index i = open[static_cast<std::size_t>(k)];
    const auto number = static_cast<std::size_t>(i);
    result.half_widths[number] = width * std::sqrt(covariance(k, k)) * free[number].size();
    result.weakest[i] = svd.v(k, m - 1);
    for (Eigen::Index l = 0; l < m; ++l)
      result.correlations(i, open[static_cast<std::size_t>(l)]) =
          covariance(k, l) / std::sqrt(covariance(k, k) * covariance(l, l));
  }
  return result;
}

}  // namespace concord
