#pragma once

#include "modelfile/changes/model_changes.hpp"
#include "modelfile/yaml/model_text.hpp"
#include "network/model.hpp"

namespace concord {

/// Reads a model of its text. Every subsystem is read and its expressions are checked; whether the
/// names in connections and constraints exist is left to the network. Throws InputError, whose text
/// begins with "file:line: ". `changes` are values of parameters and starts.
Model read_yaml_model(const ModelText& text, const ModelChanges& changes);

}  // namespace concord
