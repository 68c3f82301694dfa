#include "support/wording.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace concord {
namespace {

TEST(Wording, FieldsAreThoseOfCsv) {
  EXPECT_EQ(csv_field("vr=[1 2]"), "vr=[1 2]");
  EXPECT_EQ(csv_field("cell[1,2]"), "\"cell[1,2]\"");
  EXPECT_EQ(csv_field("a \"b\"\nc"), "\"a \"\"b\"\"\nc\"");
}

TEST(Wording, KnownNamesAreListedOnce) {
  EXPECT_EQ(known("names", "z", std::vector<std::string>{"T", "T", "w", "T"}), "known names: T, w");
  std::vector<std::string> many;
  for (int i = 0; i < 80; ++i) many.push_back("n" + std::to_string(i / 2));
  EXPECT_TRUE(known("names", "z", many).ends_with("n29, ... (40 in all)"));
}

}  // namespace
}  // namespace concord
