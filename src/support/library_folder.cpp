#include "support/library_folder.hpp"

#include <dlfcn.h>

#include <system_error>

namespace concord {

std::filesystem::path library_folder() {
  Dl_info own = {};
  std::error_code error;
  if (dladdr(reinterpret_cast<const void*>(&library_folder), &own) == 0) return {};
  const auto folder = std::filesystem::canonical(own.dli_fname, error).parent_path() / "concord";
  return std::filesystem::is_directory(folder, error) ? folder : std::filesystem::path();
}

}  // namespace concord
