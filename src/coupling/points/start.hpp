#pragma once

#include "coupling/coupling.hpp"
#include "coupling/points/consistent_inputs.hpp"

namespace concord {

/// Whether a capability is that of all subsystems, the same on every rank. Collective.
bool everyone(const RankNetwork& subsystems, bool Capabilities::*capability);

/// Whether conditions at an instant are looked at with the slopes of their inputs, also where the
/// hold has none: somebody has conditions, and everyone has slopes at any point. The same on every
/// rank. Collective.
bool looks_ahead(const RankNetwork& subsystems);

/// What is asked of outputs at communication points: what the hold needs, and slopes for
/// conditions. The same on every rank. Collective.
Wanted wanted_at_points(const Hold& hold, const RankNetwork& subsystems);

/// Throws SimulationError on every rank where a subsystem fails. Collective.
void start_subsystems(RankNetwork& subsystems, const MacroStep& first, double stop);

/// Starts the subsystems and fills `point` with consistent inputs and outputs at t_0; slopes too
/// where every subsystem gives them. Throws SimulationError on every rank. Collective.
void start_consistently(RankNetwork& subsystems, ConsistentInputs& consistent, Wanted wanted,
                        const MacroStep& first, double stop, CommunicationPoint& point);

/// What happens within this share of a macro-step of its end happens there. Over less than that the
/// unknown of an indirect constraint would follow from what rounding leaves of its equation.
double share_of_instant(const RankNetwork& subsystems);

/// s: what happens within this time of the macro-step's end happens there.
double slack_of(const MacroStep& step, double share_of_instant);

/// After start_subsystems: where subsystems are still finding their start values, they get the
/// inputs that the network has for them, with what holds in the others, and end it. Throws
/// SimulationError. Collective.
void end_initialization(RankNetwork& subsystems, ConsistentInputs& consistent,
                        const MacroStep& first, CommunicationPoint& point);

/// The same as the first pass of all over what happens at the start (RankNetwork::first_pass): FMUs
/// let it happen when they end their initialisation (FMI 2.0.4, 3.2.2; FMI 3.0.2, 2.3.5), and what
/// happens in one subsystem at an instant is not seen by the others in the same pass.
void end_initialization_with_events(RankNetwork& subsystems, ConsistentInputs& consistent,
                                    const MacroStep& first, CommunicationPoint& point);

/// Consistent inputs and outputs where the subsystems stand, from those in `point`. Throws
/// SimulationError on every rank. Collective.
void make_consistent(RankNetwork& subsystems, ConsistentInputs& consistent, Wanted wanted,
                     CommunicationPoint& point);

/// The same where the outputs in `point` are what is wanted, but of those subsystems that something
/// has reached (RankNetwork::touched).
void make_touched_consistent(RankNetwork& subsystems, ConsistentInputs& consistent, Wanted wanted,
                             CommunicationPoint& point);

}  // namespace concord
