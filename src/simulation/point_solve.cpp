#include "simulation/point_solve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "concord/errors.hpp"
#include "support/callback_guard.hpp"
#include "support/factorizations.hpp"
#include "support/petsc.hpp"
#include "support/vec_entries.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Vector = Eigen::VectorXd;

/// Beside sizes: rates over the experiment's duration.
constexpr double solved_to = 1e-9;
/// Below it a matrix is taken for singular.
constexpr double singular = 1e-13;
constexpr int most_newton_steps = 50;
constexpr int most_pseudo_steps = 2000;
/// Rounds in which relations may change their truth.
constexpr int most_rounds = 100;

/// Unknowns are divided by their sizes: what is found where one of them is endless is no point.
bool runs_away(const Vector& z) {
  constexpr double endless = 1e9;
  return !z.allFinite() || (z.size() > 0 && z.cwiseAbs().maxCoeff() > endless);
}

/// target = g(z) by PETSc's SNES on this rank alone, with Eigen's factors, which tell whether the
/// matrix is singular, where PETSc's dense ones end in an error.
class Newton {
 public:
  Newton(PointSystem& system, Vector target) : system_(system), target_(std::move(target)) {
    const auto n = static_cast<PetscInt>(system.size());
    petsc(SNESCreate(PETSC_COMM_SELF, snes_.out()));
    petsc(VecCreateSeq(PETSC_COMM_SELF, n, unknown_.out()));
    petsc(VecDuplicate(unknown_, residual_.out()));
    petsc(MatCreateSeqDense(PETSC_COMM_SELF, n, n, nullptr, matrix_.out()));
    petsc(SNESSetOptionsPrefix(snes_, "steady_"));
    petsc(SNESSetFunction(snes_, residual_, form_function, this));
    petsc(SNESSetJacobian(snes_, matrix_, matrix_, form_jacobian, this));
    petsc(SNESSetCheckJacobianDomainError(snes_, PETSC_TRUE));
    petsc(SNESSetTolerances(snes_, 0.1 * solved_to, 0.0, 1e-14, most_newton_steps, 100000));
    solve_with_factors(snes_, apply_factors, this);
    petsc(SNESSetFromOptions(snes_));
  }

  /// From z, which is left as it was where nothing is found.
  bool solve(Vector& z, int& steps) {
    put(z, unknown_);
    const PetscErrorCode code = SNESSolve(snes_, nullptr, unknown_);
    guard_.rethrow();
    petsc(code);
    PetscInt taken = 0;
    petsc(SNESGetIterationNumber(snes_, &taken));
    steps += static_cast<int>(taken);
    const Vector found = entries_of(unknown_);
    if (runs_away(found) || !(residual_at(found) <= solved_to || is_all_but_rounding(found)))
      return false;
    z = found;
    return true;
  }

 private:
  static Vector entries_of(Vec vector) {
    const ReadEntries entries(vector);
    return Eigen::Map<const Vector>(entries.all().data(), std::ssize(entries.all()));
  }

  static void put(const Vector& values, Vec vector) {
    copy({values.data(), static_cast<std::size_t>(values.size())}, vector);
  }

  double residual_at(const Vector& z) {
    try {
      return largest(system_.residual(z) - target_);
    } catch (const RecoverableFailure&) {
      return std::numeric_limits<double>::infinity();
    }
  }

  /// What a further step would change: rates far faster than the experiment are never at rest to
  /// the last digit.
  bool is_all_but_rounding(const Vector& z) {
    constexpr double rounding = 1e-13;
    try {
      factors_.compute(system_.jacobian(z));
      const Vector change = factors_.solve(system_.residual(z) - target_);
      return factors_.rcond() > singular && change.allFinite() &&
             (change.array().abs() <= rounding * z.array().abs().max(1.0)).all();
    } catch (const RecoverableFailure&) {
      return false;
    }
  }

  static PetscErrorCode form_function(SNES snes, Vec unknown, Vec residual, void* context) {
    auto& self = *static_cast<Newton*>(context);
    return self.guard_.run(PetscErrorCode{PETSC_ERR_LIB}, [&]() -> PetscErrorCode {
      try {
        put(self.system_.residual(entries_of(unknown)) - self.target_, residual);
        return 0;
      } catch (const RecoverableFailure&) {
        return SNESSetFunctionDomainError(snes);
      }
    });
  }

  static PetscErrorCode form_jacobian(SNES snes, Vec unknown, Mat matrix, Mat, void* context) {
    auto& self = *static_cast<Newton*>(context);
    return self.guard_.run(PetscErrorCode{PETSC_ERR_LIB}, [&]() -> PetscErrorCode {
      Eigen::MatrixXd jacobian;
      try {
        jacobian = self.system_.jacobian(entries_of(unknown));
      } catch (const RecoverableFailure&) {
        return SNESSetJacobianDomainError(snes);
      }
      double* values = nullptr;
      petsc(MatDenseGetArrayWrite(matrix, &values));
      std::copy_n(jacobian.data(), jacobian.size(), values);
      petsc(MatDenseRestoreArrayWrite(matrix, &values));
      self.factors_.compute(jacobian);
      const bool good = jacobian.size() == 0 || self.factors_.rcond() > singular;
      return good ? PetscErrorCode{0} : SNESSetJacobianDomainError(snes);
    });
  }

  static PetscErrorCode apply_factors(PC pc, Vec b, Vec x) {
    void* context = nullptr;
    PetscCall(PCShellGetContext(pc, &context));
    auto& self = *static_cast<Newton*>(context);
    return self.guard_.run(PetscErrorCode{PETSC_ERR_LIB}, [&]() -> PetscErrorCode {
      put(self.factors_.solve(entries_of(b)), x);
      return 0;
    });
  }

  PointSystem& system_;
  Vector target_;
  CallbackGuard guard_;
  SnesHandle snes_;
  VecHandle unknown_, residual_;
  MatHandle matrix_;
  DenseFactors factors_;
};

/// (M / delta - J) dz = g, delta growing as g falls, or as far as the step has found the rates that
/// it was meant for. Relations follow, as they do in the transient.
class PseudoTime {
 public:
  /// What leaps over what is fast may leave the way of the transient, which `follows` goes.
  enum class Way { leaps, follows };

  PseudoTime(PointSystem& system, Vector z, Way way)
      : system_(system),
        z_(std::move(z)),
        g_(system.residual(z_)),
        way_(way),
        delta_(way == Way::leaps ? 1e-3 : 1e-9) {}

  bool solve(int& steps) {
    for (int step = 0; step < most_pseudo_steps && largest(g_) > solved_to; ++step, ++steps) {
      if (runs_away(z_) || !take()) return false;
    }
    return largest(g_) <= solved_to && !runs_away(z_);
  }

  const Vector& found() const { return z_; }

 private:
  /// One step, smaller where f has no values or rates rise steeply.
  bool take() try {
    constexpr double smallest = 1e-14;
    const Eigen::MatrixXd jacobian = system_.jacobian(z_);
    for (; delta_ > smallest; delta_ *= 0.25) {
      Eigen::MatrixXd matrix = -jacobian;
      matrix.diagonal() += system_.mass() / delta_;
      const Vector way = DenseFactors(matrix).solve(g_);
      if (way.allFinite() && accept(way)) return true;
      system_.settle(z_, waiting_);
    }
    return false;
  } catch (const RecoverableFailure&) {
    return false;
  }

  /// Of a step that found other rates than expected, beside unknowns or their sizes.
  double local_error(const Vector& there, const Vector& unexpected) const {
    const Vector by_time = system_.mass().cwiseProduct(unexpected) * delta_;
    return largest(by_time.cwiseQuotient(there.cwiseAbs().cwiseMax(1.0)));
  }

  /// Where relations change, rates may jump. Where all is linear, g becomes M dz / delta.
  bool accept(const Vector& way) {
    constexpr double rise = 10.0, good = 0.1;
    try {
      const Vector there = z_ + way, expected = system_.mass().cwiseProduct(way) / delta_;
      const bool changed = system_.settle(there, waiting_);
      const Vector g = system_.residual(there);
      if (!changed && g.norm() > rise * g_.norm()) return false;
      const double by_rates = std::clamp(g_.norm() / std::max(g.norm(), 1e-300), 0.5, 10.0);
      const double off = local_error(there, g - expected);
      if (way_ == Way::follows && !changed && off > 1.0) return false;
      const double by_error = std::clamp(std::sqrt(good / std::max(off, 1e-300)), 0.5, 2.0);
      delta_ *= way_ == Way::leaps ? std::max(by_rates, by_error) : by_error;
      z_ = there;
      g_ = g;
      return true;
    } catch (const RecoverableFailure&) {
      return false;
    }
  }

  PointSystem& system_;
  Vector z_, g_;
  std::vector<Happening> waiting_;
  Way way_;
  double delta_;  ///< of the experiment's duration
};

/// How far `reach` comes, from part 0 towards 1, by steps that grow where it reaches the next part
/// and shrink where it does not (Allgower and Georg 1990, 1.4).
template <class Reach>
double continued(Reach&& reach) {
  constexpr double first = 0.1, smallest = 1e-4;
  double part = 0.0;
  for (double step = first; part < 1.0 && step > smallest;) {
    const double next = std::min(1.0, part + step);
    const bool good = reach(next);
    part = good ? next : part;
    step *= good ? 2.0 : 0.25;
  }
  return part;
}

/// g(z) = (1 - part) g(start): what is missed at the start is taken away little by little (Newton
/// homotopy).
bool without_what_is_missed(PointSystem& system, Vector& z, int& steps) {
  const Vector missed = system.residual(z);
  return continued([&](double part) {
           return Newton(system, (1.0 - part) * missed).solve(z, steps);
         }) == 1.0;
}

/// Whether z becomes `there` by about one step of Newton's. Who wanders further may have come to
/// another solution than the one that z leads to.
bool leads_to(PointSystem& system, const Vector& z, const Vector& there) try {
  constexpr double off = 0.5, rounding = 1e-6;
  const Vector way = -DenseFactors(system.jacobian(z)).solve(system.residual(z));
  return way.allFinite() && largest(there - z - way) <= off * largest(way) + rounding;
} catch (const RecoverableFailure&) {
  return false;
}

/// The unknown by which Newton's steps from z go on and on, though what is missed falls: where
/// there is a solution they end there. -1 where none does, or where the matrix is singular.
Eigen::Index unknown_that_recedes(PointSystem& system, Vector z) try {
  constexpr double far = 1e-2, falls = 0.9;
  constexpr int on_and_on = 6;
  Vector left = system.residual(z);
  Eigen::Index furthest = -1;
  for (int step = 0; step < on_and_on; ++step) {
    Eigen::MatrixXd matrix = system.jacobian(z);
    if (matrix.size() == 0) return -1;
    const Vector rows = matrix.cwiseAbs().rowwise().maxCoeff();
    if (!(rows.minCoeff() > 0.0)) return -1;
    matrix.array().colwise() /= rows.array();
    const DenseFactors factors(matrix);
    const Vector way = factors.solve(Vector(left.cwiseQuotient(rows)));
    if (factors.rcond() <= singular || !way.allFinite()) return -1;
    if (way.cwiseQuotient(z.cwiseAbs().cwiseMax(1.0)).cwiseAbs().maxCoeff(&furthest) <= far)
      return -1;
    z -= way;
    const Vector there = system.residual(z);
    if (!(there.cwiseQuotient(rows).norm() <= falls * left.cwiseQuotient(rows).norm())) return -1;
    left = there;
  }
  return furthest;
} catch (const RecoverableFailure&) {
  return -1;
}

}  // namespace

std::string homotopy_ends(double part) {
  return "homotopy(actual, simplified) could be followed from simplified up to " +
         short_number(part) +
         " of actual, where it turns back or ends; let simplified be closer to actual, or give "
         "other "
         "start values";
}

double largest(const Vector& g) { return g.size() == 0 ? 0.0 : g.cwiseAbs().maxCoeff(); }

std::vector<Eigen::Index> by_size(const Vector& g) {
  std::vector<Eigen::Index> order(static_cast<std::size_t>(g.size()));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::sort(order.begin(), order.end(),
            [&](Eigen::Index i, Eigen::Index j) { return std::abs(g[i]) > std::abs(g[j]); });
  return order;
}

Vector where_held(PointSystem& system) {
  constexpr int most = 20;
  Vector z = system.start();
  const Eigen::Index held = (system.mass().array() == 0.0).count();
  for (int i = 0; i < most && held > 0; ++i) {
    const Vector missed = system.residual(z).tail(held);
    if (largest(missed) <= solved_to) break;
    const Eigen::MatrixXd rows = system.jacobian(z).bottomRows(held);
    z -= least_squares_solution(rows, missed);
  }
  return z;
}

/// What an attempt has come to: z, where it is a solution.
bool PointSearch::take(PointSystem& system, const Vector& there, bool found) {
  const Eigen::Index goes_on = found ? unknown_that_recedes(system, there) : -1;
  if (found && goes_on < 0) {
    z = there;
    return true;
  }
  receding = std::max(receding, goes_on);
  if (there.allFinite() && system.residual(there).norm() < system.residual(closest_).norm())
    closest_ = there;
  return false;
}

/// With relations as they are.
bool PointSearch::attempt(PointSystem& system) {
  closest_ = z;
  receding = -1;
  Vector there = z;
  bool found = Newton(system, Vector::Zero(system.size())).solve(there, steps);
  if (take(system, there, found)) return true;
  for (const auto way : {PseudoTime::Way::leaps, PseudoTime::Way::follows}) {
    if (!system.mass().any()) break;
    PseudoTime pseudo(system, z, way);
    found = pseudo.solve(steps);
    if (take(system, pseudo.found(), found)) return by_pseudo_time = true;
  }
  there = z;
  found = without_what_is_missed(system, there, steps);
  if (take(system, there, found)) return true;
  z = closest_;
  return false;
}

/// From the point of the part before; relations follow.
bool PointSearch::reach(PointSystem& system, double next) {
  system.go_along_homotopy(next);
  system.settle(z, waiting);
  Vector there = z;
  for (int round = 0; round <= most_rounds; ++round) {
    const Vector before = there;
    if (!Newton(system, Vector::Zero(system.size())).solve(there, steps) ||
        !leads_to(system, before, there))
      return false;
    if (system.settle(there, waiting)) continue;
    z = there;
    return true;
  }
  return false;
}

PointOutcome PointSearch::search(PointSystem& system) {
  from_simplified = system.go_along_homotopy(0.0);
  if (!from_simplified) return search_there(system);
  const PointOutcome begun = search_there(system);
  if (begun == PointOutcome::found)
    part = continued([&](double next) { return reach(system, next); });
  system.go_along_homotopy(1.0);
  if (begun != PointOutcome::found) return begun;
  return part == 1.0 ? search_there(system) : PointOutcome::homotopy_ends;
}

/// As far along homotopy(...) as the system is.
PointOutcome PointSearch::search_there(PointSystem& system) {
  system.settle(z, waiting);
  for (int round = 0; round <= most_rounds; ++round) {
    const bool found = attempt(system);
    const bool changed = system.settle(z, waiting);
    if (!found) return receding < 0 ? PointOutcome::nothing_found : PointOutcome::recedes;
    if (!changed) return PointOutcome::found;
  }
  return PointOutcome::relations_chatter;
}

}  // namespace concord
