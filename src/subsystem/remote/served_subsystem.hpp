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

/// A subsystem that is called as isolated ones are, in messages that it alone understands.
class CalledSubsystem {
 public:
  virtual ~CalledSubsystem() = default;
  /// The answer to a call, valid until the next one.
  virtual std::span<const std::byte> answer_to(std::span<const std::byte> call) = 0;
};

/// Which of the subsystem's tunable parameters has this name. Throws InputError.
std::size_t tunable_parameter(const SubsystemDescription& of, const std::string& name);

/// A subsystem of a model of ours that runs elsewhere have as `remote:`: answers their questions
/// (doc/remote_subsystems.md), each run by a subsystem of its own.
class ServedSubsystem {
 public:
  /// A new one, that has not started.
  using Make = std::function<std::unique_ptr<Subsystem>()>;

  /// For those who call it whole: `layout` tells them whether they can.
  struct Whole {
    std::string layout;
    std::function<std::unique_ptr<CalledSubsystem>()> make;
  };

  /// Tries what it can do from `first` on. Throws SimulationError where it does not start.
  ServedSubsystem(Make make, Whole whole, const MacroStep& first, double stop);
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
  nlohmann::json introduce_whole(std::int64_t number);
  nlohmann::json call(const nlohmann::json& question, std::int64_t number);
  void make_room();
  void touch(std::int64_t number);
  void forget(std::int64_t number);

  Make make_;
  Whole whole_;
  RemoteOffers offers_;
  SubsystemDescription description_;
  std::map<std::int64_t, std::unique_ptr<Session>> sessions_;
  std::map<std::int64_t, std::unique_ptr<CalledSubsystem>> called_;
  std::vector<std::int64_t> order_;  ///< of sessions, who has asked last at the end
};

}  // namespace concord
