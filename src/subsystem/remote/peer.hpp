#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "concord/archive.hpp"
#include "subsystem/remote/caller.hpp"

namespace concord {

/// Where a process outside stands, as far as Concord knows.
struct RemotePoint {
  double t = 0.0, h = 0.0;          ///< s; h: of the last macro-step, or the first one
  std::vector<double> u, y;         ///< what it was given last, and has put out
  std::vector<double> parameters;   ///< in the order of the description
  std::vector<std::uint8_t> state;  ///< all that it remembers, in bytes of its own
  void io(Archive& archive) { CONCORD_MEMBERS(archive, t, h, u, y, parameters, state); }
};

/// The process outside that is one subsystem. Where it is gone, who comes in its place begins where
/// it has stood.
class RemotePeer final : private RemoteCaller {
 public:
  RemotePeer(std::shared_ptr<const RemoteDescription> remote, std::shared_ptr<RemoteLink> link);

  /// The start of a run. Throws SimulationError.
  const RemoteAnswer& begin(const RemotePoint& at, double stop);
  /// The answer to a question, asked as the process stands at `now`. Throws SimulationError.
  const RemoteAnswer& ask(const char* what, nlohmann::json question, const RemotePoint& now);

  /// It does not stand where the next question takes it to.
  void is_elsewhere() { elsewhere_ = true; }
  /// Whether it gives what it remembers, of one that has begun.
  bool gives_state() const { return gives_state_; }
  /// How often another one has come in its place.
  std::int64_t successors() const { return successors_; }

 private:
  void resume(const RemotePoint& at);
  bool introduce(const RemotePoint& at, bool resumes);
  void check_introduction(double t) const;
  void check_sizes(const char* what, double t) const;

  double stop_ = 0.0;
  bool elsewhere_ = false, gives_state_ = false;
  std::int64_t successors_ = 0;
};

}  // namespace concord
