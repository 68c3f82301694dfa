#include "subsystem/remote/answer.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace concord {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Json = nlohmann::json;

/// Everything that an answer may hold, and more.
Bytes whole() {
  return Json::to_msgpack({{"n", 7},
                           {"protocol", 1},
                           {"offers", {"state", "slopes"}},
                           {"inputs", {"a"}},
                           {"outputs", {"b", "c"}},
                           {"y", {1, -2.5}},
                           {"dy", {0.1, 1e300}},
                           {"state", Json::binary({1, 2, 3})},
                           {"error", "no"},
                           {"refused", "yes"},
                           {"unknown", true},
                           {"more", {{"y", {1, {2, nullptr}}}, {"n", "x"}}}});
}

TEST(RemoteAnswer, IsWhatWasWritten) {
  RemoteAnswer answer;
  EXPECT_EQ(read_answer(whole(), answer), std::nullopt);
  EXPECT_EQ(answer.n, 7);
  EXPECT_EQ(answer.protocol, 1);
  EXPECT_EQ(answer.offers, (std::vector<std::string>{"state", "slopes"}));
  EXPECT_EQ(answer.inputs, (std::vector<std::string>{"a"}));
  EXPECT_EQ(answer.outputs, (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(answer.y, (std::vector<double>{1.0, -2.5}));
  EXPECT_EQ(answer.dy, (std::vector<double>{0.1, 1e300}));
  EXPECT_EQ(answer.state, (Bytes{1, 2, 3}));
  EXPECT_EQ(answer.error, "no");
  EXPECT_EQ(answer.refused, "yes");
  EXPECT_TRUE(answer.unknown);
}

TEST(RemoteAnswer, EveryBeginningOfOneIsRefused) {
  const Bytes bytes = whole();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    RemoteAnswer answer;
    EXPECT_TRUE(read_answer(std::span(bytes).first(size), answer)) << size;
  }
}

/// Whatever comes, it is an answer or a reason.
TEST(RemoteAnswer, GarbageEndsInAReason) {
  std::mt19937 random(20261126);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes = whole();
    for (std::size_t changes = random() % 4 + 1; changes > 0; --changes)
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    RemoteAnswer answer;
    const auto reason = read_answer(bytes, answer);
    refused += reason ? 1 : 0;
    EXPECT_TRUE(!reason || !reason->empty());
  }
  EXPECT_GT(refused, 10'000);
}

}  // namespace
}  // namespace concord
