#pragma once

#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "record/stream_reader.hpp"

namespace concord {

/// What is shown of a run that goes on, whatever tells of it.
struct WatchedRun {
  std::string model, status;
  double start = 0.0, now = 0.0;  ///< s
  std::optional<double> stop;
  std::size_t rows = 0, events = 0;
  double last_distance = 0.0;  ///< s, between the last two rows
  double left = NAN;           ///< s of wall time; not a number where that is not known
  struct Variable {
    std::string name, unit;      ///< the one to show it in
    std::vector<double> values;  ///< at even distances of time, the last one now
  };
  std::vector<Variable> variables;  ///< some of them
};

/// What the results file knows. Throws InputError.
WatchedRun run_in_file(const std::string& path, const std::vector<std::string>& wanted);

/// What has come of a stream, which has rows. Throws InputError.
WatchedRun run_in_stream(const StreamReader& stream, const std::vector<std::string>& wanted);

/// Rows of some variables, in the units to show them in.
struct WatchedRows {
  std::vector<double> time;  ///< s
  std::vector<WatchedRun::Variable> variables;
};

/// Those behind that time, s, of many as many as suffice for a picture. Throw InputError.
WatchedRows rows_in_file(const std::string& path, const std::vector<std::string>& wanted,
                         double since);
Latest<ToldEvent> events_in_file(const std::string& path);
WatchedRows rows_in_stream(const StreamReader& stream, const std::vector<std::string>& wanted,
                           double since);

/// Until there are rows, or the run has ended. Throws InputError where nobody is there,
/// SimulationError where the run is no more.
void wait_for_stream(StreamReader& stream, const StreamAddress& address);

/// In so many seconds.
StreamReader::Clock::time_point time_in(double seconds);

}  // namespace concord
