#pragma once

#include <string>
#include <vector>

#include "cli/study_runs.hpp"

namespace concord {

/// What is counted as work in a study: evaluations of right-hand sides where every run tells them,
/// else integrations of all subsystems.
struct StudyWork {
  bool of_rhs = true;
  double of(const StudyRun& run) const {
    return static_cast<double>(of_rhs ? run.rhs : run.evaluations);
  }
  const char* name() const {
    return of_rhs ? "evaluations of right-hand sides" : "coupling evaluations";
  }
};

/// gnuplot commands for the error of each method over its step and over its work, all axes
/// logarithmic. `runs`: completed ones.
std::string study_script(const std::string& title, const std::vector<StudyRun>& runs,
                         const StudyWork& work);

}  // namespace concord
