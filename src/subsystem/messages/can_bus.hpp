#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "subsystem/messages/can_frame.hpp"
#include "subsystem/messages/message_link.hpp"

namespace concord {

/// A bus of classical CAN: of all frames that wait when it is free the one with the highest
/// priority is sent, each node's own order being that of priority, too.
///
/// Nodes speak the operations of FMI-LS-BUS 1.0 (Transmit, Confirm, Arbitration Lost,
/// Configuration, Wake-up, Format Error). A frame that a node sends is there for all others, and
/// confirmed to it, at its end; frames that lose wait, or come back where the node wants it so.
class CanBus {
 public:
  explicit CanBus(const MessagesDescription& messages);

  /// Throws SimulationError for a rate that is not the bus's.
  void send(double t, Letter letter);
  double next() const;
  void pass(double t, std::vector<Letter>& arrived);
  const MessageCounts& counts() const { return counts_; }

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, waiting_, told_, discards_, began_, ended_, free_, settled_, rate_,
                    counts_);
  }

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();

  struct Waiting {
    double came = 0.0;  ///< s
    Letter letter;      ///< of a node with the operation
    CanFrame frame;

    void io(Archive& archive) { CONCORD_MEMBERS(archive, came, letter, frame); }
  };

  bool busy() const;
  void read(double t, std::size_t node, const std::string& operation);
  void configure(double t, std::size_t node, const std::string& operation);
  void refuse(std::size_t node, const std::string& operation);
  void wait(double t, Letter letter, CanFrame frame);
  void begin(double t);
  bool has_losers() const;
  double told_to_losers() const;
  void tell_losers();
  void end_frame(std::vector<Letter>& arrived);

  const MessagesDescription* messages_;
  std::vector<Waiting> waiting_;  ///< in the order of coming; while it is busy, first that on it
  std::vector<Letter> told_;      ///< what nodes are told at once
  std::vector<char> discards_;    ///< of each port: what loses comes back to it
  double began_ = 0.0;            ///< s: the frame on the bus
  double ended_ = never;          ///< s: its end; infinity: there is none
  double free_ = -never;          ///< s: the next may begin
  bool settled_ = false;          ///< losers know that they are
  double rate_;                   ///< bit/s; 0: nobody has said it yet
  MessageCounts counts_;
};

}  // namespace concord
