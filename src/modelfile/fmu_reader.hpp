#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "modelfile/node_reader.hpp"
#include "network/model.hpp"
#include "subsystem/fmu/fmu.hpp"

namespace concord {

/// A subsystem `fmu: file.fmu` with `parameters:` and `start:`. Throws InputError.
SubsystemEntry fmu_entry(const std::string& name, const NodeReader& node,
                         const std::vector<Field>& fields, const std::filesystem::path& folder);

/// A unit as udunits reads it, from its name and its definition in base units ("" if none): the
/// name where udunits reads it in the same sense, else the definition; "" where neither is known.
std::string unit_text(const std::string& name, const std::string& base);

/// The entry of an FMU, whoever asks for it. `request.options` is read here.
SubsystemEntry fmu_entry(FmuRequest request);

/// FMI 3: where connections and feeds name an FMU's variable by an alias, its own name.
void resolve_aliases(Model& model);

}  // namespace concord
