#pragma once

#include <string>

namespace concord {

/// A function of an FMU's binary with its name in the standard; null where nothing needs it.
template <class... Parameters>
struct FmiFunction {
  int (*call)(void* instance, Parameters...) = nullptr;
  std::string name;

  explicit operator bool() const { return call != nullptr; }
};

}  // namespace concord
