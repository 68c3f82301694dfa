#pragma once

#include <optional>
#include <string>
#include <variant>

#include "units/base_unit.hpp"

namespace concord {

/// input = factor * output + offset.
struct UnitConversion {
  double factor = 1.0;
  double offset = 0.0;
};

/// Why there is no conversion.
enum class UnitProblem { unknown_from, unknown_to, different_dimensions, periods_and_angles };

/// How a value in the unit `from` becomes one in the unit `to`. Empty texts match anything, equal
/// texts match each other whatever they say; neither reads the units database. Unit texts are those
/// of udunits-2 ("kg.m2/s2", "m^2", "degC", "rpm", "%") and a few more ("-" none, "deg", "rev").
/// Angles count as pure numbers: 1 rad/s is 1/s; but Hz, which counts periods, is not converted to
/// a unit with an angle in it, nor back. Throws InputError when the database of udunits-2 is not
/// installed.
std::variant<UnitConversion, UnitProblem> unit_conversion(const std::string& from,
                                                          const std::string& to);

/// Whether udunits-2 can read the unit; so it can "".
bool is_known_unit(const std::string& unit);

/// "; did you mean 'N.m'?" of "Nm": a unit that udunits-2 cannot read, as a product of two that it
/// can; else empty.
std::string unit_suggestion(const std::string& unit);

/// The unit in base units; nothing where udunits-2 cannot read it or FMI cannot express it
/// (logarithms, fractional powers, other dimensions).
std::optional<BaseUnit> in_base_units(const std::string& unit);

/// A number in the unit `from` as one in `to`; nothing where they don't agree.
std::optional<double> converted(double value, const std::string& from, const std::string& to);

/// A unit as udunits reads it, from its name and its definition in base units ("" if none): the
/// name where udunits reads it in the same sense, else the definition; "" where neither is known.
std::string unit_text(const std::string& name, const std::string& base);

/// Of the integral over time of something in this unit: "N.s", "(m/s).s"; empty where that is.
std::string integral_unit(const std::string& unit);

}  // namespace concord
