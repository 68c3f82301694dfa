#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "subsystem/remote/answer.hpp"
#include "subsystem/remote/remote.hpp"

namespace concord {

/// Who asks a process outside, in a session of its own: the questions of one subsystem in one run.
class RemoteCaller {
 protected:
  using Clock = RemoteLink::Clock;

  RemoteCaller(std::shared_ptr<const RemoteDescription> remote, std::shared_ptr<RemoteLink> link);
  ~RemoteCaller();
  RemoteCaller(const RemoteCaller&) = delete;
  RemoteCaller& operator=(const RemoteCaller&) = delete;

  const RemoteDescription& remote() const { return *remote_; }
  RemoteLink& link() const { return *link_; }

  /// Waits for a process, as long as it may take to come. Throws SimulationError.
  void connect(double t);
  /// The session has begun there, in the link's connection of this number.
  void begun_in(int connection);
  /// It is to begin anew, with whoever is there.
  void leave() { connection_ = 0; }
  bool has_begun() const { return connection_ != 0; }
  /// Whether the process in which it has begun is still there.
  bool stands() const;

  /// Whether the question was answered; false: the connection was lost. Throws SimulationError,
  /// also where the answer is an error.
  bool exchange(const char* what, nlohmann::json& question, double t);
  const RemoteAnswer& answer() const { return answer_; }

  void tell(const std::string& note);
  [[noreturn]] void fail(double t, const std::string& what) const;

 private:
  bool deliver(Clock::time_point until);
  std::int64_t write(const char* what, nlohmann::json& question);
  void take_answer(const char* what, double t);
  Clock::time_point limit() const;
  [[noreturn]] void fail_late(double t, const std::string& what) const;

  std::shared_ptr<const RemoteDescription> remote_;
  std::shared_ptr<RemoteLink> link_;
  std::int64_t session_;
  int connection_ = 0;  ///< in which it has begun, counted from 1; 0: it has not
  bool ever_begun_ = false;
  bool deaf_ = false;
  std::vector<std::uint8_t> bytes_;
  RemoteAnswer answer_;
  std::string told_;
};

}  // namespace concord
