#include "expression/user_functions.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>

#include "expression/differentiation.hpp"
#include "expression/expression_batch.hpp"
#include "expression/expression_list.hpp"
#include "expression/map_function.hpp"

namespace concord {
namespace user_functions_test {

/// Of f(x, y), by name `f` and, where there is one, a map.
class Called {
 public:
  void add(const std::string& name, std::vector<std::string> arguments, const std::string& body) {
    functions_->add({name, arguments, "here", nullptr});
    ExpressionNames names{{}, {{"k", 4.0}}};
    for (const std::string& argument : arguments) names.constants[argument] = 0.0;
    names.functions = functions_;
    functions_->set_body(name, read_expression({body, "here"}, names));
    functions_->complete();
  }
  void add(MapData data) {
    UserFunction function{data.name, {}, "here", nullptr};
    for (const auto& input : data.inputs) function.arguments.push_back(input.name);
    function.map = std::make_shared<const MapFunction>(std::move(data));
    functions_->add(std::move(function));
  }

  ExpressionNames names() const {
    ExpressionNames result{{{"x", 0}, {"y", 1}, {"z", 2}}, {{"k", 4.0}}};
    result.functions = functions_;
    return result;
  }
  double operator()(const std::string& text, std::array<double, 3> at) const {
    const PlacedExpression expression{text, "here"};
    ExpressionList list({&expression, 1}, names(), 3);
    std::ranges::copy(at, list.point().begin());
    double result = 0.0;
    list.evaluate({&result, 1});
    return result;
  }
  /// By x, y, z.
  std::array<double, 3> slopes(const std::string& text, std::array<double, 3> at) const {
    const PlacedExpression expression{text, "here"};
    ExpressionList list({&expression, 1}, names(), 3);
    std::ranges::copy(at, list.point().begin());
    std::array<double, 3> result{};
    const auto values = list.differentiate();
    for (std::size_t k = 0; k < values.size(); ++k) result[list.entries()[k].variable] = values[k];
    return result;
  }
  /// d2/dx_i dx_j.
  double second(const std::string& text, std::size_t i, std::size_t j,
                std::array<double, 3> at) const {
    ExpressionNames all = names();
    ExpressionGraph graph;
    const NodeId root = graph.add(read_whole_expression({text, "here"}, all), all);
    NodeId node = root;
    for (const std::size_t by : {i, j}) {
      NodeId next = graph.constant(0.0);
      for (const auto& [variable, value] : Differentiation(graph).gradient(node))
        if (variable == by) next = value;
      node = next;
    }
    std::vector<double> constants;
    auto program = std::make_shared<const Program>(graph, std::span(&node, 1), 3, constants);
    Evaluation evaluation(program, constants);
    std::ranges::copy(at, evaluation.variables().begin());
    double result = 0.0;
    evaluation.run({&result, 1});
    return result;
  }

 private:
  std::shared_ptr<UserFunctions> functions_ = std::make_shared<UserFunctions>();
};

TEST(UserFunctionCalls, mean_what_their_bodies_say) {
  Called call;
  call.add("square", {"x"}, "x*x");
  call.add("mix", {"a", "y"}, "k*square(a - y) + y");
  EXPECT_EQ(call("mix(y, x + 1)", {3.0, -2.0, 0.0}), 4.0 * 36.0 + 4.0);
  EXPECT_EQ(call("square(square(square(x)))", {3.0, 0.0, 0.0}), 6561.0);
  EXPECT_EQ(call("square(square(y) + square(x))", {3.0, -2.0, 0.0}), 169.0);
  const auto slopes = call.slopes("mix(y, x + 1)", {3.0, -2.0, 0.0});
  EXPECT_EQ(slopes[0], 8.0 * 6.0 + 1.0);
  EXPECT_EQ(slopes[1], -8.0 * 6.0);
}

MapData map_of(Interpolation interpolation, MapData::Outside outside, std::size_t inputs) {
  MapData data{"m", "", {}, {}, interpolation, outside, MapData::Kinks::events};
  const std::vector<double> points[] = {
      {0.0, 1.0, 1.5, 3.0, 4.0}, {-1.0, 0.5, 1.0, 2.0}, {2.0, 3.0, 5.0}};
  const char* names[] = {"a", "b", "c"};
  for (std::size_t i = 0; i < inputs; ++i) data.inputs.push_back({names[i], "", points[i]});
  std::size_t count = 1;
  for (const auto& input : data.inputs) count *= input.points.size();
  for (std::size_t i = 0; i < count; ++i)
    data.values.push_back(std::sin(1.7 * static_cast<double>(i * i % 31)));
  return data;
}

const char* const texts[] = {"m(x)", "m(x, y)", "m(x, y, z)"};

TEST(Maps, have_their_values_at_their_points) {
  for (const auto interpolation :
       {Interpolation::linear, Interpolation::cubic, Interpolation::step})
    for (std::size_t inputs = 1; inputs <= 3; ++inputs) {
      const MapData data = map_of(interpolation, MapData::Outside::linear, inputs);
      Called call;
      call.add(data);
      for (std::size_t i = 0; i < data.values.size(); ++i) {
        std::array<double, 3> at{};
        std::size_t rest = i;
        for (std::size_t d = inputs; d-- > 0;) {
          const auto& points = data.inputs[d].points;
          at[d] = points[rest % points.size()];
          rest /= points.size();
        }
        EXPECT_NEAR(call(texts[inputs - 1], at), data.values[i], 1e-14);
      }
    }
}

/// First and second derivatives against differences, inside and outside.
TEST(Maps, have_exact_derivatives) {
  const std::array<double, 3> points[] = {
      {1.2, 0.7, 4.1}, {3.3, 1.6, 2.4}, {-0.7, -1.3, 1.1}, {4.9, 2.4, 5.5}};
  constexpr double h = 1e-4;
  for (const auto interpolation : {Interpolation::linear, Interpolation::cubic})
    for (const auto outside : {MapData::Outside::linear, MapData::Outside::hold})
      for (std::size_t inputs = 1; inputs <= 3; ++inputs) {
        Called call;
        call.add(map_of(interpolation, outside, inputs));
        const std::string text = texts[inputs - 1];
        for (const auto& at : points)
          for (std::size_t i = 0; i < inputs; ++i) {
            auto more = at, less = at;
            more[i] += h;
            less[i] -= h;
            const double slope = (call(text, more) - call(text, less)) / (2.0 * h);
            EXPECT_NEAR(call.slopes(text, at)[i], slope, 1e-6 * (1.0 + std::abs(slope))) << text;
            for (std::size_t j = 0; j < inputs; ++j) {
              const double bend =
                  (call.slopes(text, more)[j] - call.slopes(text, less)[j]) / (2.0 * h);
              EXPECT_NEAR(call.second(text, j, i, at), bend, 1e-6 * (1.0 + std::abs(bend))) << text;
            }
          }
      }
}

/// The map of a product is the product of maps, whatever the order of inputs.
TEST(Maps, are_tensor_products) {
  MapData first = map_of(Interpolation::cubic, MapData::Outside::linear, 1), second = first;
  second.name = "n";
  second.inputs[0].points = {-1.0, 0.5, 1.0, 2.0};
  second.values = {1.0, -2.0, 0.5, 3.0};
  MapData product = map_of(Interpolation::cubic, MapData::Outside::linear, 2);
  product.name = "p";
  product.values.clear();
  for (const double a : first.values)
    for (const double b : second.values) product.values.push_back(a * b);
  Called call;
  call.add(first);
  call.add(second);
  call.add(product);
  for (const std::array<double, 3>& at :
       {std::array{0.3, -0.2, 0.0}, std::array{2.2, 1.7, 0.0}, std::array{5.0, -3.0, 0.0}})
    EXPECT_NEAR(call("p(x, y) - m(x)*n(y)", at), 0.0, 1e-13);
}

/// Instances whose maps differ share what is compiled.
TEST(Maps, in_batches) {
  MapData data = map_of(Interpolation::linear, MapData::Outside::error, 1);
  std::vector<Called> calls(3);
  std::vector<ExpressionList> lists;
  const std::vector<PlacedExpression> texts{{"m(x) + y*m(y)", "here"}, {"floor(m(z))*x", "here"}};
  for (Called& call : calls) {
    for (double& value : data.values) value += 0.3;
    for (double& point : data.inputs[0].points) point -= 0.1;
    call.add(data);
    lists.emplace_back(texts, call.names(), 3);
  }
  ExpressionBatch batch(lists[0], 3);
  std::vector<double> points(9);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(batch.set(i, lists[i]));
    for (std::size_t v = 0; v < 3; ++v)
      points[v * 3 + i] = lists[i].point()[v] =
          1.1 + 0.9 * static_cast<double>(i) + 2.3 * static_cast<double>(v);
  }
  std::vector<double> found(6), alone(2);
  batch.evaluate(points, found);
  const auto slopes = batch.differentiate(points);
  for (std::size_t i = 0; i < 3; ++i) {
    lists[i].evaluate(alone);
    for (std::size_t row = 0; row < 2; ++row)
      EXPECT_EQ(std::isnan(found[row * 3 + i]) ? 0.0 : found[row * 3 + i],
                std::isnan(alone[row]) ? 0.0 : alone[row]);
    const auto own = lists[i].differentiate();
    for (std::size_t k = 0; k < own.size(); ++k)
      EXPECT_EQ(std::isnan(slopes[k * 3 + i]) ? 0.0 : slopes[k * 3 + i],
                std::isnan(own[k]) ? 0.0 : own[k]);
  }
}

TEST(Maps, outside) {
  Called call;
  call.add(map_of(Interpolation::linear, MapData::Outside::error, 1));
  EXPECT_TRUE(std::isnan(call("m(x)", {-0.1, 0.0, 0.0})));
  EXPECT_TRUE(std::isnan(call("m(x)", {4.1, 0.0, 0.0})));
  EXPECT_TRUE(std::isfinite(call("m(x)", {4.0, 0.0, 0.0})));
  EXPECT_TRUE(std::isfinite(call("m(x)", {0.0, 0.0, 0.0})));
}

TEST(Maps, steps_have_the_value_of_the_point_before) {
  Called call;
  MapData data = map_of(Interpolation::step, MapData::Outside::hold, 1);
  data.values = {1.0, 2.0, 3.0, 4.0, 5.0};
  call.add(data);
  EXPECT_EQ(call("m(x)", {-9.0, 0.0, 0.0}), 1.0);
  EXPECT_EQ(call("m(x)", {0.999, 0.0, 0.0}), 1.0);
  EXPECT_EQ(call("m(x)", {1.0, 0.0, 0.0}), 2.0);
  EXPECT_EQ(call("m(x)", {2.0, 0.0, 0.0}), 3.0);
  EXPECT_EQ(call("m(x)", {4.0, 0.0, 0.0}), 5.0);
  EXPECT_EQ(call("m(x)", {1e9, 0.0, 0.0}), 5.0);
}

TEST(NumberTables, places) {
  const NumberTable table("t", {1.0, 2.0, 4.0}, 1.0, 2.0);
  for (const double value : {-1e30, -5.0, 0.5, 0.9999999}) {
    EXPECT_GT(table.place(value), 0.0);
    EXPECT_LT(table.place(value), 1.0);
  }
  EXPECT_EQ(table.place(1.0), 1.0);
  EXPECT_EQ(table.place(1.5), 1.5);
  EXPECT_EQ(table.place(2.0), 2.0);
  EXPECT_EQ(table.place(3.0), 2.5);
  EXPECT_EQ(table.place(4.0), 3.0);
  for (const double value : {4.1, 1e3, 1e30}) {
    EXPECT_GT(table.place(value), 3.0);
    EXPECT_LE(table.place(value), 3.5);
  }
}

}  // namespace user_functions_test
}  // namespace concord
