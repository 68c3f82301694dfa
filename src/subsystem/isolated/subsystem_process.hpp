#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "subsystem/isolated/subsystem_place.hpp"
#include "support/channel.hpp"
#include "support/own_file.hpp"

namespace concord {

/// The program in which isolated subsystems live, beside this library, as it was built or
/// installed. Throws InputError where it is not there.
std::string host_program();

/// The process of an isolated subsystem, which ends with this object or with its own process,
/// however that ends.
class SubsystemProcess final : public SubsystemPlace {
 public:
  /// `what`: "the FMU"; `call_limit`: s that a call may take; 0: any time. Throws InputError where
  /// the program that is to be started is not there, SimulationError.
  SubsystemProcess(std::string what, double call_limit);
  ~SubsystemProcess() override;
  SubsystemProcess(const SubsystemProcess&) = delete;
  SubsystemProcess& operator=(const SubsystemProcess&) = delete;

  std::optional<MessageReader> call(std::span<const std::byte> request,
                                    CallStatus& status) override;
  bool release() override;
  bool lives() override;
  const std::string& last_words() const override { return last_words_; }
  bool names_place() const override { return names_place_; }

 private:
  MessageReader take_words(MessageReader answer, CallStatus& status);
  bool obeys(RemoteFunction function);
  void end();
  void kill_it();
  bool may_go_on(double limit);
  void order_end(double limit);
  void reap(int wait_status);
  bool wait_for_end(std::chrono::milliseconds patience);

  Channel channel_;
  OwnFile order_;
  std::string what_;
  pid_t process_ = 0;  ///< 0: has ended
  double call_limit_;
  std::chrono::steady_clock::time_point called_;
  std::string last_words_;
  bool names_place_ = false;
};

}  // namespace concord
