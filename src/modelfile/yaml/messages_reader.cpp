#include "modelfile/yaml/messages_reader.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "concord/errors.hpp"
#include "modelfile/yaml/model_keys.hpp"
#include "subsystem/messages/messages.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

class MessagesReader {
 public:
  MessagesReader(const std::string& name, const NodeReader& node, const SubsystemParts& parts)
      : fields_(find_field(parts.kind, "messages")->fields_among(messages_keys)),
        node_(*find_field(parts.kind, "messages")),
        constants_(parts.constants) {
    messages_.subsystem = name;
    owner_ = node.what();
  }

  MessagesDescription read() {
    read_bus();
    if (messages_.can) refuse_beside_can();
    read_link();
    if (const auto channels = find_field(fields_, "channels"))
      for (const Field& channel : channels->named_fields("channel", owner_)) add_channel(channel);
    if (const auto nodes = find_field(fields_, "nodes")) add_nodes(*nodes);
    if (messages_.ports.empty())
      node_.fail(messages_.can ? "needs nodes or channels" : "needs channels");
    if (messages_.can && messages_.ports.size() < 2)
      node_.fail("needs at least two nodes or channels: nobody acknowledges what one sends alone");
    return std::move(messages_);
  }

 private:
  void read_bus() {
    const auto can = find_field(fields_, "can");
    messages_.can = can.has_value();
    if (!can) return;
    const auto fields = can->fields_among(can_keys);
    if (const auto rate = find_field(fields, "baudrate"))
      messages_.baudrate = positive(*rate, "a rate in bit/s");
  }

  void refuse_beside_can() const {
    for (const char* key : {"delay", "rate", "overhead", "loss", "order", "seed"})
      if (const auto found = find_field(fields_, key))
        found->fail(
            "is of a link, and this is a CAN bus, where baudrate and frames say it; leave "
            "it out");
  }

  void read_link() {
    LinkRules& link = messages_.link;
    if (const auto delay = find_field(fields_, "delay")) read_delay(*delay);
    if (const auto rate = find_field(fields_, "rate"))
      link.rate = positive(*rate, "a rate in bit/s");
    if (const auto overhead = find_field(fields_, "overhead"))
      link.overhead = within(*overhead, 0.0, largest_size, "a number of bytes, 0 or more");
    if (const auto queue = find_field(fields_, "queue"))
      link.queue = static_cast<std::size_t>(
          whole(*queue, 0.0, largest_size, "a whole number of messages, 0 or more"));
    if (const auto loss = find_field(fields_, "loss"))
      link.loss = within(*loss, 0.0, 1.0, "a probability, from 0 to 1");
    if (const auto seed = find_field(fields_, "seed"))
      link.seed =
          static_cast<std::uint64_t>(whole(*seed, 0.0, largest_size, "a whole number, 0 or more"));
    if (const auto order = find_field(fields_, "order")) {
      const std::string word = order->text();
      if (word != "kept" && word != "free")
        order->fail("must be kept or free, found " + in_quotes(word));
      link.in_order = word == "kept";
    }
  }

  void read_delay(const NodeReader& node) {
    std::vector<double> ends;
    if (node.is_list())
      for (const NodeReader& end : node.items("delay")) ends.push_back(end.number(constants_));
    else
      ends.assign(2, node.number(constants_));
    if (ends.size() != 2 || !(ends[0] >= 0.0) || !(ends[1] >= ends[0]))
      node.fail("must be a time in s, 0 or more, or the least and the most of it: [0.001, 0.004]");
    messages_.link.least_delay = ends[0];
    messages_.link.most_delay = ends[1];
  }

  void add_channel(const Field& field) {
    const auto fields = field.value.fields_among(channel_keys);
    MessagePort port;
    port.name = field.key;
    if (const auto type = find_field(fields, "type")) read_type(*type, port);
    for (const char* key : {"every", "offset", "size", "start"})
      if (const auto found = find_field(fields, key); found && port.bytes)
        found->fail(
            "is of channels of numbers; texts and bytes are sent when they come and are as "
            "long as they are");
    if (const auto every = find_field(fields, "every")) {
      port.every = positive(*every, "a time in s");
      port.location = every->location();
    }
    if (const auto offset = find_field(fields, "offset")) {
      if (!port.every) offset->fail("needs 'every' beside it");
      port.offset = within(*offset, 0.0, largest_size, "a time in s, 0 or more");
    }
    if (const auto size = find_field(fields, "size"))
      port.size = messages_.can ? whole(*size, 0.0, 8.0, "a whole number of bytes, 0 to 8")
                                : within(*size, 0.0, largest_size, "a number of bytes, 0 or more");
    if (const auto start = find_field(fields, "start")) port.start = start->number(constants_);
    read_identifier(field, fields, port);
    messages_.ports.push_back(std::move(port));
  }

  static void read_type(const NodeReader& type, MessagePort& port) {
    const std::string word = type.text();
    if (word != "numbers" && word != "texts" && word != "bytes")
      type.fail("must be numbers, texts or bytes, found " + in_quotes(word));
    port.bytes = word != "numbers";
    port.kind = word == "texts" ? TextKind::text : TextKind::bytes;
  }

  void read_identifier(const Field& field, const std::vector<Field>& fields, MessagePort& port) {
    const auto id = find_field(fields, "id"), extended = find_field(fields, "extended");
    for (const auto& found : {id, extended})
      if (found && !messages_.can) found->fail("is for a CAN bus (can:)");
    if (!messages_.can) return;
    if (port.bytes)
      throw InputError(field.key_location + ": " + field.value.what() +
                       " has texts or bytes, which on a CAN bus nodes send as frames (nodes:)");
    if (!id) field.value.fail("needs 'id', the identifier of its frames");
    port.extended = extended && extended->flag();
    port.id = static_cast<std::uint32_t>(
        port.extended ? whole(*id, 0.0, 0x1fffffff, "an identifier of 29 bits, 0 to 536870911")
                      : whole(*id, 0.0, 0x7ff, "an identifier of 11 bits, 0 to 2047"));
    for (const MessagePort& other : messages_.ports)
      if (other.id == port.id && other.extended == port.extended)
        id->fail("is that of the channel " + in_quotes(other.name) + ", too; give each its own");
  }

  void add_nodes(const NodeReader& nodes) {
    if (!messages_.can) nodes.fail("are of a CAN bus (can:); a link has channels");
    for (const Field& node : nodes.named_items("node", owner_)) {
      if (std::ranges::find(messages_.ports, node.key, &MessagePort::name) != messages_.ports.end())
        throw InputError(node.key_location + ": " + in_quotes(node.key) + " is there twice");
      MessagePort port;
      port.name = node.key;
      port.node = port.bytes = true;
      messages_.ports.push_back(std::move(port));
    }
  }

  double within(const NodeReader& node, double least, double most, const char* what) const {
    const double value = node.number(constants_);
    if (!(value >= least && value <= most))
      node.fail(std::string("must be ") + what + ", found " + short_number(value));
    return value;
  }
  double whole(const NodeReader& node, double least, double most, const char* what) const {
    const double value = within(node, least, most, what);
    if (value != std::floor(value))
      node.fail(std::string("must be ") + what + ", found " + short_number(value));
    return value;
  }
  double positive(const NodeReader& node, const char* what) const {
    const double value = node.number(constants_);
    if (!(value > 0.0)) node.fail(std::string("must be ") + what + ", greater than zero");
    return value;
  }

  static constexpr double largest_size = 1e15;

  std::vector<Field> fields_;
  NodeReader node_;
  const Constants& constants_;
  std::string owner_;
  MessagesDescription messages_;
};

}  // namespace

SubsystemEntry messages_entry(const std::string& name, const NodeReader& node,
                              const SubsystemParts& parts) {
  SubsystemEntry entry;
  entry.location = node.location();
  const auto messages =
      std::make_shared<const MessagesDescription>(MessagesReader(name, node, parts).read());
  entry.description = describe_messages(*messages);
  SubsystemType& type = entry.type.own();
  type.messages = messages;
  type.texts = texts_of(*messages);
  type.create = [messages](const SubsystemEntry&, const SubsystemSettings& settings) {
    return make_messages_subsystem(messages, settings);
  };
  return entry;
}

}  // namespace concord
