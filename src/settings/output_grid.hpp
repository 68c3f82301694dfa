#pragma once

#include <limits>
#include <string>
#include <vector>

namespace concord {

/// Times at which rows are wanted: start + k interval, never a running sum, or a list. Beyond
/// start and stop there are none.
class OutputGrid {
 public:
  OutputGrid() = default;
  static OutputGrid every(double interval);
  /// Ascending.
  static OutputGrid at(std::vector<double> times);

  bool given() const { return interval_ > 0.0 || listed_; }
  double interval() const { return interval_; }

  /// The experiment; times closer together than `rounding` are one. Throws InputError where the
  /// interval is less, and where no time is within.
  void lay(double start, double stop);
  /// How many of the listed times are not within.
  std::size_t outside() const { return outside_; }

  /// The first time behind t that is not the same; infinity without one.
  double next(double t) const;
  /// How many times there are from begin to end, about.
  double count(double begin, double end) const;
  /// Whether what leads from begin to end comes to one of the times there.
  bool reaches(double begin, double end) const;
  bool same(double a, double b) const;

 private:
  double interval_ = 0.0;
  bool listed_ = false;
  std::vector<double> times_;
  std::size_t outside_ = 0;
  double start_ = 0.0, rounding_ = 0.0;
};

/// The times in a file, one per line or in the first column of a CSV file, whose first line may be
/// a header; blank lines and what follows a # don't count. Throws InputError with file and line
/// where one is no finite number or does not ascend, and where there is none.
std::vector<double> read_output_times(const std::string& path);

}  // namespace concord
