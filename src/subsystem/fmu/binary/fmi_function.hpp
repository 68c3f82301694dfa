#pragma once

#include <cstddef>
#include <string>

namespace concord {

/// A function of an FMU's binary with its name in the standard; null where nothing needs it.
template <class... Parameters>
struct FmiFunction {
  int (*call)(void* instance, Parameters...) = nullptr;
  std::string name;

  explicit operator bool() const { return call != nullptr; }
};

/// Of variables by their references, in FMI 1.0 and 2.0.
template <class Value>
using FmiGet = FmiFunction<const unsigned int*, std::size_t, Value*>;
template <class Value>
using FmiSet = FmiFunction<const unsigned int*, std::size_t, const Value*>;

}  // namespace concord
