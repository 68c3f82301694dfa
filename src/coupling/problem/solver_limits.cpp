#include "coupling/problem/solver_limits.hpp"

#include "concord/errors.hpp"

namespace concord {
namespace {

template <class Object>
bool is_type(Object object, const char* type) {
  PetscBool same = PETSC_FALSE;
  petsc(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(object), type, &same));
  return same == PETSC_TRUE;
}

}  // namespace

void refuse_defective_solvers(SNES snes) {
  KSP ksp = nullptr;
  PC pc = nullptr;
  int ranks = 1;
  petsc(SNESGetKSP(snes, &ksp));
  petsc(KSPGetPC(ksp, &pc));
  MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(snes)), &ranks);
  if (is_type(ksp, KSPPIPELCG)) {
    throw InputError("-ksp_type pipelcg: PETSc 3.18 may never return from it; use gmres or bcgs");
  }
  if (ranks > 1 && is_type(snes, SNESNGS)) {
    throw InputError(
        "-snes_type ngs: PETSc 3.18 has it on one rank only; use newtonls, anderson or "
        "ngmres");
  }
  if (ranks > 1 && is_type(pc, PCEISENSTAT)) {
    throw InputError(
        "-pc_type eisenstat: PETSc 3.18 has it on one rank only; use redundant, lu or "
        "none");
  }
}

void refuse_solvers_of_other_problems(const std::string& snes_type) {
  for (const char* type :
       {SNESFAS, SNESCOMPOSITE, SNESASPIN, SNESMS, SNESPATCH, SNESVINEWTONRSLS, SNESVINEWTONSSLS}) {
    if (snes_type == type) {
      throw InputError("-snes_type " + snes_type +
                       " needs grids, parts, bounds or further solvers, which a coupling has not; "
                       "use newtonls, newtontr, anderson, ngmres, qn or nrichardson");
    }
  }
}

}  // namespace concord
