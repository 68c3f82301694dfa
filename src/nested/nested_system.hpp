#pragma once

#include <memory>
#include <string>

#include "network/model.hpp"

namespace concord {

/// Of a variable whose owner is within the system: "motor.w" of "drive.motor" behind "drive.".
std::string name_within(const SubsystemDescription& owner, const std::string& variable,
                        const std::string& prefix);

/// A network as one subsystem of a kind: what its subsystems, whose names begin with `prefix`, are
/// to the rest. Inputs are those that nothing within feeds; states, outputs and tunable parameters
/// are all of theirs. Throws InputError for connections within that are wrong.
SubsystemDescription describe_nested(const std::string& name, const std::string& kind,
                                     const std::string& prefix, const Model& model);

/// Integrated as one ODE with steps of its own, connections within being solved at every
/// evaluation, as `monolithic` does. All of its subsystems must offer equations. `description`: as
/// describe_nested gives it, perhaps with other start values.
std::unique_ptr<Subsystem> make_nested(const SubsystemDescription& description,
                                       std::shared_ptr<const Model> model,
                                       const SubsystemSettings& settings);

}  // namespace concord
