#pragma once

#include <memory>
#include <string>
#include <vector>

#include "subsystem/integrator_settings.hpp"
#include "subsystem/remote/link.hpp"
#include "subsystem/subsystem.hpp"

namespace concord {

/// What the process outside is said to be able to do beyond steps with held inputs.
struct RemoteOffers {
  bool state = false;        ///< gives all that it remembers, and takes it
  bool polynomials = false;  ///< takes inputs as polynomials
  bool slopes = false;       ///< gives the outputs' derivatives
};

/// A process outside that is a subsystem, as the model file names it.
struct RemoteDescription {
  std::string subsystem;
  std::string location;  ///< "ride.yaml:7"
  std::string address;   ///< "tcp://127.0.0.1:5555"
  RemoteSide side = RemoteSide::connects;
  RemoteOffers offers;
  std::vector<InputVariable> inputs;
  std::vector<OutputVariable> outputs;
  std::vector<double> output_starts;  ///< in the order of outputs
  std::vector<std::string> parameters;
  std::vector<double> parameter_values;
  double limit = 0.0;  ///< s, that it may take to come and to answer
};

/// The version of the protocol.
inline constexpr int remote_protocol = 1;

/// The words of `offers:`.
constexpr const char* remote_offers[] = {"state", "polynomials", "slopes"};

/// "the process at tcp://127.0.0.1:5555", to which Concord connects, or which connects.
std::string in_words(const RemoteDescription& remote);

SubsystemDescription describe_remote(const RemoteDescription& remote);

/// `link`: what subsystems that are made of the same entry have in common.
std::unique_ptr<Subsystem> make_remote_subsystem(std::shared_ptr<const RemoteDescription> remote,
                                                 std::shared_ptr<RemoteLink> link,
                                                 const SubsystemSettings& settings);

}  // namespace concord
