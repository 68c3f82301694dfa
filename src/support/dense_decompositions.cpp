#include "support/dense_decompositions.hpp"

// In this order.
// clang-format off
#include <petscsys.h>
#include <petscblaslapack.h>
// clang-format on

#include <algorithm>
#include <limits>
#include <vector>

#include "support/petsc.hpp"

// LAPACK's that PETSc's header leaves out.
extern "C" {
void dgees_(const char*, const char*, PetscBLASInt (*)(const double*, const double*),
            const PetscBLASInt*, double*, const PetscBLASInt*, PetscBLASInt*, double*, double*,
            double*, const PetscBLASInt*, double*, const PetscBLASInt*, PetscBLASInt*,
            PetscBLASInt*);
void dtrsyl_(const char*, const char*, const PetscBLASInt*, const PetscBLASInt*,
             const PetscBLASInt*, const double*, const PetscBLASInt*, const double*,
             const PetscBLASInt*, double*, const PetscBLASInt*, double*, PetscBLASInt*);
}

namespace concord {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

PetscBLASInt blas(Eigen::Index count) {
  PetscBLASInt result = 0;
  petsc(PetscBLASIntCast(static_cast<PetscInt>(count), &result));
  return result;
}

/// How far the columns of a matrix lie apart; LAPACK asks for one even where there is nothing.
PetscBLASInt stride_of(const MatrixXd& a) { return std::max<PetscBLASInt>(blas(a.rows()), 1); }

/// Calls `routine(work, size, info)` for the size of its work space, and with it. Whether it
/// converges.
template <typename Routine>
bool converges(const Routine& routine) {
  std::vector<double> work(1);
  PetscBLASInt size = -1, info = 0;
  routine(work.data(), &size, &info);
  if (info != 0) return false;
  size = static_cast<PetscBLASInt>(work[0]);
  work.resize(static_cast<std::size_t>(size));
  routine(work.data(), &size, &info);
  return info == 0;
}

/// What dgeev gives; eigenvectors that are conjugate share two real columns.
struct RealPairs {
  VectorXd real, imaginary;
  MatrixXd vectors;
};

RealPairs real_pairs(MatrixXd a, bool with_vectors) {
  const Eigen::Index rows = with_vectors ? a.rows() : 0;
  RealPairs pairs{VectorXd(a.rows()), VectorXd(a.rows()), MatrixXd(rows, rows)};
  PetscBLASInt n = blas(a.rows()), stride = stride_of(a), one = 1, apart = stride_of(pairs.vectors);
  const bool found =
      a.allFinite() && converges([&](double* work, PetscBLASInt* size, PetscBLASInt* info) {
        LAPACKgeev_("N", with_vectors ? "V" : "N", &n, a.data(), &stride, pairs.real.data(),
                    pairs.imaginary.data(), nullptr, &one, pairs.vectors.data(), &apart, work, size,
                    info);
      });
  if (!found) {
    pairs.real.setConstant(unknown);
    pairs.imaginary.setZero();
    pairs.vectors.setConstant(unknown);
  }
  return pairs;
}

Eigen::VectorXcd values_of(const RealPairs& pairs) {
  Eigen::VectorXcd values(pairs.real.size());
  values.real() = pairs.real;
  values.imag() = pairs.imaginary;
  return values;
}

}  // namespace

Eigen::VectorXcd eigenvalues(const MatrixXd& a) { return values_of(real_pairs(a, false)); }

EigenPairs eigen_pairs(const MatrixXd& a) {
  const RealPairs pairs = real_pairs(a, true);
  EigenPairs result{values_of(pairs), pairs.vectors.cast<std::complex<double>>()};
  for (Eigen::Index k = 0; k + 1 < a.rows(); ++k) {
    if (!(pairs.imaginary[k] > 0.0)) continue;
    result.vectors.col(k).imag() = pairs.vectors.col(k + 1);
    result.vectors.col(k + 1) = result.vectors.col(k).conjugate();
  }
  return result;
}

SymmetricEigenPairs symmetric_eigen_pairs(const MatrixXd& a) {
  SymmetricEigenPairs result{VectorXd(a.rows()), a};
  PetscBLASInt n = blas(a.rows()), stride = stride_of(a);
  const bool found =
      a.allFinite() && converges([&](double* work, PetscBLASInt* size, PetscBLASInt* info) {
        LAPACKsyev_("V", "U", &n, result.vectors.data(), &stride, result.values.data(), work, size,
                    info);
      });
  if (!found) {
    result.values.setConstant(unknown);
    result.vectors.setConstant(unknown);
  }
  return result;
}

SingularValues singular_values(const MatrixXd& a) {
  const Eigen::Index count = std::min(a.rows(), a.cols());
  MatrixXd scratch = a, rows_of_v(count, a.cols());
  SingularValues result{VectorXd(count), MatrixXd(a.rows(), count), {}};
  PetscBLASInt m = blas(a.rows()), n = blas(a.cols()), stride = stride_of(a),
               of_v = stride_of(rows_of_v);
  const bool found =
      a.allFinite() && converges([&](double* work, PetscBLASInt* size, PetscBLASInt* info) {
        LAPACKgesvd_("S", "S", &m, &n, scratch.data(), &stride, result.values.data(),
                     result.u.data(), &stride, rows_of_v.data(), &of_v, work, size, info);
      });
  if (!found) {
    result.values.setConstant(unknown);
    result.u.setConstant(unknown);
    rows_of_v.setConstant(unknown);
  }
  result.v = rows_of_v.transpose();
  return result;
}

SchurForm schur_form(const MatrixXd& a) {
  SchurForm result{a, MatrixXd(a.rows(), a.rows()), {}};
  RealPairs pairs{VectorXd(a.rows()), VectorXd(a.rows()), {}};
  PetscBLASInt n = blas(a.rows()), stride = stride_of(a), sorted = 0;
  const bool found =
      a.allFinite() && converges([&](double* work, PetscBLASInt* size, PetscBLASInt* info) {
        dgees_("V", "N", nullptr, &n, result.t.data(), &stride, &sorted, pairs.real.data(),
               pairs.imaginary.data(), result.q.data(), &stride, work, size, nullptr, info);
      });
  if (!found) {
    pairs.real.setConstant(unknown);
    pairs.imaginary.setZero();
    result.t.setConstant(unknown);
    result.q.setConstant(unknown);
  }
  result.values = values_of(pairs);
  return result;
}

void SchurForm::bring_to_top(const std::vector<bool>& rows) {
  std::vector<PetscBLASInt> select(rows.begin(), rows.end());
  RealPairs pairs{VectorXd(t.rows()), VectorXd(t.rows()), {}};
  PetscBLASInt n = blas(t.rows()), stride = stride_of(t), first = 0, one = 1, integers = 0;
  double separation = 0.0, condition = 0.0;
  const bool done = converges([&](double* work, PetscBLASInt* size, PetscBLASInt* info) {
    LAPACKtrsen_("N", "V", select.data(), &n, t.data(), &stride, q.data(), &stride,
                 pairs.real.data(), pairs.imaginary.data(), &first, &condition, &separation, work,
                 size, &integers, &one, info);
  });
  if (!done) q.setConstant(unknown);
  values = values_of(pairs);
}

MatrixXd solved_sylvester(Sylvester form, const MatrixXd& a, const MatrixXd& b, const MatrixXd& c) {
  MatrixXd x = c;
  PetscBLASInt m = blas(a.rows()), n = blas(b.rows()), of_a = stride_of(a), of_b = stride_of(b),
               of_x = stride_of(x), info = 0;
  const PetscBLASInt sign = form == Sylvester::difference ? -1 : 1;
  double scale = 1.0;
  dtrsyl_("N", form == Sylvester::sum_transposed ? "T" : "N", &sign, &m, &n, a.data(), &of_a,
          b.data(), &of_b, x.data(), &of_x, &scale, &info);
  if (info != 0) x.setConstant(unknown);
  return x / scale;
}

}  // namespace concord
