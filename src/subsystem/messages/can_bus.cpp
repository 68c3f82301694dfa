#include "subsystem/messages/can_bus.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "concord/errors.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

/// Operations of FMI-LS-BUS 1.0, chapters 5.2 and 5.5.1: a code and a length of 4 bytes each, of
/// which the length counts all, and what belongs to the code; numbers begin with their last byte.
constexpr std::uint32_t format_error = 0x01, transmit = 0x10, confirm = 0x20,
                        arbitration_lost = 0x30, configuration = 0x40, status = 0x41,
                        wake_up = 0x42;
constexpr std::uint8_t parameter_rate = 1, parameter_lost = 4, buffers = 1, discards = 2;
constexpr std::size_t header = 8, transmit_header = header + 4 + 1 + 1 + 2;
constexpr std::size_t most_data = 8;
constexpr std::uint32_t most_id = 0x7ff, most_extended_id = 0x1fffffff;

std::uint32_t number_at(const std::string& bytes, std::size_t at, std::size_t count) {
  std::uint32_t result = 0;
  while (count-- > 0) result = result << 8U | static_cast<unsigned char>(bytes[at + count]);
  return result;
}

void add(std::string& bytes, std::uint32_t number, std::size_t count) {
  for (; count > 0; --count, number >>= 8U) bytes.push_back(static_cast<char>(number & 0xffU));
}

std::string operation(std::uint32_t code, const std::string& content) {
  std::string result;
  add(result, code, 4);
  add(result, static_cast<std::uint32_t>(header + content.size()), 4);
  return result + content;
}

std::string about_id(std::uint32_t code, std::uint32_t id) {
  std::string content;
  add(content, id, 4);
  return operation(code, content);
}

std::string transmit_operation(const CanFrame& frame) {
  std::string content;
  add(content, frame.id, 4);
  add(content, frame.extended ? 1 : 0, 1);
  add(content, frame.remote ? 1 : 0, 1);
  add(content, static_cast<std::uint32_t>(frame.data.size()), 2);
  return operation(transmit, content + frame.data);
}

/// Of a number: its bytes, as many as there is room for.
CanFrame frame_of(const MessagePort& port, double value) {
  CanFrame frame{port.id, port.extended};
  frame.data.resize(static_cast<std::size_t>(port.size));
  std::memcpy(frame.data.data(), &value, std::min(frame.data.size(), sizeof value));
  return frame;
}

/// False: it is none of classical CAN.
bool read_frame(const std::string& operation, CanFrame& frame) {
  if (operation.size() < transmit_header) return false;
  frame.id = number_at(operation, header, 4);
  frame.extended = operation[header + 4] != 0;
  frame.remote = operation[header + 5] != 0;
  const std::size_t size = number_at(operation, header + 6, 2);
  frame.data = operation.substr(transmit_header);
  const bool fits = size == frame.data.size() || (frame.remote && frame.data.empty());
  frame.data.resize(std::min(size, most_data));
  return fits && size <= most_data && frame.id <= (frame.extended ? most_extended_id : most_id);
}

}  // namespace

CanBus::CanBus(const MessagesDescription& messages)
    : messages_(&messages), discards_(messages.ports.size()), rate_(messages.baudrate) {}

bool CanBus::busy() const { return ended_ != never; }

void CanBus::send(double t, Letter letter) {
  const MessagePort& port = messages_->ports[letter.port];
  if (!port.node) {
    CanFrame frame = frame_of(port, letter.value);
    return wait(t, std::move(letter), std::move(frame));
  }
  const std::string& all = letter.bytes;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t left = all.size() - at;
    const std::size_t size = left < header ? 0 : number_at(all, at + 4, 4);
    if (size < header || size > left) return refuse(letter.port, all.substr(at));
    read(t, letter.port, all.substr(at, size));
    at += size;
  }
}

void CanBus::read(double t, std::size_t node, const std::string& operation) {
  CanFrame frame;
  switch (number_at(operation, 0, 4)) {
    case transmit:
      if (!read_frame(operation, frame)) return refuse(node, operation);
      return wait(t, {node, 0.0, operation}, std::move(frame));
    case configuration:
      return configure(t, node, operation);
    case wake_up:
      for (std::size_t other = 0; other < messages_->ports.size(); ++other)
        if (messages_->ports[other].node && other != node) told_.push_back({other, 0.0, operation});
      return;
    case status:
    case format_error:
      return;
    default:
      return refuse(node, operation);
  }
}

void CanBus::refuse(std::size_t node, const std::string& operation) {
  constexpr std::size_t most = 0xffff;
  const std::string shown = operation.substr(0, most);
  std::string content;
  add(content, static_cast<std::uint32_t>(shown.size()), 2);
  told_.push_back({node, 0.0, concord::operation(format_error, content + shown)});
}

/// Rates of CAN FD and CAN XL have no meaning for the frames of this bus.
void CanBus::configure(double t, std::size_t node, const std::string& operation) {
  const std::uint32_t parameter = operation.size() > header ? number_at(operation, header, 1) : 0;
  const std::size_t size = operation.size() - header;
  if (parameter == parameter_lost && size >= 2) {
    const std::uint32_t choice = number_at(operation, header + 1, 1);
    if (choice != buffers && choice != discards) return refuse(node, operation);
    discards_[node] = choice == discards ? 1 : 0;
  } else if (parameter == parameter_rate && size >= 5) {
    const double rate = number_at(operation, header + 1, 4);
    if (rate == 0.0) return refuse(node, operation);
    if (rate_ == 0.0) rate_ = rate;
    if (rate != rate_)
      throw SimulationError("the node " + in_quotes(messages_->ports[node].name) + " sends at " +
                            short_number(rate) + " bit/s on a bus of " + short_number(rate_) +
                            " bit/s at t = " + short_number(t) +
                            " s; give all the same (can: {baudrate: ...})");
  } else if (parameter == 0 || parameter > parameter_lost) {
    refuse(node, operation);
  }
}

void CanBus::wait(double t, Letter letter, CanFrame frame) {
  counts_.sent += 1.0;
  if (rate_ == 0.0)
    throw SimulationError("nobody has said how fast its bus is before " +
                          in_quotes(messages_->ports[letter.port].name) +
                          " sends at t = " + short_number(t) + " s; give can: {baudrate: <bit/s>}");
  const std::size_t waits = waiting_.size() - (busy() ? 1 : 0);
  if (messages_->link.queue && (busy() || t < free_) && waits >= *messages_->link.queue) {
    counts_.dropped += 1.0;
    return;
  }
  waiting_.push_back({t, std::move(letter), std::move(frame)});
  const bool joins = busy() && is_due(t, began_) && !settled_;
  if (joins || (!busy() && is_due(free_ == -never ? t : free_, t))) begin(joins ? began_ : t);
  const std::size_t now = waiting_.size() - (busy() ? 1 : 0);
  counts_.queue_max = std::max(counts_.queue_max, static_cast<double>(now));
}

/// Whoever comes at the same instant takes part.
void CanBus::begin(double t) {
  const auto priority = [](const Waiting& one) { return can_priority(one.frame); };
  const auto first = std::ranges::min_element(waiting_, {}, priority);
  std::rotate(waiting_.begin(), first, first + 1);
  began_ = t;
  ended_ = t + can_frame_bits(waiting_.front().frame) / rate_;
  settled_ = false;
}

/// Frames in its own order have not lost against others of the same node.
bool CanBus::has_losers() const {
  return std::any_of(waiting_.begin() + 1, waiting_.end(), [&](const Waiting& one) {
    return discards_[one.letter.port] != 0 && one.letter.port != waiting_.front().letter.port &&
           is_due(one.came, began_);
  });
}

double CanBus::told_to_losers() const {
  if (!busy() || settled_ || !has_losers()) return never;
  return began_ + can_arbitration_bits(waiting_.front().frame.extended) / rate_;
}

void CanBus::tell_losers() {
  const std::size_t winner = waiting_.front().letter.port;
  std::erase_if(waiting_, [&](const Waiting& one) {
    const std::size_t port = one.letter.port;
    if (discards_[port] == 0 || port == winner || !is_due(one.came, began_)) return false;
    told_.push_back({port, 0.0, about_id(arbitration_lost, one.frame.id)});
    counts_.dropped += 1.0;
    return true;
  });
  settled_ = true;
}

void CanBus::end_frame(std::vector<Letter>& arrived) {
  Waiting sent = std::move(waiting_.front());
  waiting_.erase(waiting_.begin());
  free_ = ended_ + can_interframe_bits / rate_;
  ended_ = never;
  counts_.delivered += 1.0;
  const std::size_t from = sent.letter.port;
  for (std::size_t port = 0; port < messages_->ports.size(); ++port)
    if (messages_->ports[port].node)
      arrived.push_back(
          {port, 0.0,
           port == from ? about_id(confirm, sent.frame.id) : transmit_operation(sent.frame)});
  if (!messages_->ports[from].node) arrived.push_back(std::move(sent.letter));
}

double CanBus::next() const {
  if (busy()) return std::min(told_to_losers(), ended_);
  return waiting_.empty() ? never : free_;
}

void CanBus::pass(double t, std::vector<Letter>& arrived) {
  for (bool any = true; any;) {
    any = true;
    if (is_due(told_to_losers(), t))
      tell_losers();
    else if (is_due(ended_, t))
      end_frame(arrived);
    else if (!busy() && !waiting_.empty() && is_due(free_, t))
      begin(free_);
    else
      any = false;
    arrived.insert(arrived.end(), told_.begin(), told_.end());
    told_.clear();
  }
}

}  // namespace concord
