#pragma once

#include <map>
#include <string>
#include <vector>

#include "files/time_table.hpp"
#include "studies/asked_runs.hpp"
#include "studies/least_squares.hpp"

namespace concord {

/// What is known of one measured variable, over all tables.
struct MeasuredVariable {
  std::string name;
  std::size_t values = 0;
  double spread = 0.0;     ///< largest less smallest value; 1 where they are all one
  double deviation = 0.0;  ///< standard deviation of what is measured, in the variable's unit
  bool known = false;      ///< it was given, not estimated
  double residual = 0.0;   ///< root mean square of what the fitted run is off
};

/// A fit that has ended.
struct FittedNumbers {
  LeastSquares least;
  Confidence confidence;
  std::vector<MeasuredVariable> variables;
  Eigen::VectorXd answers;  ///< of the run with the numbers found
};

/// Numbers of a model such that a run goes through measured data: maximum likelihood for errors
/// that are independent and normal, with a standard deviation for each variable, which is
/// estimated where it is not given (reweighted until it stays). It begins with the first rows and
/// goes on with ever more of them: numbers that are a little wrong put what oscillates out of step
/// in the end, where sums of squares have minima of their own.
class DataFit {
 public:
  /// `runs` answer for `tables`. `deviations`: those that are known, by variable. Throws InputError
  /// for names that are in no table, and for fewer values than numbers.
  DataFit(std::vector<FreeNumber> free, const std::vector<TimeTable>& tables,
          const std::map<std::string, double>& deviations, AskedRuns& runs);

  /// Collective on the ranks of the runs.
  FittedNumbers find();

 private:
  struct Datum {
    double time, value;
    std::size_t variable;
    Eigen::Index answer;
  };
  void take(const TimeTable& table);
  Residuals weighted(const Derivatives& found) const;
  Residuals rough(const std::vector<double>& numbers);
  Derivatives exact(const std::vector<double>& numbers);
  std::vector<Varied> varied(const std::vector<double>& numbers) const;
  bool reweigh(const Eigen::VectorXd& answers);
  void approach(LeastSquares& found);
  void improve(LeastSquares& found, double settled);

  std::vector<FreeNumber> free_;
  std::vector<Datum> data_;  ///< what was measured; fields may have been empty
  Eigen::Index answers_ = 0;
  std::vector<MeasuredVariable> variables_;
  double until_ = 0.0;  ///< s: rows behind it do not count
  AskedRuns& runs_;
};

}  // namespace concord
