#pragma once

#include <string>
#include <utility>
#include <vector>

#include "export/exported_model.hpp"
#include "subsystem/fmu/description/model_description.hpp"

namespace concord {

/// A file of the FMU: its path in the archive and its content.
using FmuFile = std::pair<std::string, std::string>;

/// The default experiment that an exported FMU recommends. Times in s.
struct ExportedExperiment {
  double start = 0.0, stop = 1.0;
  double tolerance = 1e-8;  ///< relative; that of Concord's own integrators
};

/// The FMU's C sources, below sources/; the first is the one to compile, and includes the others.
/// Plain C99 that needs nothing but the standard library.
std::vector<FmuFile> model_sources(const ExportedModel& model, FmiVersion version,
                                   const ExportedExperiment& experiment, const std::string& token);

/// How the first source begins: `what` it is, and the headers of the standard library.
std::string sources_begin(const std::string& what, const std::string& name, FmiVersion version);

/// A text that no FMU with another content has, in the form of a GUID.
std::string instantiation_token(const ExportedModel& model, FmiVersion version,
                                const ExportedExperiment& experiment);

/// What follows from a text, in the form of a GUID.
std::string guid_of(const std::string& text);

}  // namespace concord
