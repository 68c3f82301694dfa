#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "expression/number_table.hpp"

namespace concord {

/// What a node of an expression does with its arguments a, b, c.
enum class Operation : std::uint32_t {
  constant,
  variable,
  // arithmetic
  negate,
  add,
  subtract,
  multiply,
  divide,
  power,
  /// a b of the chain rule: what does not move moves nothing, however steep the other factor is.
  chain,
  /// 1 - a^2 of slopes, as (1 - a)(1 + a): neither it nor its own slope cancels.
  below_square,
  // truth: 0 or 1
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  unequal,
  both,
  either,
  invert,
  // branches
  select,  ///< a != 0 ? b : c
  minimum,
  maximum,
  // steps
  sign,
  floor,
  ceil,
  round,
  truncate,
  mod,
  rem,
  // smooth functions
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  exp,
  log,
  log10,
  log2,
  sqrt,
  cbrt,
  abs,
  no_event,  ///< a, taken as smooth
  homotopy,  ///< a; b is what a search for a point begins with
  atan2,
  hypot,
  // of the table with the handle a
  table_at,      ///< its number b + c
  table_place,   ///< of b among its numbers
  table_slope,   ///< of that
  table_inside,  ///< b, which must not lie beyond its numbers
};

constexpr std::size_t operation_count = static_cast<std::size_t>(Operation::table_inside) + 1;

/// How many arguments an operation has, 0 to 3.
std::size_t argument_count(Operation operation);

/// A function as expressions write it.
struct Function {
  Operation operation;
  std::size_t fewest, most;  ///< arguments; min and max take any number, two at a time
};

/// What stands around `simplified` in homotopy(actual, simplified), which has no events.
constexpr const char* simplified_side = "simplified side";

/// The function of that name, if there is one; those of tables, among others, have blanks in their
/// names, which no user can write.
std::optional<Function> find_function(const std::string& name);

/// Names of all functions that users can write, sorted.
std::span<const std::string> function_names();

/// Names of all constants (pi), and their values.
std::span<const std::string> constant_names();
std::optional<double> find_constant(const std::string& name);

/// Whether `name` is that of a function or built-in constant of expressions.
bool is_reserved_in_expressions(const std::string& name);

/// The operation's value. Division by zero and undefined arguments give infinity or NaN.
[[gnu::always_inline]] inline double apply(Operation operation, const double& a, const double& b,
                                           const double& c) {
  switch (operation) {
    case Operation::negate:
      return -a;
    case Operation::add:
      return a + b;
    case Operation::subtract:
      return a - b;
    case Operation::multiply:
      return a * b;
    case Operation::divide:
      return a / b;
    case Operation::power:
      return std::pow(a, b);
    case Operation::chain:
      return a == 0.0 || b == 0.0 ? 0.0 : a * b;
    case Operation::below_square:
      return (1.0 - a) * (1.0 + a);
    case Operation::less:
      return a < b ? 1.0 : 0.0;
    case Operation::less_equal:
      return a <= b ? 1.0 : 0.0;
    case Operation::greater:
      return a > b ? 1.0 : 0.0;
    case Operation::greater_equal:
      return a >= b ? 1.0 : 0.0;
    case Operation::equal:
      return a == b ? 1.0 : 0.0;
    case Operation::unequal:
      return a != b ? 1.0 : 0.0;
    case Operation::both:
      return a != 0.0 && b != 0.0 ? 1.0 : 0.0;
    case Operation::either:
      return a != 0.0 || b != 0.0 ? 1.0 : 0.0;
    case Operation::invert:
      return a == 0.0 ? 1.0 : 0.0;
    case Operation::select:
      return a != 0.0 ? b : c;
    case Operation::minimum:
      return std::isnan(a) ? a : std::isnan(b) ? b : b < a ? b : a;
    case Operation::maximum:
      return std::isnan(a) ? a : std::isnan(b) ? b : a < b ? b : a;
    case Operation::sign:
      return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : a;
    case Operation::floor:
      return std::floor(a);
    case Operation::ceil:
      return std::ceil(a);
    case Operation::round:
      return std::round(a);
    case Operation::truncate:
      return std::trunc(a);
    case Operation::mod:  // has the sign of b, as in Modelica and MATLAB
      return a - b * std::floor(a / b);
    case Operation::rem:
      return std::fmod(a, b);
    case Operation::sin:
      return std::sin(a);
    case Operation::cos:
      return std::cos(a);
    case Operation::tan:
      return std::tan(a);
    case Operation::asin:
      return std::asin(a);
    case Operation::acos:
      return std::acos(a);
    case Operation::atan:
      return std::atan(a);
    case Operation::sinh:
      return std::sinh(a);
    case Operation::cosh:
      return std::cosh(a);
    case Operation::tanh:
      return std::tanh(a);
    case Operation::asinh:
      return std::asinh(a);
    case Operation::acosh:
      return std::acosh(a);
    case Operation::atanh:
      return std::atanh(a);
    case Operation::exp:
      return std::exp(a);
    case Operation::log:
      return std::log(a);
    case Operation::log10:
      return std::log10(a);
    case Operation::log2:
      return std::log2(a);
    case Operation::sqrt:
      return std::sqrt(a);
    case Operation::cbrt:
      return std::cbrt(a);
    case Operation::abs:
      return std::fabs(a);
    case Operation::no_event:
    case Operation::homotopy:
      return a;
    case Operation::atan2:
      return std::atan2(a, b);
    case Operation::hypot:
      return std::hypot(a, b);
    case Operation::table_at:
      return NumberTable::of(a).at(b + c);
    case Operation::table_place:
      return NumberTable::of(a).place(b);
    case Operation::table_slope:
      return NumberTable::of(a).place_slope(b);
    case Operation::table_inside:
      return NumberTable::of(a).inside(b);
    case Operation::constant:
    case Operation::variable:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace concord
