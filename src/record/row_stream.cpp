#include "record/row_stream.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <unordered_set>
#include <utility>

#include "concord/errors.hpp"
#include "support/agreement.hpp"
#include "support/name_patterns.hpp"
#include "support/ranks.hpp"
#include "support/socket_watch.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Json = nlohmann::json;

constexpr int until_last_words = 1000;  // ms that the end of the run waits for those who watch

/// What one macro-step listens to at most, and takes for a message: whoever floods the socket holds
/// up nobody.
constexpr int most_heard = 1000, most_bytes = 65536;
constexpr std::size_t most_events_told = 20;

constexpr char wishes = '\2';  // what a message to the run begins with, before the token

Json row_of(double time, std::span<const double> values) {
  Json row = Json::array({time});
  for (const double value : values) row.push_back(value);
  return row;
}

}  // namespace

/// The socket, which hears who subscribes: who names the token, which leads every message, gets all
/// from then on, and may set what is among the targets.
class RowStream::Sender {
 public:
  Sender(StreamAddress address, Json run, const StreamSets& sets)
      : address_(std::move(address)),
        run_(std::move(run)),
        sets_(sets),
        socket_(context_, zmq::socket_type::xpub),
        watch_(context_, socket_) {
    socket_.set(zmq::sockopt::xpub_manual, 1);
    socket_.set(zmq::sockopt::xpub_verboser, 1);
    socket_.set(zmq::sockopt::linger, until_last_words);
    socket_.set(zmq::sockopt::maxmsgsize, std::int64_t{most_bytes});
    if (sets.any() && address_.has_token && address_.token.empty())
      throw InputError("option -cosim_stream_address: " + address_.text() +
                       " lets everybody in, and -cosim_stream_set lets them act; give a token");
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

  struct Beside {
    std::size_t rows, events;        ///< so far
    std::span<const double> before;  ///< left limits, where something has happened
    Json happened;
  };
  void send(double time, std::span<const double> values, const Beside& beside) {
    if (!sets_.any()) hear();  // else before the macro-step, for its wishes
    if (!watched_) return;
    Json message{{"row", row_of(time, values)}, {"rows", beside.rows}, {"events", beside.events}};
    if (!beside.happened.empty()) message["happened"] = beside.happened;
    if (!beside.before.empty()) message["left"] = beside.before;
    say(message);
  }
  void end(std::string_view status, int exit_code) {
    hear();
    say({{"end", {{"status", status}, {"code", exit_code}}}});
  }

  std::vector<StreamSets::Wish> take_wishes() {
    hear();
    return std::exchange(wishes_, {});
  }
  void planned(const StreamSets::Wish& wish) {
    say({{"planned",
          {{"name", sets_.targets()[wish.target].name},
           {"value", wish.value},
           {"time", sets_.planned_for(wish.target)}}}});
  }
  void too_late(const StreamSets::Wish& wish) {
    refuse(sets_.targets()[wish.target].name, "the run ends before it could act");
  }
  void done(const StreamSets::Done& done) {
    say({{"set",
          {{"name", sets_.targets()[done.target].name},
           {"value", done.value},
           {"time", done.time}}}});
  }

 private:
  void refuse(const std::string& name, const std::string& why) {
    say({{"refused", {{"name", name}, {"why", why}}}});
  }

  void say(const Json& message) {
    const std::string text = message.dump();
    const auto more = zmq::send_flags::dontwait | zmq::send_flags::sndmore;
    repeated([&] { return socket_.send(zmq::buffer(address_.token), more); });
    repeated([&] { return socket_.send(zmq::buffer(text), zmq::send_flags::dontwait); });
  }

  /// A subscription begins with a byte 1, its end with a byte 0, what is to be set with a byte 2.
  void hear() {
    watch_.catch_up();
    bool come = false;
    for (int i = 0; i < most_heard && watch_.take_message(heard_); ++i) {
      const std::string_view said(reinterpret_cast<const char*>(heard_.data()), heard_.size());
      if (said.empty() || !said.substr(1).starts_with(address_.token)) continue;
      const std::string_view rest = said.substr(1 + address_.token.size());
      if (said.front() == wishes && sets_.any()) note_wishes(rest);
      if (!rest.empty()) continue;
      if (said.front() == '\1') socket_.set(zmq::sockopt::subscribe, address_.token);
      if (said.front() == '\0') socket_.set(zmq::sockopt::unsubscribe, address_.token);
      come = come || said.front() == '\1';
    }
    if (!come) return;
    watched_ = true;
    Json run = run_;
    for (std::size_t i = 0; i < sets_.targets().size(); ++i) {
      const StreamTarget& target = sets_.targets()[i];
      Json one{{"name", target.name}, {"unit", target.unit}, {"value", sets_.value(i)}};
      if (target.least) one["least"] = *target.least, one["most"] = *target.most;
      run["set"].push_back(std::move(one));
    }
    say({{"run", run}});
  }

  /// {"set": {"car.pedal": 0.5}}
  void note_wishes(std::string_view text) {
    const Json said = Json::parse(text, nullptr, false);
    if (!said.is_object() || !said.contains("set") || !said["set"].is_object())
      return refuse("", "what is to be set is said as {\"set\": {\"car.pedal\": 0.5}}");
    for (const auto& [name, value] : said["set"].items()) {
      const auto why = value.is_number() ? sets_.refusal(name, value.get<double>())
                                         : std::optional<std::string>("give a number");
      if (why)
        refuse(name, *why);
      else
        wishes_.push_back({*sets_.find(name), value.get<double>()});
    }
  }

  StreamAddress address_;
  Json run_;
  const StreamSets& sets_;
  std::vector<StreamSets::Wish> wishes_;
  zmq::context_t context_;
  zmq::socket_t socket_;
  SocketWatch watch_;
  std::vector<std::uint8_t> heard_;
  bool watched_ = false;
};

RowStream::RowStream(SimulationCore& simulation, StreamSets& sets)
    : simulation_(simulation), sets_(sets) {
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
             {"names", columns_.names.all()},
             {"units", columns_.units.all()},
             {"display_units", columns_.display.all()},
             {"set", Json::array()}},
        sets_);
  });
}

RowStream::~RowStream() = default;

const StreamAddress& RowStream::address() const { return sender_->address(); }

/// Outputs, states and inputs whose names are wanted, each name once.
void RowStream::choose() {
  const SimulationPlan& plan = simulation_.plan();
  const RankNetwork& own = simulation_.subsystems();
  const Network& network = own.network();
  const auto wanted = listed_names(plan.settings.stream.variables);
  const WrittenVariables& written = plan.written;
  const std::vector<std::string>* const lists[] = {&written.output_names(), &written.state_names(),
                                                   &written.input_names()};
  std::vector<std::string> all;
  for (const auto* list : lists) all.insert(all.end(), list->begin(), list->end());
  const auto chosen = chosen_names(wanted, all, "what is streamed (option -cosim_stream)");
  std::unordered_set<std::string> left(chosen.begin(), chosen.end());
  std::vector<std::optional<std::size_t>> position(network.n_subsystems());
  for (std::size_t k = 0; k < own.n_own(); ++k)
    if (plan.share.rank_of(own.global(k)) == rank_in(plan.comm)) position[own.global(k)] = k;
  const std::vector<WrittenPart> parts = written_parts(plan.model, network);
  const auto take = [&](const auto SubsystemDescription::*variables, const auto& source_of) {
    for (const WrittenPart& part : parts) {
      const SubsystemEntry& entry = *part.entry;
      const auto& own_variables = entry.description.*variables;
      for (std::size_t i = 0; i < own_variables.size(); ++i) {
        std::string name = whole_name(entry.description, own_variables[i].name);
        if (left.erase(name) == 0) continue;
        if (position[part.subsystem]) {
          columns_.column.push_back(columns_.total);
          sources_.push_back(source_of(part, i));
          wants_states_ = wants_states_ || sources_.back().kind == Kind::state;
        }
        columns_.names.push_back(std::move(name));
        columns_.units.push_back(own_variables[i].unit);
        columns_.display.push_back(entry.shown_unit(own_variables[i]));
        ++columns_.total;
      }
    }
  };
  const auto output = [&](std::size_t global) { return own.local_output(global); };
  take(&SubsystemDescription::outputs, [&](const WrittenPart& part, std::size_t i) {
    return Source{Kind::output, output(part.outputs.first + i)};
  });
  take(&SubsystemDescription::states, [&](const WrittenPart& part, std::size_t i) {
    const std::size_t k = *position[part.subsystem];
    return Source{Kind::state, own.states_of(k).first + part.states.first + i -
                                   network.states_of(part.subsystem).first};
  });
  take(&SubsystemDescription::inputs, [&](const WrittenPart& part, std::size_t i) {
    const WrittenInput& input = part.inputs[i];
    return input.within ? Source{Kind::input, output(input.within->output), input.within}
                        : Source{Kind::input, own.local_input(input.input)};
  });
  if (wants_states_) states_.resize(own.n_states());
}

void RowStream::start() {
  const CommunicationPoint& point = simulation_.stepper().point();
  send(point.time, point, {}, {}, nullptr);
}

void RowStream::step_accepted(const StepReport& report) {
  events_ += report.events.size();
  const auto done = sets_.take_done(report);
  send(report.step.end, *report.point, report.states, report.events,
       report.events.empty() ? nullptr : report.left);
  for (const StreamSets::Done& each : done)
    if (sender_) sender_->done(each);
}

/// The first rank hears them; all plan the same.
void RowStream::take_wishes() {
  if (!sets_.any()) return;
  std::optional<std::string> heard;
  std::map<std::size_t, double> last;
  if (sender_)
    for (const auto& [target, value] : sender_->take_wishes()) last[target] = value;
  for (const auto& [target, value] : last)
    heard = heard.value_or("") + std::to_string(target) + ' ' + exact_number(value) + '\n';
  heard = agree_on_text(simulation_.plan().comm, heard);
  if (!heard) return;
  std::vector<StreamSets::Wish> wishes;
  std::istringstream lines(*heard);
  std::string value;
  for (std::size_t target = 0; lines >> target >> value;)
    wishes.push_back({target, parse_number(value).value()});
  const bool in_time = sets_.plan(wishes);
  for (const StreamSets::Wish& wish : wishes)
    if (sender_) in_time ? sender_->planned(wish) : sender_->too_late(wish);
}

/// Who has done what, of an instant.
nlohmann::json RowStream::told(std::span<const EventReport> events) const {
  Json result = Json::array();
  const auto& subsystems = simulation_.plan().model.subsystems;
  for (const EventReport& event : events.first(std::min(events.size(), most_events_told)))
    result.push_back({subsystems[event.subsystem].description.name, event.what});
  return result;
}

/// On the first rank; until the next one. Collective.
std::span<const double> RowStream::whole_row(std::span<const Sample> outputs,
                                             std::span<const Sample> inputs,
                                             std::span<const double> states) {
  own_.clear();
  for (const auto& [kind, index, within] : sources_)
    own_.push_back(kind == Kind::state    ? states[index]
                   : kind == Kind::output ? outputs[index].value
                   : within               ? within->arriving(outputs[index]).value
                                          : inputs[index].value);
  return exchange_->whole_rows(own_, {0, 1}, 1);
}

void RowStream::send(double time, const CommunicationPoint& point, std::span<const double> states,
                     std::span<const EventReport> events, const LeftLimits* left) {
  if (wants_states_ && states.empty()) {
    simulation_.gather_states(states_);
    states = states_;
  }
  std::vector<double> before;
  if (left != nullptr) {
    const auto whole = whole_row(left->outputs, left->inputs, left->states);
    before.assign(whole.begin(), whole.end());
  }
  const auto whole = whole_row(point.outputs, point.inputs, states);
  ++rows_;
  if (sender_) sender_->send(time, whole, {rows_, events_, before, told(events)});
}

void RowStream::end(std::string_view status, int exit_code) {
  if (sender_) sender_->end(status, exit_code);
}

}  // namespace concord
