#pragma once

#include <optional>
#include <string>
#include <vector>

namespace concord {

/// Of one run of a study.
struct WorkPoint {
  std::string type;
  double step = 0.0;   ///< s
  double error = 0.0;  ///< of the worst output, in units of its range
  double work = 0.0;   ///< what counts: evaluations of right-hand sides, or of the coupling
};

/// A method and its step for a wanted error.
struct Advice {
  std::string type;
  double step = 0.0;
  double work = 0.0;
  bool reached = true;  ///< a run of the study was as good; else the step follows from its order
};

/// The method that reaches `wanted` with the least work. Between two steps of a study, one of which
/// is too large, step and work go by the line through both in logarithms; where no method has
/// reached it, the line through the two smallest steps is continued. Nothing where that leads
/// nowhere. `points`: of each method by falling step.
std::optional<Advice> advice_for(double wanted, const std::vector<WorkPoint>& points);

}  // namespace concord
