#pragma once

#include <filesystem>
#include <optional>

#include "modelfile/changes/model_changes.hpp"
#include "modelfile/yaml/model_text.hpp"
#include "network/model.hpp"

namespace concord {

/// A model file, YAML or an SSP by its name, of which YAML is parsed once.
class ModelFileText {
 public:
  /// Throws InputError.
  explicit ModelFileText(const std::filesystem::path& path);

  /// The whole model, with other values of parameters and starts than it says. Throws InputError.
  Model model(const ModelChanges& changes) const;

 private:
  std::filesystem::path path_;
  std::optional<ModelText> yaml_;
};

/// The same, once.
Model read_model_file(const std::filesystem::path& path, const ModelChanges& changes = {});

/// What follows from what was described, whoever has: constraints become subsystems with their
/// connections, aliases names, whole arrays elements, events ascend; units that mean nothing are
/// noted. Throws InputError.
void complete(Model& model);

}  // namespace concord
