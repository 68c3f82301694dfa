#include "simulation/idle_options.hpp"

#include <algorithm>

#include "concord/errors.hpp"
#include "support/options.hpp"

namespace concord {
namespace {

void refuse_without_control(const Settings& settings) {
  for (const char* name : {"cosim_adapt_rtol", "cosim_adapt_atol"}) {
    if (settings.method.estimate == ErrorEstimate::none && options::has(name)) {
      throw InputError("option -" + std::string(name) +
                       " is a tolerance of -cosim_adapt predictor, "
                       "richardson and richardson_modified, and has no effect with -cosim_adapt " +
                       std::string(word(settings.adapt)) + "; choose one of them, or leave it out");
    }
  }
  if (settings.adapt == Adapt::none && options::has("cosim_step_min")) {
    throw InputError(
        "option -cosim_step_min is a limit of -cosim_adapt, and has no effect without it; choose "
        "-cosim_adapt predictor, iteration or richardson, or leave it out");
  }
}

/// Convergence is decided by the coupling tolerance, not by SNES's own test.
void refuse_solver_tolerances() {
  for (const char* name : {"snes_rtol", "snes_atol", "snes_stol"}) {
    if (options::has(name)) {
      throw InputError("option -" + std::string(name) +
                       " has no effect: -cosim_rtol and -cosim_atol decide when the coupling has "
                       "converged; use them, or leave it out");
    }
  }
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

}  // namespace

void refuse_idle_options(const Settings& settings) {
  refuse_without_control(settings);
  refuse_solver_tolerances();
  refuse_unknown_missiles_options();
}

}  // namespace concord
