#include "settings/idle_options.hpp"

#include <algorithm>

#include "concord/errors.hpp"
#include "support/options.hpp"

namespace concord {

std::vector<std::string> idle_options(const Settings& settings) {
  std::vector<std::string> idle;
  const auto tell = [&](bool without_effect, const char* name, const char* needs) {
    if (without_effect && options::has(name)) {
      idle.push_back("-" + std::string(name) + ": " + needs);
    }
  };
  const bool estimates = settings.method.estimate != ErrorEstimate::none;
  for (const char* name : {"cosim_adapt_rtol", "cosim_adapt_atol"}) {
    tell(!estimates, name, "a tolerance of -cosim_adapt predictor and richardson");
  }
  tell(settings.adapt == Adapt::none, "cosim_step_min", "a limit of -cosim_adapt");
  for (const char* name : {"snes_rtol", "snes_atol", "snes_stol"}) {
    tell(true, name, "-cosim_rtol and -cosim_atol decide when the coupling has converged");
  }
  return idle;
}

/// -missiles_ is also the prefix of PETSc's objects in the estimators' linear system.
void refuse_unknown_missiles_options() {
  const std::string prefix = "missiles_";
  std::vector<std::string> known;
  for (const auto& option : option_table()) {
    if (option.name.starts_with(prefix)) {
      known.push_back("-" + option.name);
    }
  }
  for (const auto& name : options::given(prefix)) {
    const auto begins = [&](const char* part) { return options::begins_with(name, prefix + part); };
    const bool of_petsc = begins("ksp_") || begins("pc_") || begins("sub_") || begins("mat_");
    if (of_petsc || std::find(known.begin(), known.end(), "-" + name) != known.end()) {
      continue;
    }
    const auto similar = nearest("-" + name, known);
    throw InputError("unknown option -" + name +
                     (similar ? "; did you mean " + *similar + "?" : ".") +
                     " Allowed: " + joined(known) +
                     ", and PETSc's with the prefix: -missiles_ksp_..., -missiles_pc_...");
  }
}

}  // namespace concord
