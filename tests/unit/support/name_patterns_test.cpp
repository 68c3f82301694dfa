#include "support/name_patterns.hpp"

#include <gtest/gtest.h>

#include "concord/errors.hpp"

namespace concord {
namespace {

TEST(NamePatterns, stars_and_question_marks_stand_for_characters) {
  for (const char* pattern :
       {"cell[12].x", "cell[*].x", "*", "cell[1?].x", "*].x", "c*[*]*x", "cell[12].x*", "**.x"}) {
    EXPECT_TRUE(matches(pattern, "cell[12].x")) << pattern;
  }
  for (const char* pattern : {"cell[*].y", "cell[?].x", "cell", "*.xx", "", "cell[12].x?"}) {
    EXPECT_FALSE(matches(pattern, "cell[12].x")) << pattern;
  }
  EXPECT_TRUE(matches("*ab*ab", "aabab"));
  EXPECT_FALSE(matches("[ab]", "a"));
  EXPECT_TRUE(matches("*", ""));
}

TEST(NamePatterns, lists_keep_brackets_whole) {
  const std::vector<std::string> expected = {"a.y[1,2]", "b.*", "c"};
  EXPECT_EQ(listed_names(" a.y[1,2],b.* , ,c"), expected);
  EXPECT_TRUE(listed_names("").empty());
}

TEST(NamePatterns, what_stands_for_nothing_names_its_neighbours) {
  const std::vector<std::string> names = {"b.x", "a[1].x", "a[2].x"};
  const std::vector<std::string> wanted = {"a[*].x", "a[1].x"}, wrong = {"aa[*].x"};
  EXPECT_EQ(chosen_names(wanted, names, "here"), (std::vector<std::string>{"a[1].x", "a[2].x"}));
  EXPECT_EQ(chosen_names({}, names, "here"), names);
  try {
    chosen_names(wrong, names, "here");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "there is no variable 'aa[*].x' in here; the nearest names are a[1].x, a[2].x, b.x");
  }
}

}  // namespace
}  // namespace concord
