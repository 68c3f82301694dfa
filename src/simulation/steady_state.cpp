#include "simulation/steady_state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "concord/errors.hpp"
#include "support/callback_guard.hpp"
#include "support/petsc.hpp"
#include "support/vec_entries.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Vector = Eigen::VectorXd;

/// Rates beside sizes over the experiment's duration, and held values beside their sizes.
constexpr double at_rest = 1e-9;
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

double largest(const Vector& g) { return g.size() == 0 ? 0.0 : g.cwiseAbs().maxCoeff(); }

/// 0 = g(z) by PETSc's SNES on this rank alone, with Eigen's factors, which tell whether the matrix
/// is singular, where PETSc's dense ones end in an error.
class Newton {
 public:
  explicit Newton(SteadySystem& system) : system_(system) {
    const auto n = static_cast<PetscInt>(system.size());
    petsc(SNESCreate(PETSC_COMM_SELF, snes_.out()));
    petsc(VecCreateSeq(PETSC_COMM_SELF, n, unknown_.out()));
    petsc(VecDuplicate(unknown_, residual_.out()));
    petsc(MatCreateSeqDense(PETSC_COMM_SELF, n, n, nullptr, matrix_.out()));
    petsc(SNESSetOptionsPrefix(snes_, "steady_"));
    petsc(SNESSetFunction(snes_, residual_, form_function, this));
    petsc(SNESSetJacobian(snes_, matrix_, matrix_, form_jacobian, this));
    petsc(SNESSetCheckJacobianDomainError(snes_, PETSC_TRUE));
    petsc(SNESSetTolerances(snes_, 0.1 * at_rest, 0.0, 1e-14, most_newton_steps, 100000));
    KSP ksp = nullptr;
    PC pc = nullptr;
    petsc(SNESGetKSP(snes_, &ksp));
    petsc(KSPSetType(ksp, KSPPREONLY));
    petsc(KSPGetPC(ksp, &pc));
    petsc(PCSetType(pc, PCSHELL));
    petsc(PCShellSetContext(pc, this));
    petsc(PCShellSetApply(pc, apply_factors));
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
    if (runs_away(found) || !(residual_at(found) <= at_rest)) return false;
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
      return largest(system_.residual(z));
    } catch (const RecoverableFailure&) {
      return std::numeric_limits<double>::infinity();
    }
  }

  static PetscErrorCode form_function(SNES snes, Vec unknown, Vec residual, void* context) {
    auto& self = *static_cast<Newton*>(context);
    return self.guard_.run(PetscErrorCode{PETSC_ERR_LIB}, [&]() -> PetscErrorCode {
      try {
        put(self.system_.residual(entries_of(unknown)), residual);
        return 0;
      } catch (const RecoverableFailure&) {
        return SNESSetFunctionDomainError(snes);
      }
    });
  }

  static PetscErrorCode form_jacobian(SNES snes, Vec unknown, Mat matrix, Mat, void* context) {
    auto& self = *static_cast<Newton*>(context);
    return self.guard_.run(PetscErrorCode{PETSC_ERR_LIB}, [&]() -> PetscErrorCode {
      const Eigen::MatrixXd jacobian = self.system_.jacobian(entries_of(unknown));
      double* values = nullptr;
      petsc(MatDenseGetArrayWrite(matrix, &values));
      std::copy_n(jacobian.data(), jacobian.size(), values);
      petsc(MatDenseRestoreArrayWrite(matrix, &values));
      self.factors_.compute(jacobian);
      const bool good = self.factors_.rows() == 0 || self.factors_.rcond() > singular;
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

  SteadySystem& system_;
  CallbackGuard guard_;
  SnesHandle snes_;
  VecHandle unknown_, residual_;
  MatHandle matrix_;
  Eigen::PartialPivLU<Eigen::MatrixXd> factors_;
};

/// (M / delta - J) dz = g, delta growing as g falls.
class PseudoTime {
 public:
  PseudoTime(SteadySystem& system, Vector z)
      : system_(system), z_(std::move(z)), g_(system.residual(z_)) {}

  bool solve(int& steps) {
    for (int step = 0; step < most_pseudo_steps && largest(g_) > at_rest; ++step, ++steps) {
      if (!take()) return false;
    }
    return largest(g_) <= at_rest && !runs_away(z_);
  }

  const Vector& found() const { return z_; }
  const Vector& residual() const { return g_; }

 private:
  /// One step, smaller where f has no values or rates rise steeply.
  bool take() {
    constexpr double smallest = 1e-14, rise = 10.0;
    const Eigen::MatrixXd jacobian = system_.jacobian(z_);
    for (; delta_ > smallest; delta_ *= 0.25) {
      Eigen::MatrixXd matrix = -jacobian;
      matrix.diagonal() += system_.mass() / delta_;
      const Vector there = z_ + Eigen::PartialPivLU<Eigen::MatrixXd>(matrix).solve(g_);
      try {
        const Vector g = there.allFinite() ? system_.residual(there) : Vector(g_ * (2.0 * rise));
        if (g.norm() > rise * g_.norm()) continue;
        delta_ *= std::clamp(g_.norm() / std::max(g.norm(), 1e-300), 0.5, 10.0);
        z_ = there;
        g_ = g;
        return true;
      } catch (const RecoverableFailure&) {
      }
    }
    return false;
  }

  SteadySystem& system_;
  Vector z_, g_;
  double delta_ = 1e-3;  ///< of the experiment's duration
};

/// "der(tank.level) = 0 is left with 0.3, ...": the largest ones.
std::string left_over(SteadySystem& system, const Vector& g) {
  std::vector<Eigen::Index> order(static_cast<std::size_t>(g.size()));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::sort(order.begin(), order.end(),
            [&](Eigen::Index i, Eigen::Index j) { return std::abs(g[i]) > std::abs(g[j]); });
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, order.size()); ++i) {
    text += (i == 0 ? "" : ", ") + system.equation(order[i]) + " is missed by " +
            short_number(std::abs(g[order[i]]));
  }
  return text;
}

[[noreturn]] void not_found(SteadySystem& system, const PseudoTime& last) {
  throw SimulationError(
      "at t = " + short_number(system.time()) +
      " s no steady state was found from the start values, neither by Newton's method nor in "
      "pseudo-time: " +
      left_over(system, last.residual()) +
      " (beside sizes, over the experiment's duration); what flows in may never flow out, or the "
      "point is far: --hold or --free what decides it, or --set start values closer to it");
}

/// The point nearest to the start at which what is held has its values: from there what is free
/// acts as it will.
Vector where_held(SteadySystem& system) {
  constexpr int most = 20;
  Vector z = system.start();
  const Eigen::Index held = (system.mass().array() == 0.0).count();
  for (int i = 0; i < most && held > 0; ++i) {
    const Vector missed = system.residual(z).tail(held);
    if (largest(missed) <= at_rest) break;
    const Eigen::MatrixXd rows = system.jacobian(z).bottomRows(held);
    z -= Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd>(rows).solve(missed);
  }
  return z;
}

/// With relations as they are.
Vector solved(SteadySystem& system, const Vector& z, OperatingPoint& point) {
  Vector result = z;
  if (Newton(system).solve(result, point.steps)) return result;
  point.by_pseudo_time = true;
  PseudoTime pseudo(system, z);
  if (!pseudo.solve(point.steps)) not_found(system, pseudo);
  return pseudo.found();
}

}  // namespace

OperatingPoint steady_state(SimulationCore& simulation, const SteadyWishes& wishes,
                            double time) try {
  SteadySystem system(simulation, wishes, time);
  OperatingPoint point;
  Vector z = where_held(system);
  system.settle(z, point.waiting);
  for (int round = 0;; ++round) {
    z = solved(system, z, point);
    if (!system.settle(z, point.waiting)) break;
    if (round == most_rounds) {
      throw SimulationError(
          "at t = " + short_number(time) +
          " s no steady state was found: relations change their truth from one attempt to the "
          "next; the model may chatter where it should rest");
    }
  }
  point.time = time;
  point.states = system.states(z);
  point.rates = system.rates(z);
  point.freed = system.freed(z);
  point.a = system.state_matrix(z);
  for (std::size_t i = 0; i < point.states.size(); ++i) {
    if (system.moves(i)) point.moving.push_back(i);
  }
  return point;
} catch (const RecoverableFailure& failure) {
  throw SimulationError(
      "at t = " + short_number(time) +
      " s no steady state can be looked for, as derivatives have no values at the "
      "start: " +
      failure.what() + "; --set other start values");
}

}  // namespace concord
