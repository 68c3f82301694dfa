#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "subsystem/subsystem.hpp"

namespace concord {

class UserFunctions;

/// 0 = gamma(y) with the unknown lambda, as a subsystem without states, so that every room that
/// connects, exchanges and solves treats it like any other (Arnold 2012, coupling by constraints).
///
/// Inputs: `guess`, the unknown itself, then the outputs y that gamma is made of, by their names.
/// Outputs: `value` = lambda, which feeds inputs; `residual` = gamma(y); and `corrected` = lambda -
/// gamma(y), which is connected back to `guess`: the coupling's row guess - corrected is gamma(y).
struct ConstraintDescription {
  std::string unknown;
  double start = 0.0;
  std::string equation;
  std::string place;                 ///< begins error messages about the equation
  std::vector<std::string> outputs;  ///< that the equation names, "subsystem.output"
  std::unordered_map<std::string, double> constants;    ///< that it may name, too
  std::shared_ptr<const UserFunctions> functions = {};  ///< that it may call; null: none
  ConstraintKind kind = ConstraintKind::direct;
};

/// Positions in the lists of variables.
inline constexpr std::size_t constraint_guess = 0;
inline constexpr const char* constraint_guess_name = "guess";
inline constexpr const char* constraint_value_name = "value";
inline constexpr const char* constraint_corrected_name = "corrected";

SubsystemDescription describe_constraint(const ConstraintDescription& constraint);

/// Throws InputError where the equation cannot be compiled.
std::unique_ptr<Subsystem> make_constraint(SubsystemDescription description,
                                           const ConstraintDescription& constraint);

}  // namespace concord
