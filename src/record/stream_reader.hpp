#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "network/model.hpp"
#include "record/stream_address.hpp"
#include "support/socket_watch.hpp"

namespace concord {

/// The last entries of a list that grows, by their numbers in it.
template <class T>
class Latest {
 public:
  void add(T entry) {
    constexpr std::size_t most = 1000;
    kept_.push_back(std::move(entry));
    if (kept_.size() <= most) return;
    kept_.pop_front();
    ++first_;
  }
  std::size_t end() const { return first_ + kept_.size(); }
  /// Those that are left of what begins with that number.
  std::vector<T> from(std::size_t number) const {
    const std::size_t skipped = std::min(kept_.size(), number - std::min(number, first_));
    return {kept_.begin() + static_cast<std::ptrdiff_t>(skipped), kept_.end()};
  }

 private:
  std::deque<T> kept_;
  std::size_t first_ = 0;
};

/// What has happened in a run.
struct ToldEvent {
  double time;  ///< s
  std::string subsystem, what;
};

/// What has become of what somebody has set.
struct ToldSet {
  enum class Kind { planned, done, refused };
  Kind kind;
  std::string name;
  double value = 0.0;
  double time = 0.0;  ///< s
  std::string why{};  ///< it was refused
};

/// What a run streams (RowStream), as it comes.
class StreamReader {
 public:
  using Clock = SocketWatch::Clock;

  /// Throws InputError where the address cannot be used.
  explicit StreamReader(const StreamAddress& address);

  /// Takes what comes until then; returns earlier where the run ends or is no more. Throws
  /// InputError where something else speaks there.
  void read(Clock::time_point until);

  /// What is to be set, {"car.pedal": 0.5}; `told_sets` has the answers.
  void set(const std::string& values);

  bool is_connected() const { return watch_.open() > 0; }
  bool met_strangers() const { return watch_.met_strangers(); }
  /// Whether it has been there and has gone without a word.
  bool is_lost() const { return lost_; }

  bool has_rows() const { return !history_.empty(); }
  struct Row {
    double time = 0.0;  ///< s
    Clock::time_point come;
    std::vector<double> values;
  };
  /// Of all rows as many as suffice for a picture, before those at events their left limits; the
  /// last one is there.
  const std::vector<Row>& history() const { return history_; }
  const Row& before_last() const { return before_last_; }

  std::string model;
  std::vector<std::string> names, units, display;  ///< the last: units to show them in
  double start = 0.0, stop = 0.0;                  ///< s
  std::size_t rows = 0, events = 0;
  Latest<ToldEvent> told_events;
  std::vector<StreamTarget> targets;  ///< that may be set; `start`: as it is
  Latest<ToldSet> told_sets;
  std::optional<std::string> status;  ///< at its end
  int exit_code = 0;

 private:
  void say(const std::string& message);
  void take(std::span<const std::uint8_t> bytes);
  void note(ToldSet::Kind kind, const nlohmann::json& said);
  void keep(Row row);

  StreamAddress address_;
  zmq::context_t context_;
  zmq::socket_t socket_;
  SocketWatch watch_;
  std::vector<std::uint8_t> message_;
  std::vector<Row> history_;
  Row before_last_;
  std::size_t every_ = 1, taken_ = 0;  ///< rows: one of so many is kept, of so many
  bool lost_ = false;
};

}  // namespace concord
