#include "concord/archive.hpp"

#include <gtest/gtest.h>

#include <array>

namespace concord {
namespace {

struct Inner {
  std::vector<double> values;
  bool flag = false;
  void io(Archive& archive) { archive(values, flag); }
};

struct Outer {
  std::array<double, 2> pair{};
  std::optional<Inner> inner;
  std::vector<Inner> list;
  std::vector<bool> bits;
  std::string text;
  std::optional<double> none;
  void io(Archive& archive) { archive(pair, inner, list, bits, text, none); }
};

TEST(Archive, ReadsWhatItHasWritten) {
  Outer written{
      {1.5, -2.0}, Inner{{1.0, 2.0, 3.0}, true}, {{{4.0}, false}, {}}, {true, false, true}, "words",
      {}};
  Archive out;
  out(written);
  Outer read;
  read.none = 3.0;
  Archive in(out.bytes());
  in(read);
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(read.pair, written.pair);
  ASSERT_TRUE(read.inner);
  EXPECT_EQ(read.inner->values, written.inner->values);
  EXPECT_TRUE(read.inner->flag);
  ASSERT_EQ(read.list.size(), 2u);
  EXPECT_EQ(read.list[0].values, written.list[0].values);
  EXPECT_EQ(read.bits, written.bits);
  EXPECT_EQ(read.text, "words");
  EXPECT_FALSE(read.none);
}

TEST(Archive, RefusesToReadBeyondItsEnd) {
  double number = 1.0;
  Archive out;
  out(number);
  Archive in(out.bytes());
  in(number);
  EXPECT_THROW(in(number), std::logic_error);
}

}  // namespace
}  // namespace concord
