#include "expression/relations.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "expression/expression_list.hpp"

namespace concord {
namespace relations_test {

/// x and t move, k and n don't.
ExpressionNames names() {
  ExpressionNames result;
  for (const char* name : {"x", "t", "k", "n"}) {
    result.variables.emplace(name, static_cast<std::uint32_t>(result.variables.size()));
  }
  return result;
}

Relations relations() {
  return Relations([](const std::string& name) { return name == "x" || name == "t"; });
}

Expression read(const std::string& text) { return read_expression({text, "here"}, names()); }

TEST(Relations, are_written_as_they_were) {
  for (const char* text : {"a + b*c", "(a + b)*c", "-x^2", "(-x)^2", "2^3^2", "(2^3)^2",
                           "a - (b - c)", "a ? b : c", "min(a, b + 1, 2)", "!(a && b) || c < 0"}) {
    EXPECT_EQ(in_words(parse_expression({text, "here"})), text);
  }
}

TEST(Relations, are_taken_out_once_each) {
  Relations taken = relations();
  EXPECT_EQ(in_words(taken.taken_out_of(read("x > k ? x : 2")).tree), "#0 ? x : 2");
  EXPECT_EQ(in_words(taken.taken_out_of(read("(x > k) + (t >= 1)")).tree), "#0 + #1");
  ASSERT_EQ(taken.all().size(), 2u);
  EXPECT_EQ(taken.all()[0].text, "x > k");
  EXPECT_EQ(taken.all()[0].kind, Relation::Kind::less);
  EXPECT_EQ(in_words(taken.all()[0].left), "k");
  EXPECT_EQ(taken.all()[1].kind, Relation::Kind::less_equal);
}

TEST(Relations, of_what_moves_at_events_only_stay) {
  Relations taken = relations();
  for (const char* text : {"k > 2 ? 1 : x", "n == 1", "floor(k)*x", "abs(k - n)", "no_event(x > k)",
                           "noEvent(abs(x)) + x"}) {
    EXPECT_EQ(in_words(taken.taken_out_of(read(text)).tree), in_words(read(text)));
  }
  EXPECT_TRUE(taken.all().empty());
}

/// With every relation's variable at what the relation is, the value is what it was.
TEST(Relations, leave_the_value) {
  for (const char* text :
       {"abs(x - 1)", "sign(x)", "min(x, k, t)", "max(x, k, t)", "floor(x)", "ceil(x)", "round(x)",
        "mod(x, k)", "rem(x, k)", "mod(x, -k)", "x < k && !(x < t)", "x != k", "x == k",
        "floor(abs(x)) + (abs(x) > 1)", "if(x > 0, sqrt(abs(x)), x)"}) {
    Relations taken = relations();
    const Expression smooth = taken.taken_out_of(read(text)).tree;
    ExpressionNames all = names();
    for (std::size_t i = 0; i < taken.all().size(); ++i) {
      all.variables.emplace(Relations::name(i), static_cast<std::uint32_t>(4 + i));
    }
    const std::size_t count = 4 + taken.all().size();
    ExpressionList before({{{text, "here"}}}, names(), 4);
    for (const double x : {-2.5, -1.3, -0.5, 0.0, 0.5, 0.7, 1.0, 1.5, 2.0, 3.9}) {
      std::vector<double> point = {x, 0.9, 0.7, 3.0};
      point.resize(count);
      for (std::size_t i = 0; i < taken.all().size(); ++i) {
        const Relation& relation = taken.all()[i];
        const Expression sides[] = {relation.left, relation.right ? relation.right : relation.left};
        ExpressionList list = ExpressionList::of_trees(sides, all, count);
        std::copy(point.begin(), point.end(), list.point().begin());
        double value[2];
        list.evaluate(value);
        const bool less = value[0] < value[1], same = value[0] == value[1];
        point[4 + i] = relation.kind == Relation::Kind::floor        ? std::floor(value[0])
                       : relation.kind == Relation::Kind::less       ? less
                       : relation.kind == Relation::Kind::less_equal ? less || same
                                                                     : same;
      }
      ExpressionList after = ExpressionList::of_trees(std::span(&smooth, 1), all, count);
      std::copy(point.begin(), point.end(), after.point().begin());
      std::copy_n(point.begin(), 4, before.point().begin());
      double expected, found;
      before.evaluate({&expected, 1});
      after.evaluate({&found, 1});
      EXPECT_NEAR(found, expected, 1e-15) << text << " at x = " << x;
    }
  }
}

}  // namespace relations_test
}  // namespace concord
