#pragma once

#include <span>
#include <string>

#include "record/results_reader.hpp"
#include "units/units.hpp"

namespace concord {

// What people see is in the unit that the model asks for (`display:`); files keep the variable's.

/// Throws InputError where there is none.
UnitConversion conversion_to_shown(const RecordedVariable& variable);

/// Values in the variable's unit become those in the one to show it in. Throws InputError.
void show(const RecordedVariable& variable, std::span<double> values);

/// To be drawn beside `other` of another file, whose unit it takes where it can.
RecordedVariable shown_like(const RecordedVariable& other, RecordedVariable variable);

}  // namespace concord
