#pragma once

#include <memory>

#include "subsystem/fmu/binary/instance.hpp"

namespace concord {

std::unique_ptr<FmuInstance> make_fmi2_instance(const FmuSource& source);

}  // namespace concord
