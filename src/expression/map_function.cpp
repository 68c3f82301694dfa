#include "expression/map_function.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace concord {

namespace {

using Kind = ExpressionNode::Kind;
using Outside = MapData::Outside;
using Kinks = MapData::Kinks;

Expression handle_of(const NumberTable& table) { return number_node(table.handle(), table.name()); }

/// Numbers on a grid, those along its last dimension beside each other.
struct Grid {
  std::vector<std::size_t> shape;
  std::vector<double> numbers;

  std::size_t stride(std::size_t dimension) const {
    std::size_t result = 1;
    for (std::size_t d = dimension + 1; d < shape.size(); ++d) result *= shape[d];
    return result;
  }
};

/// The grid with other numbers along a dimension, `length` of them: `make(lines)` of the lines of
/// these grids there.
template <class Make>
Grid along(const std::vector<const Grid*>& grids, std::size_t dimension, std::size_t length,
           Make&& make) {
  const Grid& first = *grids.front();
  const std::size_t stride = first.stride(dimension), n = first.shape[dimension];
  Grid result{first.shape, std::vector<double>(first.numbers.size() / n * length)};
  result.shape[dimension] = length;
  for (std::size_t line = 0; line < first.numbers.size() / n; ++line) {
    const std::size_t outer = line / stride, inner = line % stride;
    std::vector<std::vector<double>> lines;
    for (const Grid* grid : grids) {
      auto& numbers = lines.emplace_back();
      for (std::size_t i = 0; i < n; ++i)
        numbers.push_back(grid->numbers[(outer * n + i) * stride + inner]);
    }
    const std::vector<double> made = make(lines);
    for (std::size_t i = 0; i < length; ++i)
      result.numbers[(outer * length + i) * stride + inner] = made[i];
  }
  return result;
}

/// By sets of inputs, as bits: the values' mixed slopes by all of the set.
using Slopes = std::map<unsigned, Grid>;

Slopes all_slopes(const MapData& data, const Grid& values) {
  Slopes slopes{{0u, values}};
  if (data.interpolation != Interpolation::cubic) return slopes;
  const std::size_t dimensions = data.inputs.size();
  for (unsigned set = 1; set < 1u << dimensions; ++set) {
    Grid sum{values.shape, std::vector<double>(values.numbers.size(), 0.0)};
    double orders = 0.0;
    for (std::size_t d = 0; d < dimensions; ++d) {
      if ((set & 1u << d) == 0) continue;
      const std::vector<double>& points = data.inputs[d].points;
      const Grid last = along({&slopes.at(set ^ 1u << d)}, d, points.size(),
                              [&](const auto& lines) { return akima_slopes(points, lines[0]); });
      std::ranges::transform(sum.numbers, last.numbers, sum.numbers.begin(), std::plus());
      ++orders;
    }
    for (double& slope : sum.numbers) slope /= orders;
    slopes.emplace(set, std::move(sum));
  }
  return slopes;
}

/// The pieces between points, their coefficients beside each other; with slopes also those beyond
/// both ends, where `ends`.
std::vector<double> pieces_of(const std::vector<double>& points,
                              const std::vector<std::vector<double>>& lines,
                              Interpolation interpolation, bool ends) {
  const std::vector<double>& values = lines[0];
  if (interpolation == Interpolation::step) return values;
  std::vector<double> result;
  if (ends) result = {values.front(), lines[1].front(), 0.0, 0.0};
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const double h = points[i + 1] - points[i];
    if (interpolation == Interpolation::linear) {
      result.insert(result.end(), {values[i], (values[i + 1] - values[i]) / h});
    } else {
      const auto piece = hermite_piece(h, values[i], lines[1][i], values[i + 1], lines[1][i + 1]);
      result.insert(result.end(), piece.begin(), piece.end());
    }
  }
  if (ends) result.insert(result.end(), {values.back(), lines[1].back(), 0.0, 0.0});
  return result;
}

bool has_ends(const MapData& data) {
  return data.interpolation == Interpolation::cubic && data.outside == Outside::linear;
}

/// Of all pieces: those of one beside each other. `pieces` and `powers` along each input.
std::vector<double> by_pieces(const Grid& grid, const std::vector<std::size_t>& powers) {
  std::vector<double> result(grid.numbers.size());
  for (std::size_t from = 0; from < result.size(); ++from) {
    std::size_t piece = 0, power = 0, all_powers = 1;
    for (std::size_t d = 0; d < powers.size(); ++d) {
      const std::size_t index = from / grid.stride(d) % grid.shape[d];
      piece = piece * (grid.shape[d] / powers[d]) + index / powers[d];
      power = power * powers[d] + index % powers[d];
      all_powers *= powers[d];
    }
    result[piece * all_powers + power] = grid.numbers[from];
  }
  return result;
}

}  // namespace

MapFunction::MapFunction(MapData data) : data_(std::move(data)) {
  Grid values{{}, data_.values};
  std::vector<std::size_t> powers;
  for (const MapData::Input& input : data_.inputs) {
    axes_.push_back(make_axis(input));
    values.shape.push_back(input.points.size());
    powers.push_back(axes_.back().powers);
  }
  Slopes slopes = all_slopes(data_, values);
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    Slopes next;
    for (const auto& [set, grid] : slopes) {
      if ((set & 1u << d) != 0) continue;
      std::vector<const Grid*> grids = {&grid};
      if (const auto slope = slopes.find(set | 1u << d); slope != slopes.end())
        grids.push_back(&slope->second);
      next.emplace(set, along(grids, d, axes_[d].pieces * axes_[d].powers, [&](const auto& lines) {
                     return pieces_of(data_.inputs[d].points, lines, data_.interpolation,
                                      has_ends(data_));
                   }));
    }
    slopes = std::move(next);
  }
  coefficients_ = &tables_.emplace_back(data_.name, by_pieces(slopes.at(0), powers));
}

const NumberTable* MapFunction::kept(const std::string& name, std::vector<double> numbers,
                                     const MapData::Input& of) {
  const std::vector<double>& points = of.points;
  return &tables_.emplace_back(data_.name + "." + of.name + name, std::move(numbers),
                               points[1] - points[0], points.back() - points[points.size() - 2]);
}

MapFunction::Axis MapFunction::make_axis(const MapData::Input& input) {
  const std::vector<double>& points = input.points;
  const auto begin = points.begin();
  Axis axis;
  axis.points = kept("", points, input);
  std::vector<double> breaks(begin + 1, points.end() - 1), origins(begin, points.end() - 1);
  if (data_.interpolation == Interpolation::step) breaks.push_back(points.back());
  if (has_ends(data_)) {
    breaks = origins = points;
    origins.insert(origins.begin(), points.front());
  }
  axis.pieces = breaks.size() + 1;
  axis.powers = data_.interpolation == Interpolation::step     ? 1
                : data_.interpolation == Interpolation::linear ? 2
                                                               : 4;
  if (!breaks.empty()) axis.breaks = kept(".breaks", std::move(breaks), input);
  axis.origins = kept(".origins", std::move(origins), input);
  return axis;
}

/// Cubics bend without kinks.
bool MapFunction::has_events() const {
  return data_.kinks == Kinks::events && data_.interpolation != Interpolation::cubic;
}

/// Where the map says something, and else nothing or, to hold, the end.
Expression MapFunction::confined(const Axis& axis, const std::string& name, Expression argument,
                                 const Define& define) const {
  if (data_.outside == Outside::error)
    return define(name, call_node("table inside", {handle_of(*axis.points), argument}));
  if (data_.outside == Outside::linear || data_.interpolation == Interpolation::step)
    return argument;
  const Expression first = number_node(axis.points->numbers().front()),
                   last = number_node(axis.points->numbers().back());
  if (data_.kinks == Kinks::smooth) {
    const Expression low = call_node("max", {argument, first});
    return define(name, call_node("no_event", {call_node("min", {low, last})}));
  }
  const Expression high =
      operation_node("?", {operation_node(">", {argument, last}), last, argument});
  return define(name, operation_node("?", {operation_node("<", {argument, first}), first, high}));
}

/// The number of the piece.
Expression MapFunction::piece(const Axis& axis, const std::string& name, const Expression& argument,
                              const Define& define) const {
  if (axis.breaks == nullptr) return number_node(0.0);
  const Expression count =
      call_node("floor", {call_node("table place", {handle_of(*axis.breaks), argument})});
  return define(name, has_events() ? count : call_node("no_event", {count}));
}

/// Horner's scheme along this input, of those along the others. `power`: of the inputs before.
Expression MapFunction::polynomial(std::size_t axis, std::size_t power, const Expression& first,
                                   const std::vector<Expression>& distances) const {
  if (axis == axes_.size())
    return call_node("table at",
                     {handle_of(*coefficients_), first, number_node(static_cast<double>(power))});
  const std::size_t powers = axes_[axis].powers;
  const auto coefficient = [&](std::size_t i) {
    return polynomial(axis + 1, power * powers + i, first, distances);
  };
  Expression sum = coefficient(powers - 1);
  for (std::size_t i = powers - 1; i-- > 0;)
    sum = operation_node("+", {coefficient(i), operation_node("*", {distances[axis], sum})});
  return sum;
}

Expression MapFunction::of(const std::vector<Expression>& arguments, const Define& define) const {
  Expression first = number_node(0.0);
  std::vector<Expression> distances;
  std::size_t all_powers = 1;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const Axis& axis = axes_[i];
    const std::string& name = data_.inputs[i].name;
    const Expression inside = confined(axis, name + ".inside", arguments[i], define);
    const Expression own = piece(axis, name + ".piece", inside, define);
    const Expression origin =
        call_node("table at", {handle_of(*axis.origins), own, number_node(0.0)});
    distances.push_back(axis.powers == 1
                            ? nullptr
                            : define(name + ".distance", operation_node("-", {inside, origin})));
    const Expression before = number_node(static_cast<double>(axis.pieces));
    first = operation_node("+", {operation_node("*", {first, before}), own});
    all_powers *= axis.powers;
  }
  first =
      define("first", operation_node("*", {first, number_node(static_cast<double>(all_powers))}));
  return polynomial(0, 0, first, distances);
}

}  // namespace concord
