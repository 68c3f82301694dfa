#include "files/json.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace concord {
namespace {

TEST(JsonText, is_written_on_one_line_where_it_is_short) {
  Json value;
  value.add("a", Json::number(0.1)).add("b", Json::list({Json::truth(true), Json::text("x")}));
  EXPECT_EQ(value.written(), R"({"a": 0.1, "b": [true, "x"]})");
  EXPECT_EQ(Json::object().written(), "{}");
  EXPECT_EQ(Json::list({}).written(), "[]");
}

TEST(JsonText, escapes_what_it_must) {
  EXPECT_EQ(Json::text("a\"b\\c\n\x01").written(), R"("a\"b\\c\u000a\u0001")");
  EXPECT_EQ(Json::number(std::numeric_limits<double>::infinity()).written(), "null");
}

TEST(JsonText, is_indented_where_it_is_long) {
  const std::string word(60, 'w');
  Json value;
  value.add("list", Json::texts({word, word}));
  EXPECT_EQ(value.written(),
            "{\n  \"list\": [\n    \"" + word + "\",\n    \"" + word + "\"\n  ]\n}");
}

}  // namespace
}  // namespace concord
