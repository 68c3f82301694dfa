#include "modelfile/yaml/shipped_files.hpp"

#include <dlfcn.h>

namespace concord {

namespace fs = std::filesystem;

/// Beside this library, as it was built or installed.
fs::path shipped_file(const std::string& name) {
  Dl_info own = {};
  std::error_code error;
  if (dladdr(reinterpret_cast<const void*>(&shipped_file), &own) == 0) return {};
  const fs::path folder = fs::canonical(own.dli_fname, error).parent_path();
  for (const char* way : {"../..", "../share/concord", "../../share/concord"}) {
    const fs::path path = (folder / way / name).lexically_normal();
    if (fs::is_regular_file(path, error)) return path;
  }
  return {};
}

}  // namespace concord
