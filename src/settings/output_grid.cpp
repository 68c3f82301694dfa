#include "settings/output_grid.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "concord/errors.hpp"
#include "files/text_file.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

OutputGrid OutputGrid::every(double interval) {
  OutputGrid grid;
  grid.interval_ = interval;
  return grid;
}

OutputGrid OutputGrid::at(std::vector<double> times) {
  OutputGrid grid;
  grid.listed_ = true;
  grid.times_ = std::move(times);
  return grid;
}

void OutputGrid::lay(double start, double stop) {
  start_ = start;
  rounding_ =
      16.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(start), std::abs(stop));
  if (interval_ > 0.0 && (interval_ < 4.0 * rounding_ || (stop - start) / interval_ > 1e15)) {
    throw InputError("option -cosim_output_interval: found " + short_number(interval_) +
                     ", which is too small for these start and stop times; give at least " +
                     short_number(std::max(4.0 * rounding_, (stop - start) / 1e15)));
  }
  const auto is_outside = [&](double t) { return t < start - rounding_ || t > stop + rounding_; };
  outside_ = static_cast<std::size_t>(std::ranges::count_if(times_, is_outside));
  if (listed_ && outside_ == times_.size()) {
    throw InputError("option -cosim_output_times: all " + std::to_string(outside_) +
                     " times, from " + short_number(times_.front()) + " to " +
                     short_number(times_.back()) + " s, lie outside the experiment, from " +
                     short_number(start) + " to " + short_number(stop) +
                     " s, of which there would be no row; give times within");
  }
}

bool OutputGrid::same(double a, double b) const { return std::abs(a - b) <= rounding_; }

double OutputGrid::next(double t) const {
  if (listed_) {
    const auto behind = std::upper_bound(times_.begin(), times_.end(), t + rounding_);
    return behind == times_.end() ? std::numeric_limits<double>::infinity() : *behind;
  }
  if (!given()) return std::numeric_limits<double>::infinity();
  double k = std::floor((t - start_) / interval_);
  while (start_ + k * interval_ <= t + rounding_) ++k;
  return start_ + k * interval_;
}

double OutputGrid::count(double begin, double end) const {
  if (!listed_) return given() ? (end - begin) / interval_ : 0.0;
  return static_cast<double>(std::ranges::upper_bound(times_, end) -
                             std::ranges::lower_bound(times_, begin));
}

bool OutputGrid::reaches(double begin, double end) const {
  const double there = next(end - 2.0 * rounding_);
  return same(there, end) && !same(there, begin);
}

std::vector<double> read_output_times(const std::string& path) {
  std::istringstream lines(read_text_file(path, "a file of times"));
  std::vector<double> times;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string field = line.substr(0, line.find_first_of("#,;\t\r"));
    const auto texts = words(field);
    if (texts.empty() && line.find_first_of(",;\t") == std::string::npos) continue;
    const auto time = texts.size() == 1 ? parse_number(texts[0]) : std::nullopt;
    const auto refuse = [&](const std::string& wanted) {
      throw InputError(path + ":" + std::to_string(number) + ": found " + in_quotes(field) +
                       ", but -cosim_output_times wants " + wanted);
    };
    if (!time && times.empty() && number == 1) continue;
    if (!time) refuse("one finite time per line, or a CSV file with times in its first column");
    if (!times.empty() && *time <= times.back()) refuse("times that ascend");
    times.push_back(*time);
  }
  if (times.empty()) {
    throw InputError(path +
                     ": holds no times, but -cosim_output_times wants one per line, or a "
                     "CSV file with times in its first column");
  }
  return times;
}

}  // namespace concord
