#include "expression/functions.hpp"

#include <algorithm>
#include <numbers>
#include <vector>

namespace concord {

namespace {

struct Entry {
  const char* name;
  Function function;
};

constexpr std::size_t any = std::numeric_limits<std::size_t>::max();

constexpr Entry functions[] = {
    {"abs", {Operation::abs, 1, 1}},
    {"acos", {Operation::acos, 1, 1}},
    {"acosh", {Operation::acosh, 1, 1}},
    {"asin", {Operation::asin, 1, 1}},
    {"asinh", {Operation::asinh, 1, 1}},
    {"atan", {Operation::atan, 1, 1}},
    {"atan2", {Operation::atan2, 2, 2}},
    {"atanh", {Operation::atanh, 1, 1}},
    {"cbrt", {Operation::cbrt, 1, 1}},
    {"ceil", {Operation::ceil, 1, 1}},
    {"cos", {Operation::cos, 1, 1}},
    {"cosh", {Operation::cosh, 1, 1}},
    {"exp", {Operation::exp, 1, 1}},
    {"floor", {Operation::floor, 1, 1}},
    {"homotopy", {Operation::homotopy, 2, 2}},
    {"hypot", {Operation::hypot, 2, 2}},
    {"if", {Operation::select, 3, 3}},
    {"ln", {Operation::log, 1, 1}},
    {"log", {Operation::log, 1, 1}},
    {"log10", {Operation::log10, 1, 1}},
    {"log2", {Operation::log2, 1, 1}},
    {"max", {Operation::maximum, 1, any}},
    {"min", {Operation::minimum, 1, any}},
    {"mod", {Operation::mod, 2, 2}},
    {"noEvent", {Operation::no_event, 1, 1}},
    {"no_event", {Operation::no_event, 1, 1}},
    {"pow", {Operation::power, 2, 2}},
    {"pre", {Operation::no_event, 1, 1}},
    {"rem", {Operation::rem, 2, 2}},
    {"round", {Operation::round, 1, 1}},
    {"sign", {Operation::sign, 1, 1}},
    {simplified_side, {Operation::no_event, 1, 1}},
    {"sin", {Operation::sin, 1, 1}},
    {"sinh", {Operation::sinh, 1, 1}},
    {"sqrt", {Operation::sqrt, 1, 1}},
    {"table at", {Operation::table_at, 3, 3}},
    {"table inside", {Operation::table_inside, 2, 2}},
    {"table place", {Operation::table_place, 2, 2}},
    {"tan", {Operation::tan, 1, 1}},
    {"tanh", {Operation::tanh, 1, 1}},
};

}  // namespace

std::size_t argument_count(Operation operation) {
  switch (operation) {
    case Operation::constant:
    case Operation::variable:
      return 0;
    case Operation::select:
    case Operation::table_at:
      return 3;
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
    case Operation::divide:
    case Operation::power:
    case Operation::chain:
    case Operation::less:
    case Operation::less_equal:
    case Operation::greater:
    case Operation::greater_equal:
    case Operation::equal:
    case Operation::unequal:
    case Operation::both:
    case Operation::either:
    case Operation::minimum:
    case Operation::maximum:
    case Operation::mod:
    case Operation::rem:
    case Operation::atan2:
    case Operation::hypot:
    case Operation::homotopy:
    case Operation::table_place:
    case Operation::table_slope:
    case Operation::table_inside:
      return 2;
    default:
      return 1;
  }
}

std::optional<Function> find_function(const std::string& name) {
  const auto found = std::lower_bound(
      std::begin(functions), std::end(functions), name,
      [](const Entry& entry, const std::string& wanted) { return entry.name < wanted; });
  if (found == std::end(functions) || found->name != name) return std::nullopt;
  return found->function;
}

std::span<const std::string> function_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Entry& entry : functions) all.emplace_back(entry.name);
    std::erase_if(all, [](const std::string& name) { return name.find(' ') != name.npos; });
    return all;
  }();
  return names;
}

std::span<const std::string> constant_names() {
  static const std::vector<std::string> names = {"pi"};
  return names;
}

std::optional<double> find_constant(const std::string& name) {
  return name == "pi" ? std::optional(std::numbers::pi) : std::nullopt;
}

bool is_reserved_in_expressions(const std::string& name) {
  return find_function(name).has_value() || find_constant(name).has_value();
}

}  // namespace concord
