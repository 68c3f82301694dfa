#pragma once

#include <string>

#include "network/model.hpp"
#include "subsystem/equations/equations_description.hpp"
#include "subsystem/table/table_model.hpp"

namespace concord {

/// A table as equations without states, for a run that begins at `start` (s): its rows become maps,
/// and a discrete variable counts the kinks and jumps that have passed, which are events at known
/// times. Between two of them the outputs are what the table says, up to rounding; at them they are
/// left limits until the event has happened, then right ones. Where the table says nothing they are
/// not a number.
EquationsDescription table_equations(const std::string& subsystem, const TableDescription& table,
                                     double start);

/// Of a subsystem of equations, or of a table.
EquationsDescription equations_of(const SubsystemEntry& entry, double start);

}  // namespace concord
