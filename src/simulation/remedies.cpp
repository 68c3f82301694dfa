#include "simulation/remedies.hpp"

#include <algorithm>
#include <sstream>

namespace concord {

double loosest_rtol(const Settings& settings) {
  double loosest = 0.0;
  for (const auto& subsystem : settings.subsystems) {
    loosest = std::max(loosest, subsystem.tolerance.relative);
  }
  return loosest;
}

std::string remedy_of_divergence(const Settings& settings, double last_step) {
  std::ostringstream remedy;
  remedy << "use a smaller -cosim_step";
  if (last_step > 0.0) remedy << " (this macro-step: " << last_step << " s)";
  remedy << ", or ";
  if (settings.method.solve.from_past) {
    remedy << "a method that solves for the inputs (-cosim_type jfm, missiles)";
  } else {
    remedy << (settings.adapt == Adapt::none ? "-cosim_adapt predictor" : "smaller tolerances");
  }
  remedy << "; -cosim_diverged warn goes on all the same";
  return remedy.str();
}

std::string remedy_of_error(const Settings& settings) {
  constexpr double beside = 0.1;
  const double wanted = settings.method.adapt_tolerance.relative;
  const double loosest = loosest_rtol(settings);
  std::ostringstream remedy;
  if (loosest > beside * wanted) {
    remedy << "-subsystem_rtol " << loosest << " is too loose for -cosim_adapt_rtol " << wanted
           << " whatever the macro-step: use a smaller -subsystem_rtol or a larger "
              "-cosim_adapt_rtol";
  } else if (settings.method.solve.iterates &&
             settings.method.tolerance.relative > beside * wanted) {
    remedy << "-cosim_rtol " << settings.method.tolerance.relative
           << " is too loose for -cosim_adapt_rtol " << wanted
           << " whatever the macro-step: use a smaller -cosim_rtol or a larger -cosim_adapt_rtol";
  } else if (settings.by_accuracy) {
    remedy << "use a larger -cosim_accuracy (" << settings.accuracy
           << "): integrators and rounding leave more noise than it allows";
  } else {
    remedy << "use a larger -cosim_adapt_rtol or -cosim_adapt_atol, or a smaller -cosim_step_min";
  }
  return remedy.str();
}

}  // namespace concord
