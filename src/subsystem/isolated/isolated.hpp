#pragma once

#include <memory>

#include "subsystem/isolated/kept_process.hpp"
#include "subsystem/isolated/recipe.hpp"
#include "subsystem/isolation_options.hpp"

namespace concord {

/// What is known without its process of a subsystem that is to be isolated: many of them may be in
/// one process of ours.
SubsystemDescription isolated_description(SubsystemDescription description, const Recipe& recipe,
                                          const IsolationOptions& options);

/// What a recipe of code in C++ or Python makes, or a process outside serves, from a process of its
/// own, or that which is kept, and is so again. Throws InputError.
SubsystemInterface described_in_isolation(const Recipe& recipe, const IsolationOptions& options,
                                          KeptProcess& kept);

/// A subsystem in a process of its own, which lives and dies there: where its code crashes, exits
/// or hangs, and its memory can be passed on, it goes on in a new process from the last
/// communication point. `kept`: what subsystems made from the same recipe leave to each other.
/// Throws InputError, SimulationError.
std::unique_ptr<Subsystem> make_isolated_subsystem(Recipe recipe,
                                                   const SubsystemDescription& description,
                                                   const IsolationOptions& options,
                                                   std::shared_ptr<KeptProcess> kept);

}  // namespace concord
