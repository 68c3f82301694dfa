#pragma once

#include <memory>
#include <string>

#include "concord/ode_model.hpp"

namespace concord {

/// `model`, whose functions are called so that their ends, whatever they are, name `subsystem`, the
/// function and the time: exceptions but RecoverableFailure come out as SimulationError, crashes
/// and exits as ForeignEnd (support/foreign_call.hpp). `what`, a literal: "the C++ code";
/// `origin` is the library; may be empty.
std::unique_ptr<OdeModel> watched(std::unique_ptr<OdeModel> model, const char* what,
                                  const std::string& subsystem, const std::string& origin);

}  // namespace concord
