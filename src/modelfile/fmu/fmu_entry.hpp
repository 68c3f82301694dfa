#pragma once

#include "modelfile/changes/model_changes.hpp"
#include "network/model.hpp"
#include "subsystem/fmu/fmu.hpp"

namespace concord {

/// The entry of an FMU, whoever asks for it. `request.options` is read here; changes of the FMU
/// come in the place of values of the same names.
SubsystemEntry fmu_entry(FmuRequest request, ChangesByOwner* changes = nullptr);

/// The same FMU with a tunable parameter, or its element, as an input.
void drive_parameter(SubsystemEntry& entry, const std::string& parameter);

/// FMI 3: where connections and feeds name an FMU's variable by an alias, its own name.
void resolve_aliases(Model& model);

}  // namespace concord
