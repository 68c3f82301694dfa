#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record/stream_address.hpp"
#include "support/socket_watch.hpp"

namespace concord {

/// What a run streams (RowStream), as it comes.
class StreamReader {
 public:
  using Clock = SocketWatch::Clock;

  /// Throws InputError where the address cannot be used.
  explicit StreamReader(const StreamAddress& address);

  /// Takes what comes until then; returns earlier where the run ends or is no more. Throws
  /// InputError where something else speaks there.
  void read(Clock::time_point until);

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
  /// Of all rows as many as suffice for a picture; the last one is there.
  const std::vector<Row>& history() const { return history_; }
  const Row& before_last() const { return before_last_; }

  std::string model;
  std::vector<std::string> names, units, display;  ///< the last: units to show them in
  double start = 0.0, stop = 0.0;                  ///< s
  std::size_t rows = 0, events = 0;
  std::optional<std::string> status;  ///< at its end
  int exit_code = 0;

 private:
  void take(std::span<const std::uint8_t> bytes);
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
