#pragma once

#include <string>
#include <vector>

#include "settings/settings.hpp"

namespace concord {

/// Whether -cosim_accuracy decides what no option says: where it is given, or neither -cosim_step
/// nor -cosim_adapt is, nor another method than jfm and missiles of either order: one that was put
/// together by hand is not to take the millions of macro-steps that the default might ask of it.
bool accuracy_decides();

/// The method that reaches an accuracy here with the least work, as -cosim_accuracy chooses it.
struct RecommendedMethod {
  std::string type;
  std::string why;                       ///< what speaks for it
  std::vector<std::string> passed_over;  ///< "jfm: subsystem 'x' offers no rollback"
};
RecommendedMethod recommended_method(const Model& model);

/// Where no option names the method or a part of it and the default cannot run on this model, the
/// first that can, in the order of recommended_method. FMUs that nothing couples are stepped
/// by jacobi.
void choose_what_runs(Settings& settings, const Model& model);

/// The method, the step control and the tolerances of both that are not given, from the accuracy
/// and what the subsystems can do: implicit with predicted errors where that can be, else what
/// comes nearest. The control's own error is to be all that remains.
void choose_by_accuracy(Settings& settings, const Model& model);

/// The integrators' tolerances that are not given, from the accuracy and the method's order.
void integrate_by_accuracy(Settings& settings);

/// The tolerances of groups that are integrated as one (-cosim_paces), from the accuracy and from
/// how often what they miss adds up.
void integrate_groups_by_accuracy(Settings& settings, const Model& model);

/// Those of an integrator that is to reach an accuracy by itself, of each signal's range.
Tolerance integrators_for(double accuracy);

/// The largest macro-step that accuracy allows by itself: a run is to be looked at, too, and what
/// groups put out (-cosim_paces) is not to swing unseen within it.
double largest_step_by_accuracy(const Settings& settings, const Model& model);

/// What was chosen, and whether the estimated error of the run, in units of ranges, is below the
/// accuracy; in words.
std::string described_accuracy(const Settings& settings, std::optional<double> estimate);

}  // namespace concord
