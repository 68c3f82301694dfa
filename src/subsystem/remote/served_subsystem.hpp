#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "subsystem/remote/remote.hpp"
#include "subsystem/subsystem.hpp"

namespace concord {

/// A subsystem of a model of ours that runs elsewhere have as `remote:`: answers their questions
/// (doc/remote_subsystems.md), each run by a subsystem of its own.
class ServedSubsystem {
 public:
  /// A new one, that has not started.
  using Make = std::function<std::unique_ptr<Subsystem>()>;

  /// Tries what it can do from `first` on. Throws SimulationError where it does not start.
  ServedSubsystem(Make make, const MacroStep& first, double stop);
  ~ServedSubsystem();

  /// What runs may rely on.
  const RemoteOffers& offers() const { return offers_; }
  const SubsystemDescription& description() const { return description_; }

  /// To one message; never fails, but says why it cannot.
  std::vector<std::uint8_t> answer_to(std::span<const std::uint8_t> message);

 private:
  class Session;

  nlohmann::json answer(const nlohmann::json& question);
  nlohmann::json introduce(const nlohmann::json& question, std::int64_t number);
  void touch(std::int64_t number);
  void forget(std::int64_t number);

  Make make_;
  RemoteOffers offers_;
  SubsystemDescription description_;
  std::map<std::int64_t, std::unique_ptr<Session>> sessions_;
  std::vector<std::int64_t> order_;  ///< of sessions, who has asked last at the end
};

}  // namespace concord
