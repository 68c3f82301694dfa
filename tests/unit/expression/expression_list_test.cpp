#include "expression/expression_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "concord/errors.hpp"

namespace concord {
namespace expression_list_test {

struct Values {
  double x = 3.0, y = -2.0, t = 0.5;

  static ExpressionNames names() {
    return {{{"x", 0}, {"y", 1}, {"t", 2}, {"left.x", 0}}, {{"k", 4.0}}};
  }
  void move(ExpressionList& list) const {
    const std::array<double, 3> at{x, y, t};
    std::copy(at.begin(), at.end(), list.point().begin());
  }

  double of(const std::string& text) const {
    const PlacedExpression expression{text, "model.yaml:7: subsystem 'left', output 'o'"};
    double result = 0.0;
    ExpressionList list({&expression, 1}, names(), 3);
    move(list);
    list.evaluate({&result, 1});
    return result;
  }

  std::string error(const std::string& text) const {
    try {
      of(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }
};

struct Case {
  const char* text;
  double value;
};

class Expressions : public testing::TestWithParam<Case> {};

TEST_P(Expressions, mean_what_mathematicians_mean) {
  EXPECT_DOUBLE_EQ(Values().of(GetParam().text), GetParam().value) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    arithmetic, Expressions,
    testing::Values(Case{"-x^2", -9.0}, Case{"(-x)^2", 9.0}, Case{"2^3^2", 512.0},
                    Case{"2^-1", 0.5}, Case{"2*-x", -6.0}, Case{"x--y", 1.0}, Case{"-y^2*x", -12.0},
                    Case{"2-3-4", -5.0}, Case{"16/4/2", 2.0}, Case{"x/2*4", 6.0},
                    Case{"1e-3*x", 3e-3}, Case{".5+1.", 1.5}, Case{"2*x+3*x", 15.0},
                    Case{"k*x", 12.0}, Case{"x^0.5", std::sqrt(3.0)}, Case{" x\n + y ", 1.0},
                    Case{"left.x + 1", 4.0}, Case{"x*.5", 1.5}));

INSTANTIATE_TEST_SUITE_P(
    logic, Expressions,
    testing::Values(Case{"x > 2", 1.0}, Case{"x <= 2", 0.0}, Case{"x == 3 && y < 0", 1.0},
                    Case{"x != 3 || y > 0", 0.0}, Case{"!(x > 2)", 0.0}, Case{"x<-1", 0.0},
                    Case{"x > 2 ? 10 : 20", 10.0}, Case{"x < 2 ? 10 : y < 0 ? 20 : 30", 20.0},
                    Case{"if(x > 2, 10, 20)", 10.0}, Case{"if(x > 5, 1/0, 20)", 20.0},
                    Case{"1 + (t < 1 ? 2 : 3)", 3.0}, Case{"time*4 + t", 2.5},
                    Case{"noEvent(x > 2) + no_event(y)", -1.0}));

INSTANTIATE_TEST_SUITE_P(
    functions, Expressions,
    testing::Values(Case{"sin(pi/2)", 1.0}, Case{"cos(x)", std::cos(3.0)},
                    Case{"tan(x)", std::tan(3.0)}, Case{"atan2(y, x)", std::atan2(-2.0, 3.0)},
                    Case{"asin(t)", std::asin(0.5)}, Case{"acos(t)", std::acos(0.5)},
                    Case{"atan(x)", std::atan(3.0)}, Case{"tanh(x)", std::tanh(3.0)},
                    Case{"sinh(t)", std::sinh(0.5)}, Case{"cosh(t)", std::cosh(0.5)},
                    Case{"exp(x)", std::exp(3.0)}, Case{"log(x)", std::log(3.0)},
                    Case{"ln(x)", std::log(3.0)}, Case{"log10(1000)", 3.0}, Case{"log2(8)", 3.0},
                    Case{"sqrt(16)", 4.0}, Case{"abs(y)", 2.0}, Case{"sign(y)", -1.0},
                    Case{"sign(0)", 0.0}, Case{"floor(-1.5)", -2.0}, Case{"ceil(1.2)", 2.0},
                    Case{"min(x, y)", -2.0}, Case{"max(1, x, y)", 3.0}, Case{"max(y)", -2.0},
                    Case{"pow(2, 10)", 1024.0}, Case{"mod(-1, 3)", 2.0}, Case{"mod(7, 3)", 1.0},
                    Case{"rem(-1, 3)", -1.0}, Case{"hypot(3, 4)", 5.0},
                    Case{"2*pi", 2.0 * std::numbers::pi}));

TEST(Expressions, give_infinity_or_nan_instead_of_an_exception) {
  Values values;
  EXPECT_EQ(values.of("1/(x-3)"), HUGE_VAL);
  EXPECT_EQ(values.of("1/0"), HUGE_VAL);
  EXPECT_TRUE(std::isnan(values.of("sqrt(y)")));
  EXPECT_TRUE(std::isnan(values.of("log(y)")));
  EXPECT_TRUE(std::isnan(values.of("max(1, sqrt(y), 2)")));
  EXPECT_TRUE(std::isnan(values.of("mod(x, 0)")));
}

TEST(Expressions, are_evaluated_together_at_each_point) {
  Values values;
  const PlacedExpression expressions[] = {{"x + t", "a"}, {"x*y", "b"}, {"y", "c"}};
  ExpressionList list(expressions, values.names(), 3);
  double results[3];
  values.move(list);
  list.evaluate(results);
  EXPECT_EQ(results[0], 3.5);
  values.x = 10.0;
  values.move(list);
  list.evaluate(results);
  EXPECT_EQ(results[0], 10.5);
  EXPECT_EQ(results[1], -20.0);
  EXPECT_EQ(results[2], -2.0);
}

TEST(Expressions, may_be_thousands) {
  Values values;
  std::vector<PlacedExpression> expressions;
  for (int i = 0; i < 4000; ++i) {
    expressions.push_back({"x*" + std::to_string(i) + " + t", "place"});
  }
  std::vector<double> results(expressions.size());
  ExpressionList list(expressions, values.names(), 3);
  values.move(list);
  list.evaluate(results);
  for (std::size_t i = 0; i < results.size(); ++i) {
    ASSERT_EQ(results[i], 3.0 * static_cast<double>(i) + 0.5) << i;
  }
}

TEST(Expressions, of_no_list_evaluate_to_nothing) {
  ExpressionList({}, ExpressionNames{}, 0).evaluate({});
}

struct Wrong {
  const char* text;
  const char* message;
};

class WrongExpressions : public testing::TestWithParam<Wrong> {};

TEST_P(WrongExpressions, are_explained) {
  const std::string message = Values().error(GetParam().text);
  EXPECT_TRUE(message.starts_with("model.yaml:7: subsystem 'left', output 'o': ")) << message;
  EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    all, WrongExpressions,
    testing::Values(
        Wrong{"1 + foo", "unknown name 'foo'; known names: k, left.x, t, x, y (position 5 of"},
        Wrong{"left.v", "unknown name 'left.v'; did you mean 'left.x'?"},
        Wrong{"sine(x)", "unknown function 'sine'; did you mean 'sin'? known functions: abs, "},
        Wrong{"x(3)", "'x' is not a function; write x*(...) to multiply (position 1 of"},
        Wrong{"sin + 1", "the function 'sin' needs its arguments in ( )"},
        Wrong{"x = 3", "write == to compare (position 3 of 'x = 3')"},
        Wrong{"x ** 2", "write ^ for powers"}, Wrong{"x, y", "a comma outside"},
        Wrong{"(x, y)", "a comma outside"}, Wrong{"x) + (y", "this ')' closes nothing"},
        Wrong{"sin(x", "a closing parenthesis is missing"}, Wrong{"", "the expression is empty"},
        Wrong{"  \n ", "the expression is empty"}, Wrong{"x $ y", "'$' means nothing"},
        Wrong{"x + \xc3\xa4", "means nothing"}, Wrong{"\"x\"", "means nothing"},
        Wrong{"x +", "ends too early"}, Wrong{"x + * y", "operator '*' cannot stand here"},
        Wrong{"2x", "an operator is missing before 'x' (position 2 of '2x')"},
        Wrong{"x y", "an operator is missing before 'y'"},
        Wrong{"atan2(x)", "the function 'atan2' has too few arguments"},
        Wrong{"sin(x, y)", "the function 'sin' has too many arguments"},
        Wrong{"sin()", "too few arguments"}, Wrong{"x > 1 ? 2", "lacks its ': value'"},
        Wrong{"1e400", "cannot be read"}, Wrong{"()", "position"}, Wrong{"x & y", "cannot"},
        Wrong{"1.2.3", "operator is missing"}, Wrong{"1 : 2", "position"},
        Wrong{"x . y", "position"}, Wrong{"!", "position"}, Wrong{"?:", "position"},
        Wrong{"(x)(y)", "an operator is missing before '('"},
        Wrong{"sin(x,)", "a value is missing before ')'"},
        Wrong{"max(,x)", "the function 'max' has too few arguments (position 1 of"},
        Wrong{"x < 1 : 2", "this ':' belongs to no '?'"},
        Wrong{"(x ? y) : 2", "lacks its ': value' (position 4 of"},
        Wrong{"x | y", "'|' cannot be read here; write || for 'or' (position 3 of"},
        Wrong{"1e-400", "cannot be read"}, Wrong{"x !y", "an operator is missing before '!'"},
        Wrong{"sin(x, y", "a closing parenthesis is missing"}));

TEST(WrongExpressions, are_found_among_right_ones) {
  Values values;
  const PlacedExpression expressions[] = {{"x", "first"}, {"x + / y", "second"}, {"y", "third"}};
  try {
    ExpressionList(expressions, values.names(), 3);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("second: ")) << error.what();
  }
}

TEST(WrongExpressions, of_great_depth_are_errors_and_no_crash) {
  Values values;
  EXPECT_NE(values.error(std::string(100000, '(')).find("parenthesis"), std::string::npos);
  for (const std::string repeated : {"(", "-", "sin(", "x^", "t?x:", "x-("}) {
    std::string text, ends;
    for (int i = 0; i < 20000; ++i) {
      text += repeated;
      ends += repeated.ends_with('(') ? ")" : "";
    }
    EXPECT_NE(values.error(text + "x" + ends).find("levels deep"), std::string::npos) << repeated;
  }
}

TEST(Expressions, may_be_long_and_nest_deeply) {
  Values values;
  const std::string deep = std::string(5000, '(') + "x" + std::string(5000, ')');
  EXPECT_EQ(values.of(deep), 3.0);
  std::string sum = "x";
  for (int i = 0; i < 50000; ++i) sum += "+x";
  EXPECT_EQ(values.of(sum), 150003.0);
}

TEST(Expressions, may_have_long_names) {
  Values values;
  ExpressionNames names = values.names();
  const std::string name(200, 'a');
  names.constants.emplace(name, 1.5);
  const PlacedExpression expression{"2*" + name, "here"};
  ExpressionList list({&expression, 1}, names, 3);
  double result = 0.0;
  list.evaluate({&result, 1});
  EXPECT_EQ(result, 3.0);
}

ExpressionList cell(double k) {
  const PlacedExpression expression{"k*(x - y)^2", "here"};
  return ExpressionList({&expression, 1}, {{{"x", 0}, {"y", 1}}, {{"k", k}}}, 2);
}

TEST(SharedPrograms, differ_in_constants_only) {
  ExpressionList first = cell(10.0), second = cell(10.5), one = cell(1.0);
  EXPECT_TRUE(first.shares_with(second));
  EXPECT_FALSE(first.shares_with(one));  // 1*a is a
  for (auto [list, k] : {std::pair(&first, 10.0), std::pair(&second, 10.5), std::pair(&one, 1.0)}) {
    list->point()[0] = 3.0;
    list->point()[1] = 1.0;
    double value = 0.0;
    list->evaluate({&value, 1});
    EXPECT_EQ(value, 4.0 * k);
    EXPECT_EQ(list->differentiate()[0], 4.0 * k);
    EXPECT_EQ(list->differentiate()[1], -4.0 * k);
  }
}

TEST(SharedPrograms, live_as_long_as_a_list) {
  ExpressionList kept = cell(2.0);
  for (int i = 0; i < 100; ++i) {
    const std::string text = "x + " + std::string(static_cast<std::size_t>(i), '-') + "y*t";
    Values().of(text);
  }
  EXPECT_TRUE(kept.shares_with(cell(3.0)));
}

TEST(WidePrograms, give_the_bits_of_each_expression_alone) {
  std::vector<PlacedExpression> all;
  for (int i = 1; i <= 40; ++i) {
    const std::string n = std::to_string(i);
    for (const std::string& text : {"sin(x*" + n + ")/" + n + " + y^3", "x > " + n + " ? x*y : t/y",
                                    "(x - " + n + ")*(y + t) - exp(-x/" + n + ")",
                                    "min(x*" + n + ", y*y) + atan2(y, x + " + n + ")"})
      all.push_back({text, "here"});
  }
  Values values;
  ExpressionList together(all, Values::names(), 3);
  values.move(together);
  std::vector<double> results(all.size());
  together.evaluate(results);
  const std::span<const double> slopes = together.differentiate();
  std::size_t slope = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    ExpressionList alone({&all[i], 1}, Values::names(), 3);
    values.move(alone);
    double result = 0.0;
    alone.evaluate({&result, 1});
    EXPECT_EQ(results[i], result) << all[i].text;
    for (const double expected : alone.differentiate()) EXPECT_EQ(slopes[slope++], expected);
  }
  EXPECT_EQ(slope, slopes.size());
}

TEST(WrongExpressions, of_several_lines_are_told_in_one) {
  Values values;
  for (const std::string text : {"x +\n y z", "x\n+ /", "(x\n", "x\n ? y"})
    EXPECT_EQ(values.error(text).find('\n'), std::string::npos) << values.error(text);
}

}  // namespace expression_list_test
}  // namespace concord
