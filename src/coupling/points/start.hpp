#pragma once

#include "coupling/coupling.hpp"
#include "coupling/points/consistent_inputs.hpp"

namespace concord {

/// Throws SimulationError on every rank where a subsystem fails. Collective.
void start_subsystems(RankNetwork& subsystems, const MacroStep& first, double stop);

/// Starts the subsystems and fills `point` with consistent inputs and outputs at t_0; slopes too
/// where every subsystem gives them. Throws SimulationError on every rank. Collective.
void start_consistently(RankNetwork& subsystems, ConsistentInputs& consistent, Wanted wanted,
                        const MacroStep& first, double stop, CommunicationPoint& point);

/// After start_subsystems: where subsystems are still finding their start values, they get the
/// inputs that the network has for them, and end it. Throws SimulationError. Collective.
void end_initialization(RankNetwork& subsystems, ConsistentInputs& consistent,
                        CommunicationPoint& point);

/// Consistent inputs and outputs where the subsystems stand, from those in `point`. Throws
/// SimulationError on every rank. Collective.
void make_consistent(RankNetwork& subsystems, ConsistentInputs& consistent, Wanted wanted,
                     CommunicationPoint& point);

/// The same where the outputs in `point` are what is wanted, but of those subsystems that something
/// has reached (RankNetwork::touched).
void make_touched_consistent(RankNetwork& subsystems, ConsistentInputs& consistent, Wanted wanted,
                             CommunicationPoint& point);

}  // namespace concord
