#pragma once

#include <mpi.h>
#include <petscsys.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "concord/errors.hpp"

namespace concord {

/// What readers need that ask for options, once per fuzzer.
inline void begin_fuzzing() {
  static const bool begun = [] {
    MPI_Init(nullptr, nullptr);
    PetscInitializeNoArguments();
    PetscPopSignalHandler();
    return true;
  }();
  static_cast<void>(begun);
}

/// A folder in memory that holds the input and nothing else.
inline const std::filesystem::path& fuzzing_folder() {
  static const std::filesystem::path folder = [] {
    const auto path =
        std::filesystem::path("/dev/shm") / ("concord_fuzz_" + std::to_string(getpid()));
    std::filesystem::create_directories(path);
    std::filesystem::current_path(path);
    return path;
  }();
  return folder;
}

inline std::filesystem::path file_of(const std::uint8_t* data, std::size_t size,
                                     const std::string& name) {
  const auto path = fuzzing_folder() / name;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  return path;
}

/// InputError is how readers refuse; everything else is a finding.
template <class Read>
int fuzzed(const Read& read) {
  begin_fuzzing();
  try {
    read();
  } catch (const InputError&) {
    return 0;
  }
  return 0;
}

}  // namespace concord
