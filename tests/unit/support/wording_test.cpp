#include "support/wording.hpp"

#include <gtest/gtest.h>

namespace concord {
namespace {

TEST(Wording, FieldsAreThoseOfCsv) {
  EXPECT_EQ(csv_field("vr=[1 2]"), "vr=[1 2]");
  EXPECT_EQ(csv_field("cell[1,2]"), "\"cell[1,2]\"");
  EXPECT_EQ(csv_field("a \"b\"\nc"), "\"a \"\"b\"\"\nc\"");
}

}  // namespace
}  // namespace concord
