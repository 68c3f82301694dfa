#pragma once

#include "coupling/constraint_rows.hpp"
#include "coupling/coupling.hpp"

namespace concord {

/// Refuses start values that violate an indirect constraint, or, where its derivative d gamma/dt
/// doesn't answer to the unknown either (index 3), that violate the derivative: no unknown could
/// meet them but an impulse. The derivative is looked at where every subsystem gives y'.
///
/// Violated is what exceeds rtol |y| + atol, of the derivative rtol |y'| + atol, y being the
/// outputs in the equation. Throws InputError on every rank. Collective.
void refuse_inconsistent_start(RankNetwork& subsystems, const ConstraintRows& constraints,
                               double rtol, double atol, const CommunicationPoint& start);

}  // namespace concord
