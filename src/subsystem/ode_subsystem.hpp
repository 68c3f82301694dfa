#pragma once

#include <memory>
#include <string>

#include "concord/ode_model.hpp"
#include "subsystem/integrator_settings.hpp"
#include "subsystem/subsystem.hpp"

namespace concord {

/// The description of a subsystem made from an OdeModel: all capabilities, y'' where the interface
/// gives it; the feedthrough is all pairs where the interface doesn't give it.
SubsystemDescription describe_ode(std::string name, std::string kind,
                                  const OdeInterface& interface);

/// Without the capabilities that the settings withhold.
SubsystemDescription apart_from_withheld(SubsystemDescription description,
                                         const SubsystemSettings& settings);

/// A subsystem that integrates x' = f(t,x,u), y = g(t,x,u) itself, with SUNDIALS.
///
/// `description` must have the model's variables in the model's order. Capabilities that the
/// settings withhold are removed from it. Throws InputError for tolerances that aren't positive
/// numbers.
std::unique_ptr<Subsystem> make_ode_subsystem(SubsystemDescription description,
                                              std::unique_ptr<OdeModel> model,
                                              const SubsystemSettings& settings);

}  // namespace concord
