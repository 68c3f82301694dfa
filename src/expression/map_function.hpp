#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "expression/expression_tree.hpp"
#include "expression/interpolation.hpp"
#include "expression/number_table.hpp"

namespace concord {

/// What a map is made of: values at all points of a grid.
struct MapData {
  struct Input {
    std::string name, unit;
    std::vector<double> points;  ///< ascending, two at least
  };
  /// Beyond the grid: the value at its end, on along the slope there, or nothing.
  enum class Outside { hold, linear, error };
  /// Whether kinks and jumps are events.
  enum class Kinks { events, smooth };

  std::string name, unit;
  std::vector<Input> inputs;   ///< 1 to 3
  std::vector<double> values;  ///< of the last input first
  Interpolation interpolation = Interpolation::linear;
  Outside outside = Outside::hold;
  Kinks kinks = Kinks::events;
};

/// A map over one to three inputs as an expression of these: a polynomial whose coefficients are
/// looked up in a table, so that its derivatives of any order follow from its form.
///
/// Over several inputs the polynomial is the tensor product of those over one. With cubics its
/// slopes at the grid's points are Akima's along each input, mixed ones those of the slopes, as the
/// mean over the orders in which they can be taken: the map is C1, and does not depend on the order
/// of its inputs.
class MapFunction {
 public:
  explicit MapFunction(MapData data);

  const MapData& data() const { return data_; }

  /// Gives an expression a name, as which it is returned.
  using Define = std::function<Expression(const std::string& name, const Expression& meaning)>;

  /// `arguments`: names or numbers, one per input.
  Expression of(const std::vector<Expression>& arguments, const Define& define) const;

 private:
  /// Along one input.
  struct Axis {
    std::size_t pieces = 1;                ///< in which the map is another polynomial
    std::size_t powers = 1;                ///< of these
    const NumberTable* points = nullptr;   ///< the grid's
    const NumberTable* breaks = nullptr;   ///< between pieces; null: there is one piece
    const NumberTable* origins = nullptr;  ///< of the polynomials, per piece
  };

  const NumberTable* kept(const std::string& name, std::vector<double> numbers,
                          const MapData::Input& of);
  Axis make_axis(const MapData::Input& input);
  Expression confined(const Axis& axis, const std::string& name, Expression argument,
                      const Define& define) const;
  Expression piece(const Axis& axis, const std::string& name, const Expression& argument,
                   const Define& define) const;
  Expression polynomial(std::size_t axis, std::size_t power, const Expression& first,
                        const std::vector<Expression>& distances) const;
  bool has_events() const;

  MapData data_;
  std::deque<NumberTable> tables_;
  std::vector<Axis> axes_;
  const NumberTable* coefficients_ = nullptr;
};

}  // namespace concord
