#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "concord/archive.hpp"
#include "subsystem/messages/messages.hpp"

namespace concord {

/// A message, at a port.
struct Letter {
  std::size_t port = 0;
  double value = 0.0;  ///< of a channel of numbers
  std::string bytes{};

  void io(Archive& archive) { CONCORD_MEMBERS(archive, port, value, bytes); }
};

/// What a network has done so far.
struct MessageCounts {
  using AllDoubles = void;  ///< for archives
  double sent = 0.0;        ///< given to it
  double delivered = 0.0, dropped = 0.0, lost = 0.0;
  double queue_max = 0.0;  ///< that have waited at once
};

/// Nothing but rounding separates an instant from what is due there.
bool is_due(double when, double t);

/// A link that all channels share: one message at a time is sent at the rate, others wait in the
/// order in which they came; sent ones travel on their own.
class MessageLink {
 public:
  explicit MessageLink(const MessagesDescription& messages) : messages_(&messages) {}

  void send(double t, Letter letter);
  /// s: when something happens next; infinity: nothing.
  double next() const;
  /// What has arrived up to t is added to `arrived`.
  void pass(double t, std::vector<Letter>& arrived);
  const MessageCounts& counts() const { return counts_; }

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, waiting_, travelling_, free_, last_arrival_, number_, counts_);
  }

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();

  struct Travelling {
    double at = 0.0;
    Letter letter;

    void io(Archive& archive) { CONCORD_MEMBERS(archive, at, letter); }
  };

  void begin(double t);
  double seconds(const Letter& letter) const;
  double chance(int which) const;

  const MessagesDescription* messages_;
  std::vector<Letter> waiting_;         ///< the first is being sent
  std::vector<Travelling> travelling_;  ///< by their arrival
  double free_ = never;                 ///< s: the first has been sent
  double last_arrival_ = -never;
  double number_ = 0.0;  ///< of the message whose chances are asked for
  MessageCounts counts_;
};

}  // namespace concord
