#include "cli/shown_units.hpp"

#include "concord/errors.hpp"
#include "support/wording.hpp"

namespace concord {

UnitConversion conversion_to_shown(const RecordedVariable& variable) {
  const auto found = unit_conversion(variable.unit, variable.display);
  if (const auto* conversion = std::get_if<UnitConversion>(&found)) return *conversion;
  throw InputError(in_quotes(variable.name) + " cannot be shown in " + in_quotes(variable.display) +
                   ": its unit is " + in_quotes(variable.unit));
}

void show(const RecordedVariable& variable, std::span<double> values) {
  const auto [factor, offset] = conversion_to_shown(variable);
  if (factor == 1.0 && offset == 0.0) return;
  for (double& value : values) value = factor * value + offset;
}

RecordedVariable shown_like(const RecordedVariable& other, RecordedVariable variable) {
  if (!variable.unit.empty() && !other.display.empty() &&
      std::holds_alternative<UnitConversion>(unit_conversion(variable.unit, other.display)))
    variable.display = other.display;
  return variable;
}

}  // namespace concord
