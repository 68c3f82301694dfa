#pragma once

#include <string>
#include <vector>

#include "record/results_reader.hpp"

namespace concord {

/// Of one variable of A against B, over the compared rows.
struct VariableError {
  std::string name, unit;
  double relative = 0.0;         ///< sqrt(sum (a-b)^2 / sum b^2)
  double maximum = 0.0;          ///< max |a-b|, in the unit
  double time_of_maximum = 0.0;  ///< s
  double range = 0.0;            ///< of B; its size where it is constant
  std::string display = {};      ///< unit to show it in
  double factor = 1.0;           ///< of a difference in that unit

  /// The maximum over the range: 0 where both are 0, infinite where only B is.
  double of_range() const;
};

struct Comparison {
  std::vector<VariableError> errors;            ///< in the order of A
  std::vector<std::string> not_in_a, not_in_b;  ///< variables that one file lacks
  std::size_t rows = 0;                         ///< of A, that lie in the time of B
  double begin = 0.0, end = 0.0;                ///< s, of these
};

/// The error of the results A against the reference B at the communication points of A: B is
/// interpolated where its grid differs (Resampling), and rows at events are compared with what
/// follows the same event of B. `wanted`: names and patterns; none means all but balance
/// errors and residuals of constraints.
/// Throws InputError where nothing is in common.
Comparison compared(const ResultsReader& a, const ResultsReader& b,
                    const std::vector<std::string>& wanted);

}  // namespace concord
