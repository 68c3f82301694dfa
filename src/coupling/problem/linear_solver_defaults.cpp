#include "coupling/problem/linear_solver_defaults.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "coupling/problem/elimination.hpp"
#include "support/agreement.hpp"
#include "support/options.hpp"
#include "support/ranks.hpp"

namespace concord {

Diagonal diagonal_of(const RankNetwork& subsystems) {
  return subsystems.network().has_constraints() ? Diagonal::with_zeros : Diagonal::full;
}

namespace {

template <class T>
int ranks_that_share(T object) {
  MPI_Comm comm = MPI_COMM_NULL;
  petsc(PetscObjectGetComm(reinterpret_cast<PetscObject>(object), &comm));
  return ranks_of(comm);
}

PC preconditioner_of(KSP ksp) {
  PC pc = nullptr;
  petsc(KSPGetPC(ksp, &pc));
  return pc;
}

/// Where the order of elimination does not matter yet.
constexpr PetscInt small = 500;

/// PETSc's.
constexpr double usual_fill = 5.0;

#if defined(PETSC_HAVE_SUITESPARSE)
constexpr auto* little_fill = MATORDERINGAMD;
#else
constexpr auto* little_fill = MATORDERINGRCM;
#endif

void factorise(PC pc, MatSolverType with) {
  petsc(PCSetType(pc, PCLU));
  petsc(PCFactorSetMatSolverType(pc, with));
}

/// On one rank. Networks that are no chains fill up under PETSc's own choice of order (nested
/// dissection): a grid of 40 x 40 cells takes 15 times the operations of minimum degree (Amestoy,
/// Davis, Duff 1996). `fill`: what was counted; PETSc would set aside five times the matrix.
void factorise_with_little_fill(PC pc, Mat matrix, double fill) {
  constexpr double a_little = 0.05;
  PetscInt rows = 0;
  petsc(MatGetSize(matrix, &rows, nullptr));
  factorise(pc, MATSOLVERPETSC);
  if (rows > small) {
    petsc(PCFactorSetMatOrderingType(pc, little_fill));
    petsc(PCFactorSetFill(pc, fill + a_little));
  }
}

void factorise_alone(KSP ksp, Mat matrix, double fill) {
  petsc(KSPSetType(ksp, KSPPREONLY));
  factorise_with_little_fill(preconditioner_of(ksp), matrix, fill);
}

void factorise_across_ranks(KSP ksp) {
  petsc(KSPSetType(ksp, KSPPREONLY));
  factorise(preconditioner_of(ksp), MATSOLVERMUMPS);
}

void factorise_on_each_rank(KSP ksp, MatSolverType with) {
  KSP inner = nullptr;
  petsc(KSPSetType(ksp, KSPPREONLY));
  petsc(PCSetType(preconditioner_of(ksp), PCREDUNDANT));
  petsc(PCRedundantGetKSP(preconditioner_of(ksp), &inner));
  petsc(KSPSetType(inner, KSPPREONLY));
  factorise(preconditioner_of(inner), with);
}

/// With a choice of pivots.
void factorise_in_one_piece(KSP ksp, bool alone, PetscInt rows) {
  if (alone) {
    petsc(KSPSetType(ksp, KSPPREONLY));
    factorise(preconditioner_of(ksp), MATSOLVERKLU);
  } else if (rows <= small) {
    factorise_on_each_rank(ksp, MATSOLVERKLU);
  } else {
    factorise_across_ranks(ksp);
  }
}

void iterate(KSP ksp, PCType preconditioner, double rtol) {
  constexpr PetscInt few = 50;
  petsc(KSPSetType(ksp, KSPGMRES));
  petsc(KSPSetTolerances(ksp, rtol, PETSC_DEFAULT, PETSC_DEFAULT, few));
  petsc(PCSetType(preconditioner_of(ksp), preconditioner));
}

/// Of factors in proportion to the matrix's entries, where they take little enough.
std::optional<double> fill_of_cheap_factors(Mat matrix) {
  PetscInt rows = 0;
  petsc(MatGetSize(matrix, &rows, nullptr));
  if (rows <= small) return usual_fill;
  const Elimination elimination = elimination_of(matrix);
  return elimination.is_cheap() ? std::optional(elimination.fill) : std::nullopt;
}

template <class T>
bool is_of_type(T object, const char* type) {
  PetscBool is = PETSC_FALSE;
  petsc(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(object), type, &is));
  return is == PETSC_TRUE;
}

/// What factorises by KLU, on this rank; null: nothing does.
PC klu_of(KSP ksp) {
  PC pc = preconditioner_of(ksp);
  if (is_of_type(pc, PCREDUNDANT)) {
    petsc(PCRedundantGetKSP(pc, &ksp));
    pc = preconditioner_of(ksp);
  }
  MatSolverType with = nullptr;
  if (is_of_type(pc, PCLU)) {
    petsc(PCFactorGetMatSolverType(pc, &with));
  }
  return with != nullptr && std::string(with) == MATSOLVERKLU ? pc : nullptr;
}

/// Monitors, viewers and reasons that are printed choose nothing.
bool only_shows(const std::string& option) {
  const auto has = [&](const char* word) { return option.find(word) != option.npos; };
  return has("_monitor") || has("_view") || has("_converged_reason");
}

/// Nobody else's choice.
bool iterates_by_default(KSP ksp, const std::optional<SolverOptions>& options) {
  for (const char* chosen : {"ksp_", "pc_", "sub_"}) {
    const auto given = options ? options::given(options->prefix + std::string(chosen))
                               : std::vector<std::string>();
    if (!std::all_of(given.begin(), given.end(), only_shows)) {
      return false;
    }
  }
  PC pc = preconditioner_of(ksp);
  return is_of_type(ksp, KSPGMRES) && (is_of_type(pc, PCBJACOBI) || is_of_type(pc, PCILU));
}

bool has_converged(KSP ksp) {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  petsc(KSPGetConvergedReason(ksp, &reason));
  return reason > 0;
}

}  // namespace

void choose_solver(KSP ksp, Mat matrix, Diagonal diagonal,
                   const std::optional<SolverOptions>& options) {
  constexpr double nearly_exact = 1e-12;
  PetscInt rows = 0;
  petsc(MatGetSize(matrix, &rows, nullptr));
  const bool full = diagonal == Diagonal::full;
  const bool alone = ranks_that_share(matrix) == 1;
  const double rtol = options ? options->rtol : nearly_exact;
  if (!full) {
    factorise_in_one_piece(ksp, alone, rows);
  } else if (const auto fill = alone ? fill_of_cheap_factors(matrix) : std::nullopt) {
    factorise_alone(ksp, matrix, *fill);
  } else if (!alone && rows <= small) {
    factorise_on_each_rank(ksp, MATSOLVERPETSC);
  } else {
    iterate(ksp, alone ? PCILU : PCBJACOBI, rtol);
  }
}

void factorise_blocks(KSP ksp, const std::optional<SolverOptions>& options) {
  if (!iterates_by_default(ksp, options) || !is_of_type(preconditioner_of(ksp), PCBJACOBI)) {
    return;
  }
  petsc(KSPSetUp(ksp));
  KSP* blocks = nullptr;
  PetscInt count = 0;
  petsc(PCBJacobiGetSubKSP(preconditioner_of(ksp), &count, nullptr, &blocks));
  for (PetscInt b = 0; b < count; ++b) {
    Mat block = nullptr;
    petsc(KSPGetOperators(blocks[b], &block, nullptr));
    if (const auto fill = fill_of_cheap_factors(block)) {
      factorise_with_little_fill(preconditioner_of(blocks[b]), block, *fill);
    }
  }
}

bool set_up(KSP ksp, Mat matrix, Mat near) {
  if (klu_of(ksp) == nullptr) {
    return true;
  }
  petsc(KSPSetOperators(ksp, matrix, near));
  const PetscErrorCode code = KSPSetUp(ksp);
  const bool singular = code == PETSC_ERR_LIB;
  petsc(singular ? PetscErrorCode(0) : code);
  MPI_Comm comm = MPI_COMM_NULL;
  petsc(PetscObjectGetComm(reinterpret_cast<PetscObject>(ksp), &comm));
  if (agree_on_largest(comm, singular ? 1 : 0) == 0) {
    return true;
  }
  forget_factors(ksp, matrix, near);
  return false;
}

void forget_factors(KSP ksp, Mat matrix, Mat near) {
  petsc(KSPReset(ksp));
  petsc(KSPSetOperators(ksp, matrix, near));
}

bool goes_over_to_direct(KSP ksp, Mat matrix, const std::optional<SolverOptions>& options) {
  if (!iterates_by_default(ksp, options)) {
    return false;
  }
  forget_factors(ksp, matrix, matrix);
  if (ranks_that_share(matrix) == 1) {
    factorise_alone(ksp, matrix, usual_fill);
  } else {
    factorise_across_ranks(ksp);
  }
  return true;
}

bool is_plainly_direct(KSP ksp, const std::optional<SolverOptions>& options) {
  const std::string prefix = options ? options->prefix + std::string("ksp_") : std::string();
  const auto given = options ? options::given(prefix) : std::vector<std::string>();
  return ranks_that_share(ksp) == 1 && is_of_type(ksp, KSPPREONLY) &&
         std::all_of(given.begin(), given.end(),
                     [&](const std::string& name) { return name == prefix + "type"; });
}

KspHandle linear_solver(Mat matrix, Diagonal diagonal,
                        const std::optional<SolverOptions>& options) {
  MPI_Comm comm = MPI_COMM_NULL;
  petsc(PetscObjectGetComm(reinterpret_cast<PetscObject>(matrix), &comm));
  KspHandle ksp;
  petsc(KSPCreate(comm, ksp.out()));
  if (options) {
    petsc(KSPSetOptionsPrefix(ksp, options->prefix));
    petsc(KSPSetTolerances(ksp, options->rtol, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  }
  petsc(KSPSetOperators(ksp, matrix, matrix));
  choose_solver(ksp, matrix, diagonal, options);
  if (options) {
    petsc(KSPSetFromOptions(ksp));
  }
  factorise_blocks(ksp, options);
  return ksp;
}

namespace {

void view_elimination(Mat matrix) {
  const Elimination elimination = elimination_of(matrix);
  petsc(PetscPrintf(PETSC_COMM_SELF,
                    "interface: factors would take %s%.2g operations, as %.0f products with its "
                    "matrix; from %g on it is solved by iteration\n",
                    elimination.is_cheap() ? "" : "at least ", elimination.operations,
                    elimination.operations / elimination.product, Elimination::as_many_products));
}

void make_viewable(KSP ksp) {
  if (PC pc = klu_of(ksp)) {
    Mat matrix = nullptr, near = nullptr;
    petsc(PCGetOperators(pc, &matrix, &near));
    petsc(PetscObjectReference(reinterpret_cast<PetscObject>(matrix)));
    petsc(PetscObjectReference(reinterpret_cast<PetscObject>(near)));
    petsc(PCReset(pc));
    petsc(PCSetOperators(pc, matrix, near));
    petsc(MatDestroy(&matrix));
    petsc(MatDestroy(&near));
  }
}

}  // namespace

void begin_view(KSP ksp, Mat matrix) {
  PetscInt rows = 0;
  petsc(MatGetSize(matrix, &rows, nullptr));
  if (ranks_that_share(matrix) == 1 && rows > small) {
    view_elimination(matrix);
  }
  make_viewable(ksp);
}

bool solve(KSP ksp, Mat matrix, Vec right_side, Vec unknown,
           const std::optional<SolverOptions>& options) {
  if (!set_up(ksp, matrix, matrix)) {
    return false;
  }
  petsc(KSPSolve(ksp, right_side, unknown));
  if (has_converged(ksp)) {
    return true;
  }
  if (goes_over_to_direct(ksp, matrix, options)) {
    petsc(KSPSolve(ksp, right_side, unknown));
    if (has_converged(ksp)) {
      return true;
    }
  }
  forget_factors(ksp, matrix, matrix);
  return false;
}

}  // namespace concord
