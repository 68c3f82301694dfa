#include "support/hdf5_error.hpp"

#include <algorithm>
#include <string_view>

#include "support/callback_guard.hpp"

namespace concord {
namespace {

struct Cause {
  std::string text{};
  bool of_system = true;
};

/// "file write failed: time = ..., error message = 'No space left on device', ..."
constexpr std::string_view before_reason = "error message = '";

herr_t keep_first(unsigned index, const H5E_error2_t* error, void* data) {
  return CallbackGuard().run(herr_t(-1), [&] {
    if (index > 0 || error->desc == nullptr) return herr_t(0);
    auto& cause = *static_cast<Cause*>(data);
    cause.text = error->desc;
    const auto start = cause.text.find(before_reason);
    cause.of_system = start != std::string::npos || error->maj_num == H5E_RESOURCE;
    if (start == std::string::npos) return herr_t(0);
    cause.text.erase(0, start + before_reason.size());
    cause.text.erase(std::min(cause.text.find('\''), cause.text.size()));
    return herr_t(0);
  });
}

Cause bottom_of_stack() {
  Cause cause;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &cause);
  if (cause.text.empty()) cause.text = "unknown HDF5 error";
  return cause;
}

}  // namespace

std::string hdf5_error_reason() { return bottom_of_stack().text; }

void throw_hdf5_error() {
  const Cause cause = bottom_of_stack();
  if (cause.of_system) throw Hdf5SystemError(cause.text);
  throw Hdf5Error(cause.text);
}

}  // namespace concord
