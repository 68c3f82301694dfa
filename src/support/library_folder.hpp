#pragma once

#include <filesystem>

namespace concord {

/// The folder `concord` beside the library that this code is in: what belongs into FMUs of whole
/// models, or, in such an FMU, the libraries that it carries. Empty where there is none.
std::filesystem::path library_folder();

}  // namespace concord
