#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "concord/errors.hpp"
#include "subsystem/messages/can_bus.hpp"
#include "subsystem/messages/message_link.hpp"
#include "subsystem/messages/messages.hpp"
#include "subsystem/ode/discrete_event_model.hpp"
#include "subsystem/ode_subsystem.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

constexpr const char* count_names[] = {"sent", "delivered", "dropped", "lost", "queue_max"};

/// Positions of what belongs to a port.
struct Places {
  std::size_t value = none;   ///< input: the number
  std::size_t calls = none;   ///< input: how often it has been told to send
  std::size_t taken = none;   ///< text input
  std::size_t number = none;  ///< output: the number that arrived last
  std::size_t ticks = none;   ///< output: how many have arrived
  std::size_t given = none;   ///< text output
};

struct Interface {
  std::vector<InputVariable> inputs;
  std::vector<OutputVariable> outputs;
  TextInterface texts;
  std::vector<Places> places;  ///< of each port
  std::size_t counts = 0;      ///< outputs: the first of `count_names`
};

std::size_t add_ticks(Interface& to, const std::string& name, bool input) {
  if (input) {
    to.inputs.push_back({name, "", 0.0, 0.0, SignalKind::held, true});
    return to.inputs.size() - 1;
  }
  to.outputs.push_back({name, "", 0.0, SignalKind::held});
  return to.outputs.size() - 1;
}

/// What comes in and what goes out, of text or bytes.
void add_texts(Interface& to, Places& at, const std::string& in, const std::string& out,
               TextKind kind, const std::string& mime) {
  at.taken = to.texts.inputs.size();
  at.given = to.texts.outputs.size();
  to.texts.inputs.push_back({in, kind, mime, 0, true});
  to.texts.outputs.push_back({out, kind, mime, 0, true});
}

Interface interface_of(const MessagesDescription& messages) {
  Interface result;
  for (const MessagePort& port : messages.ports) {
    Places at;
    const std::string& name = port.name;
    if (port.node) {
      add_texts(result, at, name + ".Rx_Data", name + ".Tx_Data", port.kind,
                "application/org.fmi-standard.fmi-ls-bus.can");
      at.calls = add_ticks(result, name + ".Rx_Clock", true);
      at.ticks = add_ticks(result, name + ".Tx_Clock", false);
    } else {
      if (port.bytes) {
        add_texts(result, at, name, name + ".received", port.kind, "");
      } else {
        at.value = result.inputs.size();
        result.inputs.push_back({name, "", std::nullopt});
        at.number = result.outputs.size();
        result.outputs.push_back({name + ".received", "", 0.0, SignalKind::held});
      }
      if (!port.every) at.calls = add_ticks(result, name + ".send", true);
      at.ticks = add_ticks(result, name + ".arrived", false);
    }
    result.places.push_back(at);
  }
  result.counts = result.outputs.size();
  for (const char* name : count_names) add_ticks(result, name, false);
  return result;
}

/// A network of messages: nothing moves in it but at events. Those are known before, when something
/// is sent on or arrives, or come with what it is told to send.
class MessageModel final : public DiscreteEventModel, private TextPorts {
 public:
  explicit MessageModel(std::shared_ptr<const MessagesDescription> messages)
      : messages_(std::move(messages)),
        interface_(interface_of(*messages_)),
        fed_(interface_.inputs.size(), 1),
        now_(*messages_, interface_) {}

  OdeInterface interface() const override {
    return {interface_.inputs, {}, interface_.outputs, SharedList<Feedthrough>{}, false, true};
  }
  void outputs(double /*t*/, std::span<const double> /*x*/, std::span<const double> /*u*/,
               std::span<double> y) override {
    std::ranges::copy(now_.y, y.begin());
  }
  bool jacobians(double /*t*/, std::span<const double> /*x*/, std::span<const double> /*u*/,
                 const Jacobians& result) override {
    std::ranges::fill(result.g_u, 0.0);
    return true;
  }

  void note_use(std::span<const char> fed) override {
    if (!fed.empty()) fed_.assign(fed.begin(), fed.end());
  }
  void begin_initialization(double t, double /*stop*/) override { start_ = t; }
  bool initializing() const override { return initializing_; }
  void end_initialization(std::span<const double> u, std::span<double> /*x*/) override {
    initializing_ = false;
    for (std::size_t i = 0; i < now_.ports.size(); ++i)
      if (const std::size_t calls = interface_.places[i].calls; calls != none)
        now_.ports[i].calls = std::nearbyint(u[calls]);
    run(start_, u);
  }
  bool input_event(std::span<const double> u) override;
  double next_time_event() const override;
  SmoothInterval reachable() const override { return {now_.since, never}; }
  TextPorts* texts() override { return interface_.texts.inputs.empty() ? nullptr : this; }
  void save() override { saved_ = now_; }
  void restore() override { now_ = saved_; }
  std::optional<std::string> io(Archive& archive) override {
    CONCORD_MEMBERS(archive, initializing_, start_, now_);
    return std::nullopt;
  }

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();

  /// Of a port.
  struct PortMemory {
    double sent = 0.0;                         ///< numbers sent by the clock
    double calls = 0.0;                        ///< how often it had been told to send
    std::string last{};                        ///< what it was given last
    std::vector<std::string> heard{}, said{};  ///< what waits for a call; for being fetched

    void io(Archive& archive) { CONCORD_MEMBERS(archive, sent, calls, last, heard, said); }
  };
  struct Memory {
    Memory(const MessagesDescription& messages, const Interface& interface)
        : ports(messages.ports.size()), y(interface.outputs.size()) {
      for (std::size_t i = 0; i < ports.size(); ++i)
        if (const std::size_t number = interface.places[i].number; number != none)
          y[number] = messages.ports[i].start;
      if (messages.can)
        network.emplace<CanBus>(messages);
      else
        network.emplace<MessageLink>(messages);
    }

    double since = -never;  ///< the last event
    std::vector<PortMemory> ports;
    std::vector<double> y;  ///< outputs
    std::variant<std::monostate, MessageLink, CanBus> network;

    void io(Archive& archive) {
      CONCORD_MEMBERS(archive, since, ports, y);
      if (auto* link = std::get_if<MessageLink>(&network)) archive(*link);
      if (auto* bus = std::get_if<CanBus>(&network)) archive(*bus);
    }
  };

  /// What `work` gives with the network.
  template <class Work>
  static auto with(auto& memory, const Work& work) {
    if (auto* bus = std::get_if<CanBus>(&memory.network)) return work(*bus);
    return work(std::get<MessageLink>(memory.network));
  }

  void put_out(std::span<Texts> texts) override {
    for (std::size_t i = 0; i < now_.ports.size(); ++i)
      if (const std::size_t given = interface_.places[i].given; given != none)
        std::swap(texts[given], now_.ports[i].said);
  }
  void take(std::span<const Texts> texts) override {
    for (std::size_t i = 0; i < now_.ports.size(); ++i) {
      if (interface_.places[i].taken == none) continue;
      const Texts& own = texts[interface_.places[i].taken];
      if (initializing_ && !is_called(i)) continue;
      now_.ports[i].heard.insert(now_.ports[i].heard.end(), own.begin(), own.end());
    }
  }
  /// Else each text is sent as it comes.
  bool is_called(std::size_t port) const {
    const std::size_t calls = interface_.places[port].calls;
    return calls != none && (messages_->ports[port].node || fed_[calls] != 0);
  }
  double clock(std::size_t port) const {
    const MessagePort& own = messages_->ports[port];
    return own.every ? start_ + (own.offset + now_.ports[port].sent * *own.every) : never;
  }
  void run(double t, std::span<const double> u) override;
  void send_from(std::size_t port, double t, std::span<const double> u);
  void hand_out(const std::vector<Letter>& arrived);

  std::shared_ptr<const MessagesDescription> messages_;
  Interface interface_;
  std::vector<char> fed_;
  double start_ = 0.0;
  bool initializing_ = true;
  Memory now_, saved_{now_};
};

bool MessageModel::input_event(std::span<const double> u) {
  for (std::size_t i = 0; i < now_.ports.size(); ++i) {
    const std::size_t calls = interface_.places[i].calls;
    if (calls != none && std::nearbyint(u[calls]) > now_.ports[i].calls) return true;
    if (!is_called(i) && !now_.ports[i].heard.empty()) return true;
  }
  return false;
}

double MessageModel::next_time_event() const {
  double next = with(now_, [](const auto& network) { return network.next(); });
  for (std::size_t i = 0; i < now_.ports.size(); ++i) next = std::min(next, clock(i));
  return next;
}

/// With more texts than calls the older ones are passed over; with fewer the last is sent again.
void MessageModel::send_from(std::size_t port, double t, std::span<const double> u) {
  PortMemory& own = now_.ports[port];
  const Places& at = interface_.places[port];
  const auto send = [&] {
    const double value = at.value == none ? 0.0 : u[at.value];
    with(now_, [&](auto& network) { network.send(t, {port, value, own.last}); });
  };
  for (; is_due(clock(port), t); own.sent += 1.0) send();
  if (!is_called(port)) {
    for (std::string& text : own.heard) own.last = std::move(text), send();
    own.heard.clear();
    return;
  }
  const double called = std::nearbyint(u[at.calls]);
  for (; own.calls < called; own.calls += 1.0) {
    const auto to_come = static_cast<std::size_t>(called - own.calls);
    if (!own.heard.empty()) {
      const auto now =
          own.heard.begin() +
          static_cast<std::ptrdiff_t>(own.heard.size() - std::min(own.heard.size(), to_come));
      own.last = std::move(*now);
      own.heard.erase(own.heard.begin(), now + 1);
    }
    send();
  }
}

void MessageModel::run(double t, std::span<const double> u) {
  std::vector<Letter> arrived;
  with(now_, [&](auto& network) { network.pass(t, arrived); });
  for (std::size_t i = 0; i < now_.ports.size(); ++i) send_from(i, t, u);
  with(now_, [&](auto& network) { network.pass(t, arrived); });
  hand_out(arrived);
  const MessageCounts counts = with(now_, [](const auto& network) { return network.counts(); });
  const double numbers[] = {counts.sent, counts.delivered, counts.dropped, counts.lost,
                            counts.queue_max};
  std::ranges::copy(numbers, now_.y.begin() + static_cast<std::ptrdiff_t>(interface_.counts));
  now_.since = t;
}

void MessageModel::hand_out(const std::vector<Letter>& arrived) {
  for (const Letter& letter : arrived) {
    const Places& at = interface_.places[letter.port];
    if (at.given != none) now_.ports[letter.port].said.push_back(letter.bytes);
    if (at.number != none) now_.y[at.number] = letter.value;
    now_.y[at.ticks] += 1.0;
  }
}

}  // namespace

SubsystemDescription describe_messages(const MessagesDescription& messages) {
  const Interface own = interface_of(messages);
  SubsystemDescription result =
      describe_ode(messages.subsystem, "messages",
                   {own.inputs, {}, own.outputs, SharedList<Feedthrough>{}, false, true});
  result.capabilities.equations = false;
  result.events = true;
  return result;
}

std::shared_ptr<const TextInterface> texts_of(const MessagesDescription& messages) {
  TextInterface texts = interface_of(messages).texts;
  return texts.inputs.empty() ? nullptr : std::make_shared<const TextInterface>(std::move(texts));
}

std::vector<std::string> clocks_of(const MessagesDescription& messages) {
  const Interface own = interface_of(messages);
  std::vector<std::string> result;
  for (const Places& at : own.places) {
    if (at.calls != none) result.push_back(own.inputs[at.calls].name);
    result.push_back(own.outputs[at.ticks].name);
  }
  return result;
}

std::unique_ptr<Subsystem> make_messages_subsystem(
    std::shared_ptr<const MessagesDescription> messages, const SubsystemSettings& settings) {
  SubsystemDescription description = describe_messages(*messages);
  return make_ode_subsystem(std::move(description),
                            std::make_unique<MessageModel>(std::move(messages)), settings);
}

}  // namespace concord
