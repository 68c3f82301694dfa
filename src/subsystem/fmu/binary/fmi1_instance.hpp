#pragma once

#include <memory>

#include "subsystem/fmu/binary/instance.hpp"

namespace concord {

std::unique_ptr<FmuInstance> make_fmi1_instance(const FmuSource& source);

}  // namespace concord
