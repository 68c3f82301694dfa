#pragma once

#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <string>

#include "subsystem/fmu/binary/instance.hpp"

namespace concord {

/// "file:///tmp/an%20FMU", of an absolute path: as FMI 1.0 and 2.0 name folders.
std::string file_uri(const std::filesystem::path& path);

/// The logger of FMI 1.0 and 2.0, which formats as printf does. `instance` may be anything.
template <class Status>
void log_formatted(void* instance, const char* /*name*/, Status status, const char* /*category*/,
                   const char* format, ...) {
  char text[1024] = "";
  std::va_list arguments;
  va_start(arguments, format);
  if (format != nullptr) std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (FmuInstance* found = LiveInstance::at(instance)) found->take_message(status, text);
}

}  // namespace concord
