#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "subsystem/integrator_settings.hpp"
#include "subsystem/subsystem.hpp"
#include "subsystem/text_ports.hpp"
#include "support/shared_text.hpp"

namespace concord {

/// Where messages are given to a network and taken from it: a channel leads what is put into it to
/// its other end, and all channels share the network; a node of a CAN bus sends frames to all
/// other nodes, and has its own.
struct MessagePort {
  std::string name;
  bool node = false;   ///< of a CAN bus: operations of FMI-LS-BUS
  bool bytes = false;  ///< texts or bytes, else a channel of numbers
  TextKind kind = TextKind::bytes;
  std::optional<double> every{};  ///< s: a number is sent so often; none: when it is called
  double offset = 0.0;            ///< s behind the start, of the first
  double size = 8.0;              ///< bytes of a number's message
  double start = 0.0;             ///< the number received before the first
  std::uint32_t id = 0;           ///< on a CAN bus, of a channel's frames
  bool extended = false;          ///< they have 29 bits
  SharedText location{};          ///< of `every`
};

/// What a message goes through: it waits while others are sent, is sent at the rate, and arrives
/// after the delay, if it is not lost.
struct LinkRules {
  double rate = 0.0;                           ///< bit/s; 0: sending takes no time
  double overhead = 0.0;                       ///< bytes that each message has beside its own
  double least_delay = 0.0, most_delay = 0.0;  ///< s, evenly distributed between
  std::optional<std::size_t> queue{};          ///< that may wait; more are dropped
  double loss = 0.0;                           ///< probability
  bool in_order = true;                        ///< none overtakes another one
  std::uint64_t seed = 1;
};

struct MessagesDescription {
  std::string subsystem;
  std::vector<MessagePort> ports;
  LinkRules link;
  bool can = false;
  double baudrate = 0.0;  ///< bit/s of a CAN bus; 0: the nodes say it
};

/// Its numbers: of a channel the input by its name, what calls it (".send"), what has arrived
/// (".received", ".arrived"); of a node its clocks; and what the network counts.
SubsystemDescription describe_messages(const MessagesDescription& messages);
/// Its texts and bytes; null: none.
std::shared_ptr<const TextInterface> texts_of(const MessagesDescription& messages);
/// Names of those of its numbers that are numbers of ticks.
std::vector<std::string> clocks_of(const MessagesDescription& messages);

std::unique_ptr<Subsystem> make_messages_subsystem(
    std::shared_ptr<const MessagesDescription> messages, const SubsystemSettings& settings);

}  // namespace concord
