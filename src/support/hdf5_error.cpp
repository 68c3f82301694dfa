#include "support/hdf5_error.hpp"

#include "support/callback_guard.hpp"

namespace concord {
namespace {

herr_t keep_first(unsigned index, const H5E_error2_t* error, void* reason) {
  return CallbackGuard().run(herr_t(-1), [&] {
    if (index == 0 && error->desc != nullptr) *static_cast<std::string*>(reason) = error->desc;
    return herr_t(0);
  });
}

/// "file write failed: time = ..., error message = 'No space left on device', ..." -> the quote.
std::string operating_system_part(const std::string& description) {
  const std::string key = "error message = '";
  const auto start = description.find(key);
  if (start == std::string::npos) return description;
  const auto from = start + key.size();
  return description.substr(from, description.find('\'', from) - from);
}

}  // namespace

std::string hdf5_error_reason() {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  return reason.empty() ? "unknown HDF5 error" : operating_system_part(reason);
}

}  // namespace concord
