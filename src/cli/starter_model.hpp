#pragma once

#include <string>

namespace concord {

/// A commented model file to begin with, which runs as it is; `file` and `results` are what its
/// comments call it and its results.
std::string starter_model(const std::string& file, const std::string& results);

}  // namespace concord
