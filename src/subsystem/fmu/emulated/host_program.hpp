#pragma once

#include <filesystem>

#include "subsystem/fmu/emulated/platforms.hpp"

namespace concord {

/// The source in C99 of the program that loads an FMU's binary on another platform.
extern const char* const fmu_host_source;

/// That program for the emulation's platform: given, or compiled once for all runs of this user.
/// Throws InputError, with the compiler's words where it fails.
std::filesystem::path fmu_host_program(const Emulation& emulation);

}  // namespace concord
