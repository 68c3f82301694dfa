#include "subsystem/message.hpp"

#include <gtest/gtest.h>

namespace concord {
namespace {

TEST(IsolatedMessage, ComesOutAsItWasPut) {
  Linearization put{{1, 2}, {3}, {4}, {}, {5}, {6}, {7}, {8}, 9, {10, 11}, 0.5};
  const std::vector<Sample> samples{{1.5, -2.5}, {0.0, 3.0}};
  MessageWriter writer;
  writer.put(2.5, std::string("wing"), std::span(samples), put, std::vector<Happening>{{3, "gap"}});
  MessageReader reader(writer.bytes());
  Linearization linearization;
  std::string text;
  std::vector<Sample> place(2);
  std::span<Sample> into(place);
  std::vector<Happening> happened{{0, "before"}};
  EXPECT_EQ(reader.taken<double>(), 2.5);
  reader.take(text, into, linearization, happened);
  EXPECT_EQ(text, "wing");
  EXPECT_EQ(place[1].derivative, 3.0);
  EXPECT_EQ(linearization.f_x, put.f_x);
  EXPECT_EQ(linearization.g_late, put.g_late);
  EXPECT_EQ(linearization.parameters, 9);
  ASSERT_EQ(happened.size(), 2U);
  EXPECT_EQ(happened[1].what, "gap");
}

TEST(IsolatedMessage, RefusesWhatDoesNotFit) {
  MessageWriter writer;
  writer.put(std::vector<double>{1, 2, 3});
  std::vector<double> two(2);
  std::span<double> place(two);
  EXPECT_THROW(MessageReader(writer.bytes()).take(place), SimulationError);
  EXPECT_THROW(MessageReader(writer.bytes().first(20)).take(two), SimulationError);
  EXPECT_THROW(MessageReader({}).taken<double>(), SimulationError);
  writer.clear();
  writer.put(std::size_t{1} << 62);
  EXPECT_THROW(MessageReader(writer.bytes()).take(two), SimulationError);
}

}  // namespace
}  // namespace concord
