#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <set>

#include "expression/differentiation.hpp"
#include "expression/expression_list.hpp"
#include "expression/program.hpp"

namespace concord {
namespace second_derivatives_test {

using Real = long double;

/// x and y, how fast they move, and how that changes.
struct Curve {
  double x, y, dx, dy, ddx, ddy;
};

/// The second derivative by time of an expression in x and y.
double second_derivative(const std::string& text, const Curve& curve) {
  ExpressionGraph graph;
  const ExpressionNames names{{{"x", 0}, {"y", 1}}, {{"k", 4.0}}};
  const NodeId root = graph.add(read_expression({text, "m.yaml:1"}, names), names);
  std::vector<NodeId> velocities;
  for (std::uint32_t i = 2; i < 6; ++i) velocities.push_back(graph.variable(i));
  velocities.resize(6, graph.constant(0.0));
  TotalDerivative derivative(graph, velocities);
  const NodeId second = derivative.of(derivative.of(root));
  std::vector<double> constants;
  const auto program = std::make_shared<const Program>(graph, std::span(&second, 1), 6, constants);
  Evaluation evaluation(program, constants);
  const double point[] = {curve.x, curve.y, curve.dx, curve.dy, curve.ddx, curve.ddy};
  std::copy(std::begin(point), std::end(point), evaluation.variables().begin());
  double result = 0.0;
  evaluation.run({&result, 1});
  return result;
}

/// First and second partial derivatives, by hand.
struct Partials {
  Real x, y, xx, xy, yy;
};

struct Function {
  std::string name, text;
  std::function<Partials(Real, Real)> partials;
  double smallest = 1e-9, largest = 1e9;  ///< of x
};

void PrintTo(const Function& function, std::ostream* out) { *out << function.text; }

/// A function of x alone with its derivatives.
Function of_x(const std::string& name, Real (*first)(Real), Real (*second)(Real), double smallest,
              double largest) {
  return {name, name + "(x)",
          [=](Real x, Real) {
            return Partials{first(x), 0, second(x), 0, 0};
          },
          smallest, largest};
}

/// 1 - x^2, without cancellation.
Real below(Real x) { return (1 - x) * (1 + x); }

Partials of_radius(Real x, Real y) {
  const Real r = std::hypot(x, y), r3 = r * r * r;
  return {x / r, y / r, y * y / r3, -x * y / r3, x * x / r3};
}

/// atan2(x, y): x is the opposite side.
Partials of_angle(Real x, Real y) {
  const Real r2 = x * x + y * y, r4 = r2 * r2;
  return {y / r2, -x / r2, -2 * x * y / r4, (x * x - y * y) / r4, 2 * x * y / r4};
}

Partials of_power(Real x, Real y) {
  const Real v = std::pow(x, y), l = std::log(x);
  return {y * v / x, v * l, y * (y - 1) * v / (x * x), v / x * (1 + y * l), v * l * l};
}

Partials zero(Real, Real) { return {0, 0, 0, 0, 0}; }

/// Every function that expressions know, with every branch of those that have any.
std::vector<Function> functions() {
  constexpr Real ln2 = std::numbers::ln2_v<Real>, ln10 = std::numbers::ln10_v<Real>;
  const auto first_squared = [](Real x, Real) { return Partials{2 * x, 0, 2, 0, 0}; };
  const auto product = [](Real x, Real y) { return Partials{y, x, 0, 1, 0}; };
  const auto second_squared = [](Real, Real y) { return Partials{0, 2 * y, 0, 0, 2}; };
  std::vector<Function> all = {
      {"abs", "abs(x)*x", first_squared},
      {"abs", "abs(-x)*x", first_squared},
      {"abs", "abs(-x)*abs(y)",
       [](Real x, Real y) {
         return y < 0 ? Partials{-y, -x, 0, -1, 0} : Partials{y, x, 0, 1, 0};
       }},
      of_x(
          "acos", [](Real x) { return -1 / std::sqrt(below(x)); },
          [](Real x) { return -x / std::pow(below(x), 1.5L); }, 1e-9, 1),
      {"acosh", "acosh(1 + x)",
       [](Real x, Real) {
         const Real r = std::sqrt(x * (x + 2));
         return Partials{1 / r, 0, -(1 + x) / (r * r * r), 0, 0};
       },
       1e-2, 1e5},
      of_x(
          "asin", [](Real x) { return 1 / std::sqrt(below(x)); },
          [](Real x) { return x / std::pow(below(x), 1.5L); }, 1e-9, 1),
      of_x(
          "asinh", [](Real x) { return 1 / std::hypot(x, 1.0L); },
          [](Real x) { return -x / std::pow(std::hypot(x, 1.0L), 3); }, 1e-9, 1e9),
      of_x(
          "atan", [](Real x) { return 1 / (1 + x * x); },
          [](Real x) { return -2 * x / ((1 + x * x) * (1 + x * x)); }, 1e-9, 1e9),
      {"atan2", "atan2(x, y)", of_angle},
      of_x(
          "atanh", [](Real x) { return 1 / below(x); },
          [](Real x) { return 2 * x / (below(x) * below(x)); }, 1e-9, 1),
      of_x(
          "cbrt", [](Real x) { return 1 / (3 * std::pow(std::cbrt(x), 2)); },
          [](Real x) { return -2 / (9 * x * std::pow(std::cbrt(x), 2)); }, 1e-9, 1e9),
      {"ceil", "ceil(x)", zero},
      {"ceil", "ceil(1e-6*y)*x^2",
       [](Real x, Real y) {
         const Real whole = std::ceil(static_cast<double>(1e-6 * static_cast<double>(y)));
         return Partials{2 * x * whole, 0, 2 * whole, 0, 0};
       }},
      of_x(
          "cos", [](Real x) { return -std::sin(x); }, [](Real x) { return -std::cos(x); }, 1e-9,
          1e3),
      of_x(
          "cosh", [](Real x) { return std::sinh(x); }, [](Real x) { return std::cosh(x); }, 1e-9,
          100),
      of_x(
          "exp", [](Real x) { return std::exp(x); }, [](Real x) { return std::exp(x); }, 1e-9, 100),
      {"floor", "floor(x) + x*y", product},
      {"hypot", "hypot(x, y)", of_radius},
      {"if", "if(x > 0, x^2, 1/0)", first_squared},
      {"if", "x < 0 ? sqrt(-x) : y^2", second_squared},
      of_x(
          "ln", [](Real x) { return 1 / x; }, [](Real x) { return -1 / (x * x); }, 1e-9, 1e9),
      of_x(
          "log", [](Real x) { return 1 / x; }, [](Real x) { return -1 / (x * x); }, 1e-9, 1e9),
      of_x(
          "log10", [](Real x) { return 1 / (x * ln10); },
          [](Real x) { return -1 / (x * x * ln10); }, 1e-9, 1e9),
      of_x(
          "log2", [](Real x) { return 1 / (x * ln2); }, [](Real x) { return -1 / (x * x * ln2); },
          1e-9, 1e9),
      {"homotopy", "homotopy(x^2, y^3)", first_squared},
      {"max", "max(x^2, -y^2, -7)", first_squared},
      {"max", "max(-x^2, -1, y^2)", second_squared},
      {"min", "min(x^2, 2*x^2 + y^2)", first_squared},
      {"min", "min(2*x^2 + y^2, y^2)", second_squared},
      {"mod", "mod(x, 2e9)*x", first_squared},
      {"mod", "mod(-x, 2e9)*x",
       [](Real x, Real) {
         return Partials{2e9L - 2 * x, 0, -2, 0, 0};
       }},
      {"noEvent", "noEvent(abs(x))*x", first_squared},
      {"no_event", "no_event(x)*x", first_squared},
      {"pow", "pow(x, y)", of_power, 0.2, 9},
      {"pow", "x^2.5",
       [](Real x, Real) {
         return Partials{2.5L * std::pow(x, 1.5L), 0, 3.75L * std::sqrt(x), 0, 0};
       }},
      {"pow", "y^7",
       [](Real, Real y) {
         return Partials{0, 7 * std::pow(y, 6), 0, 0, 42 * std::pow(y, 5)};
       }},
      {"pow", "2^x",
       [](Real x, Real) {
         return Partials{ln2 * std::exp2(x), 0, ln2 * ln2 * std::exp2(x), 0, 0};
       },
       1e-9, 100},
      {"pow", "y^-1",
       [](Real, Real y) {
         return Partials{0, -1 / (y * y), 0, 0, 2 / (y * y * y)};
       }},
      {"pow", "y^4",
       [](Real, Real y) {
         return Partials{0, 4 * y * y * y, 0, 0, 12 * y * y};
       }},
      {"pre", "pre(x)*y", product},
      {"rem", "rem(-x, 2e9)*x",
       [](Real x, Real) {
         return Partials{-2 * x, 0, -2, 0, 0};
       }},
      {"round", "round(x)", zero},
      {"sign", "sign(x)*x^2", first_squared},
      of_x(
          "sin", [](Real x) { return std::cos(x); }, [](Real x) { return -std::sin(x); }, 1e-9,
          1e3),
      of_x(
          "sinh", [](Real x) { return std::cosh(x); }, [](Real x) { return std::sinh(x); }, 1e-9,
          100),
      of_x(
          "sqrt", [](Real x) { return 1 / (2 * std::sqrt(x)); },
          [](Real x) { return -1 / (4 * x * std::sqrt(x)); }, 1e-9, 1e9),
      of_x(
          "tan", [](Real x) { return 1 / (std::cos(x) * std::cos(x)); },
          [](Real x) { return 2 * std::tan(x) / (std::cos(x) * std::cos(x)); }, 1e-9, 1.5),
      of_x(
          "tanh", [](Real x) { return 1 / (std::cosh(x) * std::cosh(x)); },
          [](Real x) { return -2 * std::tanh(x) / (std::cosh(x) * std::cosh(x)); }, 1e-9, 300),
      {"+ -", "x - (y + k) - -x",
       [](Real, Real) {
         return Partials{2, -1, 0, 0, 0};
       }},
      {"*", "x*y/k",
       [](Real x, Real y) {
         return Partials{y / 4, x / 4, 0, 0.25L, 0};
       }},
      {"/", "x/y",
       [](Real x, Real y) {
         return Partials{1 / y, -x / (y * y), 0, -1 / (y * y), 2 * x / (y * y * y)};
       }},
      {"< &&", "(x > 0 && !(x <= 0 || y == 0))*x^2", first_squared}};
  return all;
}

class SecondDerivatives : public testing::TestWithParam<Function> {};

/// Rounding of each term counts, not that of what is left of them.
TEST_P(SecondDerivatives, are_those_of_the_closed_form) {
  const auto& [name, text, partials, smallest, largest] = GetParam();
  for (double x = smallest; x <= largest; x *= 7.3)
    for (const double y : {0.3 * x, 1.7 * x, -0.6 * x})
      for (const Curve& curve : {Curve{x, y, 0.7 * x, -1.3 * x, 2.1 * x, 0.4 * x},
                                 Curve{x, y, 0.0, 0.0, x, y}, Curve{x, y, x, y, 0.0, 0.0}}) {
        const Partials by = partials(x, y);
        const Real dx = curve.dx, dy = curve.dy;
        const Real terms[] = {by.x * curve.ddx, by.y * curve.ddy, by.xx * dx * dx,
                              2 * by.xy * dx * dy, by.yy * dy * dy};
        Real expected = 0, size = 0;
        for (const Real term : terms) expected += term, size += std::abs(term);
        if (std::isnan(expected)) continue;
        EXPECT_NEAR(second_derivative(text, curve), static_cast<double>(expected),
                    static_cast<double>(1e-13L * size))
            << "x = " << x << ", y = " << y;
      }
}

INSTANTIATE_TEST_SUITE_P(all, SecondDerivatives, testing::ValuesIn(functions()));

TEST(SecondDerivativesOf, every_function_are_tested) {
  std::set<std::string> tested;
  for (const Function& function : functions()) tested.insert(function.name);
  for (const std::string& name : function_names()) EXPECT_TRUE(tested.contains(name)) << name;
}

struct Kink {
  const char* text;
  Curve curve;
  double expected;
};

void PrintTo(const Kink& kink, std::ostream* out) { *out << kink.text; }

class SecondDerivativesAtKinks : public testing::TestWithParam<Kink> {};

TEST_P(SecondDerivativesAtKinks, are_those_of_the_branch_in_effect) {
  EXPECT_EQ(second_derivative(GetParam().text, GetParam().curve), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    all, SecondDerivativesAtKinks,
    testing::Values(
        Kink{"abs(x)", {0, 0, 1, 0, 5, 0}, 0.0}, Kink{"abs(x)", {-2, 0, 1, 0, 5, 0}, -5.0},
        Kink{"sign(x) + floor(x) + ceil(x) + round(x)", {0, 0, 1, 0, 5, 0}, 0.0},
        Kink{"min(x^2, y^2)", {2, 2, 1, 0, 0, 0}, 2.0},
        Kink{"min(y^2, x^2)", {2, 2, 1, 0, 0, 0}, 0.0},
        Kink{"max(x^2, y^2)", {2, 2, 1, 0, 0, 0}, 2.0},
        Kink{"max(y^2, x^2)", {2, 2, 1, 0, 0, 0}, 0.0},
        Kink{"if(x >= 2, y^2, x^2)", {2, 3, 1, 5, 0, 0}, 50.0},
        Kink{"if(x > 2, y^2, x^2)", {2, 3, 1, 5, 0, 0}, 2.0},
        Kink{"mod(x, y)", {6, 3, 0, 1, 0, 7}, -14.0}, Kink{"rem(x, y)", {-7, 3, 0, 1, 0, 7}, 14.0},
        Kink{"x > 0 ? sqrt(x) : y", {0, 3, 1, 5, 0, 6}, 6.0},
        Kink{"sqrt(x)*y", {0, 3, 0, 1, 0, 6}, 0.0}, Kink{"x^3", {0, 0, 1, 0, 5, 0}, 0.0},
        Kink{"x^2", {0, 0, 3, 0, 5, 0}, 18.0}, Kink{"x^2.5", {0, 0, 3, 0, 5, 0}, 0.0},
        Kink{"hypot(x, y)", {0, 2, 3, 0, 0, 0}, 4.5},
        Kink{"atan2(x, y)", {0, 2, 3, 1, 4, 0}, 0.5}));

TEST(SecondDerivativesOf, what_is_infinitely_steep_are_told_as_such) {
  EXPECT_FALSE(std::isfinite(second_derivative("sqrt(x)", {0, 0, 0, 0, 1, 0})));
  EXPECT_FALSE(std::isfinite(second_derivative("log(x)", {0, 0, 1, 0, 0, 0})));
}

/// A random expression as text and, over s, in long double.
struct Sampled {
  std::string text;
  std::function<Real(Real)> at;
};

class Generator {
 public:
  Generator(unsigned seed, const Curve& curve) : random_(seed), curve_(curve) {}

  Sampled make(int depth) {
    if (depth == 0) return leaf();
    const Sampled a = make(depth - 1);
    const auto f = a.at;
    switch (random_() % 14) {
      case 0:
        return {"sin(" + a.text + ")", [f](Real s) { return std::sin(f(s)); }};
      case 1:
        return {"tanh(" + a.text + ")", [f](Real s) { return std::tanh(f(s)); }};
      case 2:
        return {"atan(" + a.text + ")", [f](Real s) { return std::atan(f(s)); }};
      case 3:
        return {"exp(sin(" + a.text + "))", [f](Real s) { return std::exp(std::sin(f(s))); }};
      case 4:
        return {"sqrt(3 + cos(" + a.text + "))",
                [f](Real s) { return std::sqrt(3 + std::cos(f(s))); }};
      case 5:
        return {"log(2 + (" + a.text + ")^2)", [f](Real s) { return std::log(2 + f(s) * f(s)); }};
      case 6:
        return {"asinh(" + a.text + ")", [f](Real s) { return std::asinh(f(s)); }};
      default:
        return of_two(a, make(depth - 1));
    }
  }

 private:
  Sampled leaf() {
    const Curve c = curve_;
    switch (random_() % 3) {
      case 0:
        return {"x", [c](Real s) { return c.x + s * (c.dx + s * c.ddx / 2); }};
      case 1:
        return {"y", [c](Real s) { return c.y + s * (c.dy + s * c.ddy / 2); }};
      default:
        const double number = static_cast<double>(random_() % 16) / 8.0;
        return {std::to_string(number), [number](Real) { return Real(number); }};
    }
  }

  Sampled of_two(const Sampled& a, const Sampled& b) {
    const auto f = a.at, g = b.at;
    const std::string in = "(" + a.text + ")", other = "(" + b.text + ")";
    switch (random_() % 6) {
      case 0:
        return {in + " + " + other, [f, g](Real s) { return f(s) + g(s); }};
      case 1:
        return {in + " - " + other, [f, g](Real s) { return f(s) - g(s); }};
      case 2:
        return {in + "/(2 + sin" + other + ")",
                [f, g](Real s) { return f(s) / (2 + std::sin(g(s))); }};
      case 3:
        return {"hypot(2 + " + in + "^2, " + other + ")",
                [f, g](Real s) { return std::hypot(2 + f(s) * f(s), g(s)); }};
      case 4:
        return {"(1.5 + sin" + in + ")^cos" + other,
                [f, g](Real s) { return std::pow(1.5L + std::sin(f(s)), std::cos(g(s))); }};
      default:
        return {in + "*" + other, [f, g](Real s) { return f(s) * g(s); }};
    }
  }

  std::mt19937 random_;
  Curve curve_;
};

/// By central differences over h, h/2, ..., extrapolated to 0 (Richardson 1911).
Real extrapolated(const std::function<Real(Real)>& f, Real h) {
  constexpr int levels = 6;
  std::array<Real, levels> table{};
  for (int i = 0; i < levels; ++i, h /= 2) {
    Real better = (f(h) - 2 * f(0) + f(-h)) / (h * h), factor = 4;
    for (int k = 0; k < i; ++k, factor *= 4) {
      const Real worse = std::exchange(table[k], better);
      better += (better - worse) / (factor - 1);
    }
    table[i] = better;
  }
  return table[levels - 1];
}

TEST(SecondDerivativesOf, random_expressions_are_those_of_differences) {
  const Curve curve{0.4, -0.7, 0.3, 0.5, -0.6, 0.2};
  int compared = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    const Sampled sampled = Generator(seed, curve).make(4);
    const Real fine = extrapolated(sampled.at, 0.1L), coarse = extrapolated(sampled.at, 0.14L);
    const Real size = 1 + std::abs(fine);
    if (!(std::abs(fine - coarse) <= 1e-10L * size)) continue;
    ++compared;
    EXPECT_NEAR(second_derivative(sampled.text, curve), static_cast<double>(fine),
                static_cast<double>(1e-9L * size))
        << sampled.text;
  }
  EXPECT_GT(compared, 200);
}

TEST(SecondDerivativesOf, long_expressions_cost_little) {
  std::string sum = "x";
  for (int i = 0; i < 20000; ++i) sum += i % 2 == 0 ? "*1.0000001+y" : "*0.9999999+x";
  EXPECT_NEAR(second_derivative(sum, {1.0, 1.0, 1.0, 1.0, 1.0, 2.0}), 30001.0, 1.0);
}

}  // namespace second_derivatives_test
}  // namespace concord
