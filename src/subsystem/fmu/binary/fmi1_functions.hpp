#pragma once

#include "subsystem/fmu/binary/common_functions.hpp"
#include "subsystem/fmu/binary/fmi1.hpp"
#include "subsystem/fmu/binary/instance.hpp"

namespace concord {

/// What of FMI 1.0 has the same C interface in later versions.
CommonFunctions load_fmi1_common_functions(const FmuSource& source);

/// What else the FMU's variables and capabilities call for. Both throw InputError where the binary
/// lacks a function, or has other types than FMI 1.0 has everywhere.
fmi1::Functions load_fmi1_functions(const FmuSource& source);

}  // namespace concord
