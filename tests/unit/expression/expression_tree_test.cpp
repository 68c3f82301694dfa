#include "expression/expression_tree.hpp"

#include <gtest/gtest.h>

#include "concord/errors.hpp"

namespace concord {
namespace expression_tree_test {

std::string number_text(double value) {
  std::string text = std::to_string(value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

/// In prefix form: (+ a (* b c)).
std::string shown(const Expression& node) {
  if (node->kind == ExpressionNode::Kind::number) return number_text(node->value);
  if (node->arguments.empty()) return node->symbol;
  std::string text = "(" + node->symbol;
  for (const Expression& argument : node->arguments) text += " " + shown(argument);
  return text + ")";
}

std::string tree(const std::string& text) { return shown(parse_expression({text, "m.yaml:1"})); }

std::string error(const std::string& text) {
  try {
    parse_expression({text, "m.yaml:1"});
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

struct Case {
  const char *text, *tree;
};

class Trees : public testing::TestWithParam<Case> {};

TEST_P(Trees, follow_the_rules_of_expressions) {
  EXPECT_EQ(tree(GetParam().text), GetParam().tree);
}

INSTANTIATE_TEST_SUITE_P(
    precedence, Trees,
    testing::Values(Case{"a+b*c", "(+ a (* b c))"}, Case{"(a+b)*c", "(* (+ a b) c)"},
                    Case{"a-b-c", "(- (- a b) c)"}, Case{"a/b/c", "(/ (/ a b) c)"},
                    Case{"a/b*c", "(* (/ a b) c)"}, Case{"-a^2", "(- (^ a 2))"},
                    Case{"2^3^a", "(^ 2 (^ 3 a))"}, Case{"2^-a*b", "(* (^ 2 (- a)) b)"},
                    Case{"2^-a^b", "(^ 2 (- (^ a b)))"}, Case{"-a*b", "(* (- a) b)"},
                    Case{"a*-b", "(* a (- b))"}, Case{"+a", "a"}, Case{"!a==b", "(== (! a) b)"},
                    Case{"!(a!=b)", "(! (!= a b))"}, Case{"a<b+1", "(< a (+ b 1))"},
                    Case{"(a<b)<c", "(< (< a b) c)"}, Case{"a<=b&&c>d", "(&& (<= a b) (> c d))"},
                    Case{"a||b&&c", "(|| a (&& b c))"}, Case{"a?b:c?d:e", "(? a b (? c d e))"},
                    Case{"a?b?c:d:e", "(? a (? b c d) e)"}, Case{"a||b?c:d", "(? (|| a b) c d)"}));

INSTANTIATE_TEST_SUITE_P(words, Trees,
                         testing::Values(Case{"min( a , b,c )", "(min a b c)"},
                                         Case{"if(a>0,b,-c)", "(if (> a 0) b (- c))"},
                                         Case{"sin (x_1)", "(sin x_1)"}, Case{"pi", "pi"},
                                         Case{"1e3+.5+2.", "(+ (+ 1000 0.5) 2)"},
                                         Case{"2.5e-1*e1", "(* 0.25 e1)"}));

TEST(ExpressionTree, says_where_it_gives_up) {
  EXPECT_EQ(tree(std::string(500, '(') + "a" + std::string(500, ')')), "a");
  EXPECT_EQ(error(std::string(50000, '(') + "a" + std::string(50000, ')')).substr(0, 8),
            "m.yaml:1");
  EXPECT_NE(error(std::string(50000, '(') + "a" + std::string(50000, ')')).find("levels deep"),
            std::string::npos);
  EXPECT_NE(error(std::string(50000, '-') + "a").find("levels deep"), std::string::npos);
  EXPECT_NE(error("a b").find("'b'"), std::string::npos);
  EXPECT_NE(error("a+").find("ends too early"), std::string::npos);
  EXPECT_NE(error("sin(a").find("parenthesis is missing"), std::string::npos);
}

TEST(ExpressionTree, counts_the_levels_that_need_brackets) {
  const auto levels = [](const std::string& text) {
    return nesting(parse_expression({text, "m.yaml:1"}));
  };
  EXPECT_EQ(levels("a"), 0u);
  EXPECT_EQ(levels("((((a))))"), 0u);
  EXPECT_EQ(levels("---a"), 3u);
  EXPECT_EQ(levels("a+a+a+a*a"), 2u);
  EXPECT_EQ(levels("sin(sin(sin(a)))"), 3u);
}

TEST(ExpressionTree, long_sums_are_no_problem) {
  std::string sum = "a";
  for (int i = 0; i < 7000; ++i) sum += "+a";
  EXPECT_EQ(tree(sum).size(), 7000u * 6 + 1);
}

}  // namespace expression_tree_test
}  // namespace concord
