#pragma once

#include <map>
#include <string>

#include "expression/expression_tree.hpp"

namespace concord {

/// A name of the equations in C: its value ("x[state_v]") and how it moves in a given direction
/// ("dx[state_v]"; empty: not at all).
struct CName {
  std::string value, tangent;
};
using CNames = std::map<std::string, CName>;

/// A number of C with every bit of `value`.
std::string c_number(double value);

/// Likewise of a node, which may be the handle of a table.
std::string c_number(const ExpressionNode& number, const CNames& names);

/// The expression in C99, with functions of <math.h> and of sources/functions.inc. Numbers are all
/// double: 1/2 is 0.5.
std::string c_expression(const Expression& expression, const CNames& names);

}  // namespace concord
