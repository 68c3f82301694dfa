#include "subsystem/equations/dimension_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <vector>

#include "expression/expression_graph.hpp"
#include "expression/map_function.hpp"
#include "expression/relations.hpp"
#include "expression/tree_walk.hpp"
#include "expression/user_functions.hpp"
#include "subsystem/equations/equations_checks.hpp"
#include "support/wording.hpp"
#include "units/units.hpp"

namespace concord {

namespace {

using Text = EquationsDescription::Text;
using Kind = ExpressionNode::Kind;

/// Exponents of the base units but rad: angles count as pure numbers.
using Exponents = std::array<double, 7>;
/// What a unit is of base units: so many of their product.
struct Measure {
  Exponents exponents{};
  double factor = 1.0;
};
/// Nothing: nobody knows, as of numbers.
using Dimension = std::optional<Measure>;

Dimension dimension_of(const std::string& unit) {
  const auto base = unit.empty() ? std::nullopt : in_base_units(unit);
  if (!base) return std::nullopt;
  Measure result{{}, base->factor};
  for (std::size_t i = 0; i < result.exponents.size(); ++i)
    result.exponents[i] = base->exponents[i];
  return result;
}

/// "kg.m2.s-2", "1"
std::string dimension_words(const Measure& measure) {
  const Exponents& dimension = measure.exponents;
  std::string result;
  for (std::size_t i = 0; i < dimension.size(); ++i) {
    if (dimension[i] == 0.0) continue;
    result += (result.empty() ? "" : ".") + std::string(base_unit_names[i]) +
              (dimension[i] == 1.0 ? "" : short_number(dimension[i]));
  }
  return result.empty() ? "1" : result;
}

/// "0.001 m"
std::string size_words(const Measure& measure) {
  return short_number(measure.factor) + " " + dimension_words(measure);
}

Dimension combined(const Dimension& a, const Dimension& b, double sign) {
  if (!a || !b) return std::nullopt;
  Measure result = *a;
  for (std::size_t i = 0; i < result.exponents.size(); ++i)
    result.exponents[i] += sign * b->exponents[i];
  result.factor *= sign > 0.0 ? b->factor : 1.0 / b->factor;
  return result;
}

Dimension raised(const Dimension& base, double power) {
  if (!base) return std::nullopt;
  Measure result = *base;
  for (double& exponent : result.exponents) exponent *= power;
  result.factor = std::pow(result.factor, power);
  return result;
}

bool differ(const Measure& a, const Measure& b) {
  constexpr double rounding = 1e-9;  // of exponents that are thirds
  return !std::ranges::equal(a.exponents, b.exponents,
                             [](double x, double y) { return std::abs(x - y) < rounding; });
}

/// Of what has one dimension.
bool differ_in_size(const Measure& a, const Measure& b) {
  constexpr double rounding = 1e-9;  // of definitions of units
  return std::abs(a.factor - b.factor) > rounding * std::abs(b.factor);
}

class DimensionCheck {
 public:
  explicit DimensionCheck(const EquationsDescription& description) : description_(description) {
    for (const Text& unit : description.units) units_[unit.name] = dimension_of(unit.text);
    known_ = units_;
    for (const Text& variable : description.variables) variables_[variable.name] = &variable;
  }

  std::vector<std::string> check_all() {
    for (const Text& variable : description_.variables) check(variable, "variable", std::nullopt);
    const Dimension second = Measure{{0, 0, 1, 0, 0, 0, 0}};
    for (const Text& derivative : description_.derivatives)
      check(derivative, "derivative of", combined(units_[derivative.name], second, -1.0));
    for (const Text& output : description_.outputs) check(output, "output", units_[output.name]);
    for (const EquationsDescription::When& when : description_.whens) {
      if (!when.condition.empty())
        check({"", when.condition, when.location}, "condition", std::nullopt);
      for (const Text& set : when.sets) check(set, "set of", units_[set.name]);
    }
    return std::move(notes_);
  }

 private:
  using Bound = std::unordered_map<std::string, Dimension>;

  [[noreturn]] void fail(const Text& text, const std::string& problem) const {
    concord::refuse(description_, text.location, problem);
  }

  void check(const Text& text, const std::string& role, const Dimension& wanted) {
    now_ = &text;
    calls_ = 0;
    const Expression tree =
        parse_expression({text.text, text.location}, description_.functions.get());
    const Dimension found = of(tree, {});
    if (!wanted || !found) return;
    if (differ(*wanted, *found))
      notes_.push_back(role + " '" + text.name + "' is said to be in " + dimension_words(*wanted) +
                       ", but " + in_quotes(text.text) + " is in " + dimension_words(*found));
    else if (differ_in_size(*wanted, *found) && !is_map(tree))
      note_sizes(role + " '" + text.name + "' has the unit " + size_words(*wanted) + ", but " +
                 in_quotes(text.text) + " is in " + size_words(*found));
  }

  /// Values of maps are converted.
  bool is_map(const Expression& tree) const {
    const auto* own =
        tree->kind == Kind::call ? find_own(description_.functions.get(), tree->symbol) : nullptr;
    return own != nullptr && own->map;
  }

  void note_sizes(const std::string& problem) {
    const std::string note = problem + "; values are taken as they are";
    if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(note);
  }

  Dimension of(const Expression& tree, const Bound& bound) {
    return from_leaves<Dimension>(
        tree, [](const Expression&, std::vector<Dimension>&) { return false; },
        [&](const Expression& node, const std::vector<Dimension>& arguments) {
          return node->kind == Kind::number ? Dimension()
                 : node->kind == Kind::name ? of_name(node->symbol, bound)
                                            : of_operation(node, arguments);
        });
  }

  Dimension of_name(const std::string& name, const Bound& bound) {
    if (const auto argument = bound.find(name); argument != bound.end()) return argument->second;
    if (const auto known = known_.find(name); known != known_.end()) return known->second;
    if (const auto variable = variables_.find(name); variable != variables_.end()) {
      known_[name] = std::nullopt;
      const Text& text = *variable->second;
      const Text* const outer = std::exchange(now_, &text);
      known_[name] =
          of(parse_expression({text.text, text.location}, description_.functions.get()), {});
      now_ = outer;
      return known_[name];
    }
    return std::nullopt;
  }

  /// Of what must have one dimension: the one that is known.
  Dimension common(const Expression& node, const std::vector<Dimension>& arguments,
                   std::size_t first = 0) {
    Dimension result;
    std::size_t from = 0;
    for (std::size_t i = first; i < arguments.size(); ++i) {
      if (result && arguments[i] && differ(*result, *arguments[i]))
        fail(*now_, in_quotes(in_words(node)) + " brings different dimensions together: " +
                        in_quotes(in_words(node->arguments[from])) + " in " +
                        dimension_words(*result) + ", " + in_quotes(in_words(node->arguments[i])) +
                        " in " + dimension_words(*arguments[i]));
      if (result && arguments[i] && differ_in_size(*result, *arguments[i]))
        note_sizes(in_quotes(in_words(node)) + " brings different units together: " +
                   in_quotes(in_words(node->arguments[from])) + " in " + size_words(*result) +
                   ", " + in_quotes(in_words(node->arguments[i])) + " in " +
                   size_words(*arguments[i]));
      if (!result && arguments[i]) {
        result = arguments[i];
        from = i;
      }
    }
    return result;
  }

  Dimension of_operation(const Expression& node, const std::vector<Dimension>& arguments) {
    const bool called = node->kind == Kind::call;
    if (const auto* own = called ? find_own(description_.functions.get(), node->symbol) : nullptr)
      return of_own(*own, node, arguments);
    using enum Operation;
    switch (operation_of(*node)) {
      case multiply:
        return combined(arguments[0], arguments[1], 1.0);
      case divide:
        return combined(arguments[0], arguments[1], -1.0);
      case power:
        return node->arguments[1]->kind == Kind::number
                   ? raised(arguments[0], node->arguments[1]->value)
                   : std::nullopt;
      case Operation::sqrt:
        return raised(arguments[0], 0.5);
      case Operation::cbrt:
        return raised(arguments[0], 1.0 / 3.0);
      case add:
      case subtract:
      case minimum:
      case maximum:
      case mod:
      case rem:
      case Operation::hypot:
      case homotopy:
        return common(node, arguments);
      case select:
        return common(node, arguments, 1);
      case less:
      case less_equal:
      case greater:
      case greater_equal:
      case equal:
      case unequal:
      case Operation::atan2:
        common(node, arguments);
        return std::nullopt;
      case negate:
      case Operation::abs:
      case Operation::floor:
      case Operation::ceil:
      case Operation::round:
      case no_event:
        return arguments[0];
      case both:
      case either:
      case invert:
      case Operation::sign:
        return std::nullopt;
      default:
        return of_pure(node, arguments[0]);
    }
  }

  /// Of functions such as sin.
  Dimension of_pure(const Expression& node, const Dimension& argument) {
    if (argument && differ(*argument, {}))
      fail(*now_, in_quotes(in_words(node)) + " takes " + node->symbol + " of " +
                      in_quotes(in_words(node->arguments[0])) + " in " +
                      dimension_words(*argument) + "; it must be a pure number");
    if (argument && differ_in_size(*argument, {}))
      note_sizes(in_quotes(in_words(node)) + " takes " + node->symbol + " of " +
                 in_quotes(in_words(node->arguments[0])) + " in units of " +
                 short_number(argument->factor));
    return Measure{};
  }

  Dimension of_own(const UserFunction& function, const Expression& node,
                   const std::vector<Dimension>& arguments) {
    constexpr std::size_t most_calls = 1000;
    if (function.map) return of_map(*function.map, node, arguments);
    if (++calls_ > most_calls) return std::nullopt;
    Bound bound;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      bound.emplace(function.arguments[i], arguments[i]);
    return of(function.body, bound);
  }

  Dimension of_map(const MapFunction& map, const Expression& node,
                   const std::vector<Dimension>& arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const MapData::Input& input = map.data().inputs[i];
      const Dimension wanted = dimension_of(input.unit);
      if (wanted && arguments[i] && differ(*wanted, *arguments[i]))
        fail(*now_, in_quotes(input.name) + " of the map " + in_quotes(map.data().name) +
                        " is in " + in_quotes(input.unit) + ", but " +
                        in_quotes(in_words(node->arguments[i])) + " is in " +
                        dimension_words(*arguments[i]));
      const bool is_name = node->arguments[i]->kind == Kind::name;  // which is converted
      if (wanted && arguments[i] && !is_name && differ_in_size(*wanted, *arguments[i]))
        note_sizes(in_quotes(input.name) + " of the map " + in_quotes(map.data().name) + " is in " +
                   in_quotes(input.unit) + ", but " + in_quotes(in_words(node->arguments[i])) +
                   " is in " + size_words(*arguments[i]));
    }
    return dimension_of(map.data().unit);
  }

  const EquationsDescription& description_;
  std::unordered_map<std::string, Dimension> units_, known_;
  std::unordered_map<std::string, const Text*> variables_;
  const Text* now_ = nullptr;  ///< that is looked at
  std::vector<std::string> notes_;
  std::size_t calls_ = 0;
};

}  // namespace

std::vector<std::string> check_dimensions(const EquationsDescription& description) {
  return description.units.empty() ? std::vector<std::string>()
                                   : DimensionCheck(description).check_all();
}

}  // namespace concord
