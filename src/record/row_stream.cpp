#include "record/row_stream.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>
#include <unordered_set>
#include <utility>

#include "concord/errors.hpp"
#include "support/agreement.hpp"
#include "support/name_patterns.hpp"
#include "support/ranks.hpp"
#include "support/socket_watch.hpp"

namespace concord {
namespace {

using Json = nlohmann::json;

constexpr int until_last_words = 1000;  // ms that the end of the run waits for those who watch

std::string new_token() {
  std::random_device source;
  char text[33];
  std::snprintf(text, sizeof text, "%08x%08x%08x%08x", source(), source(), source(), source());
  return text;
}

Json row_of(double time, std::span<const double> values) {
  Json row = Json::array({time});
  for (const double value : values) row.push_back(value);
  return row;
}

}  // namespace

/// The socket, which hears who subscribes: who names the token, which leads every message, gets all
/// from then on.
class RowStream::Sender {
 public:
  Sender(StreamAddress address, Json run)
      : address_(std::move(address)),
        run_(std::move(run)),
        socket_(context_, zmq::socket_type::xpub),
        watch_(context_, socket_) {
    socket_.set(zmq::sockopt::xpub_manual, 1);
    socket_.set(zmq::sockopt::xpub_verboser, 1);
    socket_.set(zmq::sockopt::linger, until_last_words);
    if (!address_.has_token) address_.token = new_token();
    address_.has_token = true;
    try {
      socket_.bind(address_.endpoint);
    } catch (const zmq::error_t& error) {
      throw InputError("option -cosim_stream_address: cannot listen at " + address_.endpoint +
                       ": " + error.what());
    }
    address_.endpoint = socket_.get(zmq::sockopt::last_endpoint);
  }

  const StreamAddress& address() const { return address_; }

  void send(double time, std::span<const double> values, std::size_t rows, std::size_t events) {
    welcome();
    if (watched_) say({{"row", row_of(time, values)}, {"rows", rows}, {"events", events}});
  }
  void end(std::string_view status, int exit_code) {
    welcome();
    say({{"end", {{"status", status}, {"code", exit_code}}}});
  }

 private:
  void say(const Json& message) {
    const std::string text = message.dump();
    const auto more = zmq::send_flags::dontwait | zmq::send_flags::sndmore;
    repeated([&] { return socket_.send(zmq::buffer(address_.token), more); });
    repeated([&] { return socket_.send(zmq::buffer(text), zmq::send_flags::dontwait); });
  }

  /// A subscription begins with a byte 1, its end with a byte 0.
  void welcome() {
    watch_.catch_up();
    bool come = false;
    while (watch_.take_message(heard_)) {
      const std::string_view said(reinterpret_cast<const char*>(heard_.data()), heard_.size());
      if (said.empty() || said.substr(1) != address_.token) continue;
      if (said.front() == '\1') socket_.set(zmq::sockopt::subscribe, address_.token);
      if (said.front() == '\0') socket_.set(zmq::sockopt::unsubscribe, address_.token);
      come = come || said.front() == '\1';
    }
    if (!come) return;
    watched_ = true;
    say({{"run", run_}});
  }

  StreamAddress address_;
  Json run_;
  zmq::context_t context_;
  zmq::socket_t socket_;
  SocketWatch watch_;
  std::vector<std::uint8_t> heard_;
  bool watched_ = false;
};

RowStream::RowStream(SimulationCore& simulation) : simulation_(simulation) {
  const SimulationPlan& plan = simulation.plan();
  choose();
  exchange_.emplace(plan.comm, columns_);
  together(plan.comm, [&] {
    if (rank_in(plan.comm) != 0) return;
    const StreamSettings& settings = plan.settings.stream;
    sender_ = std::make_unique<Sender>(
        read_stream_address(settings.address, "option -cosim_stream_address"),
        Json{{"concord", CONCORD_VERSION},
             {"model", plan.model.name},
             {"start", plan.settings.start},
             {"stop", plan.settings.stop},
             {"names", columns_.names},
             {"units", columns_.units},
             {"display_units", columns_.display}});
  });
}

RowStream::~RowStream() = default;

std::string RowStream::address() const { return sender_->address().text(); }

/// Outputs, states and inputs whose names are wanted, each name once.
void RowStream::choose() {
  const SimulationPlan& plan = simulation_.plan();
  const RankNetwork& own = simulation_.subsystems();
  const Network& network = own.network();
  const auto wanted = listed_names(plan.settings.stream.variables);
  const std::vector<std::string>* const lists[] = {&network.output_names(), &network.state_names(),
                                                   &network.input_names()};
  std::vector<std::string> all;
  for (const auto* list : lists) all.insert(all.end(), list->begin(), list->end());
  const auto chosen = chosen_names(wanted, all, "what is streamed (option -cosim_stream)");
  std::unordered_set<std::string> left(chosen.begin(), chosen.end());
  std::vector<std::optional<std::size_t>> position(network.n_subsystems());
  for (std::size_t k = 0; k < own.n_own(); ++k)
    if (plan.share.rank_of(own.global(k)) == rank_in(plan.comm)) position[own.global(k)] = k;
  const auto take = [&](Kind kind, const auto& range_of, const auto& own_range_of,
                        const auto SubsystemDescription::*variables) {
    for (std::size_t g = 0; g < network.n_subsystems(); ++g) {
      const IndexRange range = range_of(g);
      for (std::size_t i = 0; i < range.size(); ++i) {
        const std::string& name = (*lists[static_cast<std::size_t>(kind)])[range.first + i];
        if (left.erase(name) == 0) continue;
        if (position[g]) {
          columns_.column.push_back(columns_.total);
          sources_.push_back({kind, own_range_of(*position[g]).first + i});
        }
        columns_.names.push_back(name);
        const SubsystemEntry& entry = plan.model.subsystems[g];
        const auto& variable = (entry.description.*variables)[i];
        columns_.units.push_back(variable.unit);
        columns_.display.push_back(entry.shown_unit(variable));
        ++columns_.total;
        wants_states_ = wants_states_ || kind == Kind::state;
      }
    }
  };
  take(
      Kind::output, [&](std::size_t g) { return network.outputs_of(g); },
      [&](std::size_t k) { return own.outputs_of(k); }, &SubsystemDescription::outputs);
  take(
      Kind::state, [&](std::size_t g) { return network.states_of(g); },
      [&](std::size_t k) { return own.states_of(k); }, &SubsystemDescription::states);
  take(
      Kind::input, [&](std::size_t g) { return network.inputs_of(g); },
      [&](std::size_t k) { return own.inputs_of(k); }, &SubsystemDescription::inputs);
  if (wants_states_) states_.resize(own.n_states());
}

void RowStream::start() {
  const CommunicationPoint& point = simulation_.stepper().point();
  send(point.time, point, {});
}

void RowStream::step_accepted(const StepReport& report) {
  events_ += report.events.size();
  send(report.step.end, *report.point, report.states);
}

void RowStream::send(double time, const CommunicationPoint& point, std::span<const double> states) {
  if (wants_states_ && states.empty()) {
    simulation_.gather_states(states_);
    states = states_;
  }
  own_.clear();
  for (const auto& [kind, index] : sources_)
    own_.push_back(kind == Kind::state    ? states[index]
                   : kind == Kind::output ? point.outputs[index].value
                                          : point.inputs[index].value);
  const auto whole = exchange_->whole_rows(own_, {0, 1}, 1);
  ++rows_;
  if (sender_) sender_->send(time, whole, rows_, events_);
}

void RowStream::end(std::string_view status, int exit_code) {
  if (sender_) sender_->end(status, exit_code);
}

}  // namespace concord
