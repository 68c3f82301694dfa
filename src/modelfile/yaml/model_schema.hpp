#pragma once

#include <string>

namespace concord {

/// The JSON Schema (draft 7) of model files, from the keys that readers take.
std::string model_schema();

}  // namespace concord
