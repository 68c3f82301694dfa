#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>

#include "expression/expression_list.hpp"

namespace concord {
namespace derivatives_test {

using Complex = std::complex<double>;

/// Expressions in x (variable 0), y (1) and t (2).
ExpressionList list_of(const std::vector<std::string>& texts) {
  std::vector<PlacedExpression> expressions;
  for (const std::string& text : texts) expressions.push_back({text, "m.yaml:1"});
  return ExpressionList(expressions, {{{"x", 0}, {"y", 1}, {"t", 2}}, {{"k", 4.0}}}, 3);
}

/// Row by row, all three columns.
std::vector<double> jacobian(ExpressionList& list, std::array<double, 3> at) {
  std::copy(at.begin(), at.end(), list.point().begin());
  const std::span<const double> values = list.differentiate();
  std::vector<double> result(3 * list.count(), 0.0);
  for (std::size_t i = 0; i < values.size(); ++i)
    result[3 * list.entries()[i].row + list.entries()[i].variable] = values[i];
  return result;
}

struct Function {
  const char* text;
  std::function<Complex(Complex, Complex)> function;
  double smallest, largest;  ///< of x
};

void PrintTo(const Function& function, std::ostream* out) { *out << function.text; }

class SmoothFunctions : public testing::TestWithParam<Function> {};

/// Complex steps: Im f(x + i h)/h has no cancellation (Squire and Trapp 1998).
TEST_P(SmoothFunctions, have_exact_derivatives) {
  const auto& [text, function, smallest, largest] = GetParam();
  ExpressionList list = list_of({text});
  for (double x = smallest; x <= largest; x *= 7.3)
    for (const double y : {0.3 * x, 1.7 * x, -0.6 * x}) {
      const double h = 1e-30;
      const auto found = jacobian(list, {x, y, 0.0});
      const double by_x = function({x, h * x}, y).imag() / (h * x);
      const double by_y = function(x, {y, h * x}).imag() / (h * x);
      EXPECT_NEAR(found[0], by_x, 3e-14 * std::abs(by_x)) << "x = " << x << ", y = " << y;
      EXPECT_NEAR(found[1], by_y, 3e-14 * std::abs(by_y)) << "x = " << x << ", y = " << y;
      EXPECT_EQ(found[2], 0.0);
    }
}

/// d atan2(x, y): the imaginary part of (y + i x) turned.
Complex angle(Complex x, Complex y) {
  const double below = std::norm(Complex(x.real(), y.real()));
  return {std::atan2(x.real(), y.real()), (y.real() * x.imag() - x.real() * y.imag()) / below};
}

/// 1/cosh^2 has no cancellation; std::tanh of a complex number has.
Complex wide_tanh(Complex x) {
  const double wide = std::cosh(x.real());
  return {std::tanh(x.real()), x.imag() / wide / wide};
}

/// f at a real number with the slope f' in the imaginary part.
Function real(const char* text, double (*f)(double), double (*slope)(double), double smallest,
              double largest) {
  return {text,
          [=](Complex x, Complex) { return Complex(f(x.real()), slope(x.real()) * x.imag()); },
          smallest, largest};
}

INSTANTIATE_TEST_SUITE_P(
    all, SmoothFunctions,
    testing::Values(
        Function{"sin(x)", [](Complex x, Complex) { return std::sin(x); }, 1e-12, 1e3},
        Function{"cos(x)", [](Complex x, Complex) { return std::cos(x); }, 1e-12, 1e3},
        Function{"tan(x)", [](Complex x, Complex) { return std::sin(x) / std::cos(x); }, 1e-12, 1},
        Function{"sinh(x)", [](Complex x, Complex) { return std::sinh(x); }, 1e-12, 100},
        Function{"cosh(x)", [](Complex x, Complex) { return std::cosh(x); }, 1e-12, 100},
        Function{"tanh(x)", [](Complex x, Complex) { return wide_tanh(x); }, 1e-12, 100},
        Function{"exp(x)", [](Complex x, Complex) { return std::exp(x); }, 1e-12, 100},
        Function{"log(x)", [](Complex x, Complex) { return std::log(x); }, 1e-12, 1e12},
        Function{"ln(x)", [](Complex x, Complex) { return std::log(x); }, 1e-12, 1e12},
        Function{"log10(x)", [](Complex x, Complex) { return std::log10(x); }, 1e-12, 1e12},
        Function{"sqrt(x)", [](Complex x, Complex) { return std::sqrt(x); }, 1e-12, 1e12},
        Function{"x^2.5", [](Complex x, Complex) { return std::pow(x, 2.5); }, 1e-12, 1e12},
        Function{"x^2", [](Complex x, Complex) { return x * x; }, 1e-12, 1e12},
        Function{"y^3", [](Complex, Complex y) { return y * y * y; }, 1e-12, 1e12},
        Function{"y^4", [](Complex, Complex y) { return y * y * y * y; }, 1e-12, 1e12},
        Function{"y^-1", [](Complex, Complex y) { return 1.0 / y; }, 1e-12, 1e12},
        Function{"pow(y, 7)", [](Complex, Complex y) { return y * y * y * y * y * y * y; }, 1e-12,
                 1e12},
        Function{"x^y", [](Complex x, Complex y) { return std::exp(y * std::log(x)); }, 0.1, 10},
        Function{"x/y", [](Complex x, Complex y) { return x / y; }, 1e-12, 1e12},
        Function{"1.38e-23*x*y", [](Complex x, Complex y) { return 1.38e-23 * x * y; }, 1e-12,
                 1e24},
        Function{"-(x - y)*(k + x)/k",
                 [](Complex x, Complex y) { return -(x - y) * (4.0 + x) / 4.0; }, 1e-12, 1e12},
        Function{"hypot(x, y)", [](Complex x, Complex y) { return std::sqrt(x * x + y * y); },
                 1e-12, 1e12},
        Function{"atan2(x, y)", angle, 1e-12, 1e12},
        Function{
            "sin(x*y)*exp(-x)/(1 + x^2)",
            [](Complex x, Complex y) { return std::sin(x * y) * std::exp(-x) / (1.0 + x * x); },
            1e-12, 10},
        real(
            "asin(x)", std::asin, [](double x) { return 1 / std::sqrt((1 - x) * (1 + x)); }, 1e-12,
            1),
        real(
            "acos(x)", std::acos, [](double x) { return -1 / std::sqrt((1 - x) * (1 + x)); }, 1e-12,
            1),
        real(
            "atan(x)", std::atan, [](double x) { return 1 / (1 + x * x); }, 1e-12, 1e12),
        real(
            "asinh(x)", std::asinh, [](double x) { return 1 / std::hypot(1, x); }, 1e-12, 1e12),
        real(
            "acosh(1 + x)", std::acosh,
            [](double x) { return 1 / std::sqrt(((1 + x) - 1) * ((1 + x) + 1)); }, 1e-6, 1e12),
        real(
            "atanh(x)", std::atanh, [](double x) { return 1 / ((1 - x) * (1 + x)); }, 1e-12, 1),
        real(
            "log2(x)", std::log2, [](double x) { return 1 / (x * std::log(2.0)); }, 1e-12, 1e12),
        real(
            "cbrt(x)", std::cbrt, [](double x) { return 1 / (3 * std::pow(std::cbrt(x), 2)); },
            1e-12, 1e12)));

struct Kink {
  const char* text;
  std::array<double, 3> at;
  std::array<double, 3> gradient;
};

void PrintTo(const Kink& kink, std::ostream* out) { *out << kink.text; }

class Kinks : public testing::TestWithParam<Kink> {};

TEST_P(Kinks, have_the_derivative_of_the_branch_in_effect) {
  const auto& [text, at, gradient] = GetParam();
  ExpressionList list = list_of({text});
  EXPECT_EQ(jacobian(list, at), std::vector<double>(gradient.begin(), gradient.end()));
}

INSTANTIATE_TEST_SUITE_P(
    all, Kinks,
    testing::Values(Kink{"abs(x)", {-3, 0, 0}, {-1, 0, 0}}, Kink{"abs(x)", {3, 0, 0}, {1, 0, 0}},
                    Kink{"abs(x)", {0, 0, 0}, {0, 0, 0}}, Kink{"sign(x)", {3, 0, 0}, {0, 0, 0}},
                    Kink{"floor(x) + ceil(x) + round(x)", {3, 0, 0}, {0, 0, 0}},
                    Kink{"min(2*x, 3*y)", {1, 2, 0}, {2, 0, 0}},
                    Kink{"min(2*x, 3*y)", {2, 1, 0}, {0, 3, 0}},
                    Kink{"max(2*x, 3*y, 5*t)", {1, 2, 0}, {0, 3, 0}},
                    Kink{"max(2*x, 3*y, 5*t)", {1, 2, 3}, {0, 0, 5}},
                    Kink{"min(2*x, x*y)", {1, 2, 0}, {2, 0, 0}},
                    Kink{"if(x > 1, y^2, t)", {2, 3, 4}, {0, 6, 0}},
                    Kink{"if(x > 1, y^2, t)", {0, 3, 4}, {0, 0, 1}},
                    Kink{"x < 1 ? x : 7", {0, 0, 0}, {1, 0, 0}},
                    Kink{"(x > 1)*y + (y == 2 && t <= 1)*x + !x", {2, 3, 0}, {0, 1, 0}},
                    Kink{"mod(x, y)", {-7, 3, 0}, {1, 3, 0}},
                    Kink{"rem(x, y)", {-7, 3, 0}, {1, 2, 0}},
                    Kink{"x > 0 ? sqrt(x) : 0*y", {-1, 0, 0}, {0, 0, 0}},
                    Kink{"x > 0 ? 1/x : 5*x", {0, 0, 0}, {5, 0, 0}},
                    Kink{"max(sqrt(x), y)", {0, 1, 0}, {0, 1, 0}},
                    Kink{"y*sqrt(x)", {0, 0, 0}, {0, 0, 0}}, Kink{"x^y", {0, 2, 0}, {0, 0, 0}}));

TEST(Derivatives, that_are_infinite_are_told_as_such) {
  ExpressionList list = list_of({"sqrt(x)", "log(y)"});
  const auto found = jacobian(list, {0.0, 0.0, 0.0});
  EXPECT_TRUE(std::isinf(found[0]));
  EXPECT_TRUE(std::isinf(found[4]));
}

TEST(Derivatives, along_a_direction) {
  ExpressionList list = list_of({"x*y + sin(t)", "sqrt(x)*y", "7"});
  const double at[] = {3.0, 2.0, 0.5}, direction[] = {0.25, -1.0, 2.0};
  std::copy(at, at + 3, list.point().begin());
  double slopes[3];
  list.slopes(direction, slopes);
  EXPECT_DOUBLE_EQ(slopes[0], 2.0 * 0.25 - 3.0 + 2.0 * std::cos(0.5));
  EXPECT_DOUBLE_EQ(slopes[1], 2.0 * 0.25 * 0.5 / std::sqrt(3.0) - std::sqrt(3.0));
  EXPECT_EQ(slopes[2], 0.0);
  std::fill(list.point().begin(), list.point().end(), 0.0);
  const double at_rest[] = {0.0, 1.0, 0.0};
  list.slopes(at_rest, slopes);
  EXPECT_EQ(slopes[1], 0.0);
}

TEST(Affine, expressions_are_found_by_their_form) {
  for (const std::string text : {"(x + y - k*t)/5", "3", "-x", "x*k/7 + 2*(y - 3)", "x*2^k",
                                 "1e-30*x", "sin(k)*x", "floor(x) + y", "k > 1 ? x : x^2", "x^1"})
    EXPECT_TRUE(list_of({text}).affine()) << text;
  for (const std::string text : {"1.38e-23*x*y", "1e-300*x*y", "x + 1e-200*sin(y)", "x/y", "x^2",
                                 "x > 1 ? x : 2*x", "abs(x)", "1e-18*x*y + x", "t*x"})
    EXPECT_FALSE(list_of({"x", text}).affine()) << text;
}

TEST(Sparsity, is_that_of_the_expressions) {
  ExpressionList list = list_of({"x + t", "sin(y)", "k", "floor(x)*y", "x - y*0"});
  std::vector<std::pair<unsigned, unsigned>> found;
  for (const auto& [row, variable] : list.entries()) found.emplace_back(row, variable);
  const std::vector<std::pair<unsigned, unsigned>> expected = {
      {0, 0}, {0, 2}, {1, 1}, {3, 1}, {4, 0}};
  EXPECT_EQ(found, expected);
}

TEST(Derivatives, of_long_expressions_cost_little) {
  std::string sum = "x";
  for (int i = 0; i < 20000; ++i) sum += i % 2 == 0 ? "*1.0000001+y" : "*0.9999999+x";
  ExpressionList list = list_of({sum});
  const auto found = jacobian(list, {1.0, 1.0, 0.0});
  EXPECT_NEAR(found[0], 10001.0, 0.5);
  EXPECT_NEAR(found[1], 10000.0, 0.5);
}

}  // namespace derivatives_test
}  // namespace concord
