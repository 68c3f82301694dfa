#pragma once

#include "coupling/coupling.hpp"
#include "coupling/points/consistent_inputs.hpp"
#include "coupling/problem/constraint_rows.hpp"

namespace concord {

/// Refuses start values that violate an indirect constraint, or, where its derivative d gamma/dt
/// doesn't answer to the unknown either (index 3), that violate the derivative: no unknown could
/// meet them but an impulse. Then the unknowns' values follow from the hidden constraints. The
/// derivative is looked at where every subsystem gives y' of which it is made.
///
/// Violated is what exceeds the tolerance of the size of gamma, sum_i |d gamma/dy_i| |y_i|, of the
/// derivative that of the same with y_i'. Throws InputError on every rank. Collective.
void start_constraints(RankNetwork& subsystems, ConsistentInputs& consistent,
                       const ConstraintRows& constraints, const Tolerance& tolerance,
                       CommunicationPoint& start);

/// After an event the unknowns of indirect constraints follow from the hidden constraints.
/// Collective.
void restart_constraints(RankNetwork& subsystems, ConsistentInputs& consistent,
                         const ConstraintRows& constraints, CommunicationPoint& point);

}  // namespace concord
