#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coupling/estimator_settings.hpp"
#include "coupling/schedules.hpp"
#include "coupling/solve.hpp"
#include "signal/hold.hpp"
#include "signal/sizes.hpp"

namespace concord {

/// First guess of an iterative solve: from the estimators, from the last holds, back to the value
/// at t_N, or from a linearly implicit Euler step of the coupled system.
enum class Predictor { missiles, extrapolate, hold, linear_implicit };

template <>
inline std::span<const WordOf<Predictor>> words_of<Predictor>() {
  static constexpr WordOf<Predictor> words[] = {
      {"missiles", Predictor::missiles},
      {"extrapolate", Predictor::extrapolate},
      {"hold", Predictor::hold},
      {"linear_implicit", Predictor::linear_implicit},
  };
  return words;
}

/// How explicit methods find the unknowns of constraints at the end of a macro-step: with the
/// outputs of all subsystems, with those of each subsystem alone, combined, or with those of the
/// last subsystem alone.
enum class Constraints { projection, overlapping, staggered };

template <>
inline std::span<const WordOf<Constraints>> words_of<Constraints>() {
  static constexpr WordOf<Constraints> words[] = {
      {"projection", Constraints::projection},
      {"overlapping", Constraints::overlapping},
      {"staggered", Constraints::staggered},
  };
  return words;
}

/// How explicit methods give back what their holds missed of an input's integral: as a constant on
/// the next macro-steps, or as a bump that vanishes at their ends.
enum class Balance { none, constant, smooth };

template <>
inline std::span<const WordOf<Balance>> words_of<Balance>() {
  static constexpr WordOf<Balance> words[] = {
      {"none", Balance::none},
      {"constant", Balance::constant},
      {"smooth", Balance::smooth},
  };
  return words;
}

/// How a method estimates its own error over a macro-step, for -cosim_adapt.
enum class ErrorEstimate { none, predictor, richardson, richardson_modified };

/// A coupling method: a point in the space schedule x hold x solve, with its tolerances.
struct Method {
  std::string type;  ///< the preset it started from
  Schedule schedule = Schedule::parallel;
  Groups groups;  ///< of the schedule; empty: parallel. Of staggered_grid: two, in parallel inside
  Hold hold = Hold::hermite;
  int hold_order = 0;
  Extrapolation extrapolation = Extrapolation::lagrange;
  Solve solve = Solve::snes;
  std::string snes_type;  ///< default of -snes_type
  Predictor predictor = Predictor::missiles;
  Tolerance tolerance;  ///< eps_rel and eps_abs of the coupling
  int max_it = 50;      ///< m_max
  static constexpr int least_nodes = 2, usual_nodes = 4, most_nodes = 6;
  /// Of a macro-step, where states and inputs are solved for at these; none: chosen by the run
  /// where it estimates errors, from the usual number on.
  std::optional<int> nodes = usual_nodes;
  /// Explicit methods: evaluate outputs with direct feedthrough again with the new inputs, instead
  /// of keeping what the held inputs gave.
  bool consistent_outputs = false;
  Constraints constraints = Constraints::projection;
  Balance balance = Balance::none;
  int balance_spread = 1;         ///< macro-steps over which an error is given back
  bool measures_balance = false;  ///< also without correction
  bool smooth_switching = false;  ///< explicit methods: from the last hold to the new one, C1
  EstimatorSettings estimator;
  ErrorEstimate estimate = ErrorEstimate::none;
  Tolerance adapt_tolerance;  ///< of the step control

  bool takes_steps_twice() const {
    return estimate == ErrorEstimate::richardson || estimate == ErrorEstimate::richardson_modified;
  }
  /// Methods of lower order than the estimators' prediction take their error from it.
  bool compares_with_prediction() const {
    return estimate == ErrorEstimate::predictor && !hold.estimated;
  }
  /// Outputs at communication points are those of what feeds the inputs there: where nothing is
  /// held, and of explicit methods whatever was held before; constraints, which are solved there,
  /// make them so.
  bool makes_outputs_consistent(const Network& network) const {
    return solve.at_nodes || (solve.from_past && (consistent_outputs || network.has_constraints()));
  }
  /// Whether a run chooses how many nodes a macro-step has.
  bool chooses_nodes() const { return !nodes && estimate == ErrorEstimate::predictor; }
  /// Explicit methods whose holds know the last values alone: to them every change is a jump.
  bool knows_only_last_values() const {
    return solve.from_past && hold_order == 0 && !hold.begins_at_last_end;
  }
  /// Whether outputs' slopes are there at each communication point, if anybody gives them.
  bool knows_slopes() const {
    return !solve.from_past || takes_balance() || extrapolation == Extrapolation::hermite;
  }
  /// Whether they belong to the values there: of explicit methods, and where inputs' slopes are not
  /// solved for, they are the holds'.
  bool ends_with_slopes() const {
    return !solve.from_past && (!solve.holds_inputs() || hold.unknowns > 1);
  }
  bool takes_balance() const { return balance != Balance::none || measures_balance; }
  bool shapes_inputs() const { return takes_balance() || smooth_switching; }
  bool rolls_back() const { return solve.iterates || takes_steps_twice(); }
};

/// The presets of -cosim_type, default first.
const std::vector<Method>& method_presets();

template <>
std::span<const WordOf<Method>> words_of<Method>();

inline std::string_view word(const Method& preset) { return preset.type; }

/// Why the combination of choices makes no sense, a reason for each two of them that don't go
/// together; empty where it does.
std::vector<std::string> contradictions(const Method& method);

/// Why the method cannot run on these subsystems ("subsystem 'x' offers no rollback"), one line for
/// each that lacks something; empty where it can.
std::vector<std::string> missing_capabilities(const Method& method, const Model& model);

/// Names of the subsystems that an iterative solve integrates at each evaluation of
/// the coupling function, and of those without rollback, which it replaces by their COSTARICA
/// estimators and integrates once per macro-step.
struct IterationRoles {
  std::vector<std::string> iterated, estimated;
};
IterationRoles iteration_roles(const Model& model);

}  // namespace concord
