#include "support/log_events.hpp"

namespace concord {
namespace {

LogEvents registered() {
  PetscClassId id = 0;
  petsc(PetscClassIdRegister("Concord", &id));
  LogEvents events;
  petsc(PetscLogEventRegister("CosimAdvance", id, &events.advance));
  petsc(PetscLogEventRegister("CosimExchange", id, &events.exchange));
  petsc(PetscLogEventRegister("CosimSolve", id, &events.solve));
  petsc(PetscLogEventRegister("CosimRecord", id, &events.record));
  petsc(PetscLogStageRegister("Error estimate", &events.estimate));
  return events;
}

}  // namespace

const LogEvents& log_events() {
  static const LogEvents events = registered();
  return events;
}

}  // namespace concord
