#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "concord/errors.hpp"
#include "subsystem/fmu/emulated/platforms.hpp"
#include "subsystem/message.hpp"
#include "support/own_file.hpp"

namespace concord {

/// The process has ended, hangs at its start, or answers what nobody understands: "was ended by
/// SIGKILL".
class EmulationEnd : public SimulationError {
 public:
  using SimulationError::SimulationError;
};

/// What the FMU calls while one of its functions runs.
struct EmulatedCallbacks {
  std::function<void(int status, const char* text)> log{};
  std::function<void(double time, bool set_requested)> update{};
  std::function<void()> clock{};
};

/// A process of another platform with the binary of an FMU: calls go there and answers come back
/// through its standard input and output, as src/subsystem/fmu/emulated/host_platform.inc says. It
/// ends with this object or with its own process, however that ends.
class EmulatedProcess {
 public:
  /// `prefix` stands before the names of functions in the binary. Throws InputError where the
  /// binary cannot be loaded, EmulationEnd.
  EmulatedProcess(const Emulation& emulation, const std::string& prefix);
  ~EmulatedProcess();
  EmulatedProcess(const EmulatedProcess&) = delete;
  EmulatedProcess& operator=(const EmulatedProcess&) = delete;

  bool lives();

  /// Whether host and binary have the function; throws EmulationEnd.
  bool has(const std::string& function) { return number_of(function) != 0; }

  /// Calls a function. The answer is valid until the next call. Throws EmulationEnd, and what
  /// `callbacks` throw.
  MessageReader call(const std::string& function, std::span<const std::byte> arguments,
                     const EmulatedCallbacks& callbacks);

  /// A file as programs of the platform name it, and the URI of one.
  std::string path_there(const std::string& path) const;
  std::string uri_there(const std::string& uri) const;

 private:
  void start();
  std::uint32_t number_of(const std::string& function);
  void send(std::uint32_t number, std::span<const std::byte> content);
  void write_all(std::span<const std::byte> bytes);
  std::span<const std::byte> await_answer(const EmulatedCallbacks& callbacks);
  void call_back(std::uint8_t kind, MessageReader message, const EmulatedCallbacks& callbacks);
  void read_message();
  void read_all(std::byte* place, std::size_t size);
  void await_bytes();
  [[noreturn]] void fail();

  Emulation emulation_;
  OwnFile to_, from_;
  pid_t process_ = 0;         ///< 0: none, or it has ended
  double start_limit_ = 0.0;  ///< s that it may take to begin; 0: it has begun
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::byte> message_, read_, written_;
  std::size_t used_ = 0;  ///< of read_
};

}  // namespace concord
