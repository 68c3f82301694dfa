#pragma once

#include "subsystem/fmu/binary/fmi3.hpp"
#include "subsystem/fmu/binary/instance.hpp"

namespace concord {

/// The functions that the FMU's variables and capabilities call for; throws InputError where the
/// binary lacks one.
fmi3::Functions load_fmi3_functions(const FmuSource& source);

}  // namespace concord
