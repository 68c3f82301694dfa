#include "record/stream_reader.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "concord/errors.hpp"

namespace concord {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_kept = 2000;

/// JSON has no other numbers than finite ones.
double number_in(const Json& value) { return value.is_null() ? NAN : value.get<double>(); }

}  // namespace

StreamReader::StreamReader(const StreamAddress& address)
    : address_(address), socket_(context_, zmq::socket_type::xsub), watch_(context_, socket_) {
  socket_.set(zmq::sockopt::linger, 0);
  try {
    socket_.connect(address.endpoint);
  } catch (const zmq::error_t& error) {
    throw InputError("cannot watch " + address.endpoint + ": " + error.what());
  }
  say('\1' + address.token);
}

/// What begins with a byte 1 is a subscription, with a byte 2 something to be set.
void StreamReader::say(const std::string& message) {
  repeated([&] { return socket_.send(zmq::buffer(message), zmq::send_flags::dontwait); });
}

void StreamReader::set(const std::string& values) {
  say('\2' + address_.token + "{\"set\": " + values + "}");
}

void StreamReader::read(Clock::time_point until) {
  do {
    const auto waits = watch_.wait(until);
    if (waits.message && watch_.take_message(message_)) {
      take(std::span(message_).subspan(std::min(address_.token.size(), message_.size())));
    } else if (waits.change && watch_.take_change() == SocketWatch::Change::lost) {
      lost_ = !status;
    }
  } while (!status && !lost_ && Clock::now() < until);
}

void StreamReader::take(std::span<const std::uint8_t> bytes) {
  const Json said = Json::parse(bytes.begin(), bytes.end(), nullptr, false);
  try {
    if (said.contains("run")) {
      const Json& run = said.at("run");
      run.at("model").get_to(model);
      run.at("names").get_to(names);
      run.at("units").get_to(units);
      run.at("display_units").get_to(display);
      run.at("start").get_to(start);
      run.at("stop").get_to(stop);
      if (units.size() != names.size() || display.size() != names.size()) throw InputError("");
      targets.clear();
      for (const Json& one : run.at("set")) {
        StreamTarget& target = targets.emplace_back();
        one.at("name").get_to(target.name);
        one.at("unit").get_to(target.unit);
        target.start = number_in(one.at("value"));
        if (one.contains("least")) target.least = number_in(one.at("least"));
        if (one.contains("most")) target.most = number_in(one.at("most"));
      }
    } else if (said.contains("row")) {
      const Json& row = said.at("row");
      if (row.size() != names.size() + 1) throw InputError("");
      Row taken{number_in(row.at(0)), Clock::now(), {}};
      if (said.contains("left")) {
        Row left = taken;
        for (std::size_t i = 0; i < names.size(); ++i)
          left.values.push_back(number_in(said.at("left").at(i)));
        keep(std::move(left));
      }
      for (std::size_t i = 0; i < names.size(); ++i)
        taken.values.push_back(number_in(row.at(i + 1)));
      said.at("rows").get_to(rows);
      said.at("events").get_to(events);
      if (said.contains("happened"))
        for (const Json& event : said.at("happened"))
          told_events.add(
              {taken.time, event.at(0).get<std::string>(), event.at(1).get<std::string>()});
      keep(std::move(taken));
    } else if (said.contains("planned")) {
      note(ToldSet::Kind::planned, said.at("planned"));
    } else if (said.contains("set")) {
      note(ToldSet::Kind::done, said.at("set"));
    } else if (said.contains("refused")) {
      told_sets.add({ToldSet::Kind::refused, said.at("refused").at("name").get<std::string>(), 0.0,
                     0.0, said.at("refused").at("why").get<std::string>()});
    } else {
      said.at("end").at("code").get_to(exit_code);
      status = said.at("end").at("status").get<std::string>();
    }
  } catch (const std::exception&) {
    throw InputError("what is at " + address_.endpoint + " streams no run of Concord: " +
                     std::to_string(bytes.size()) + " bytes that say something else");
  }
}

void StreamReader::note(ToldSet::Kind kind, const nlohmann::json& said) {
  const ToldSet told{kind, said.at("name").get<std::string>(), number_in(said.at("value")),
                     number_in(said.at("time"))};
  for (StreamTarget& target : targets)
    if (kind == ToldSet::Kind::done && target.name == told.name) target.start = told.value;
  told_sets.add(told);
}

/// The last row always; of those before one of `every_`, of which there are more the longer it
/// goes.
void StreamReader::keep(Row row) {
  if (!history_.empty() && history_.back().time < row.time) before_last_ = history_.back();
  if (!history_.empty() && (taken_ - 1) % every_ != 0) history_.pop_back();
  history_.push_back(std::move(row));
  ++taken_;
  if (history_.size() < most_kept) return;
  const Row last = history_.back();
  for (std::size_t i = 1; 2 * i < history_.size(); ++i) history_[i] = std::move(history_[2 * i]);
  history_.resize((history_.size() + 1) / 2);
  every_ *= 2;
  if ((taken_ - 1) % every_ != 0) history_.push_back(last);
}

}  // namespace concord
