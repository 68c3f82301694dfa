#include "support/call_log.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "concord/errors.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

TEST(CallLog, EachLineIsThereAtOnce) {
  const fs::path path = fs::path(testing::TempDir()) / "concord_call_log.csv";
  const auto lines = [&] {
    std::ifstream file(path);
    std::string line, last;
    int count = 0;
    for (; std::getline(file, line); ++count) last = line;
    return std::pair(count, last);
  };
  const auto log = CallLog::create(path, 3);
  EXPECT_EQ(lines().first, 1);
  const std::int64_t call = log->begin({"left", 1}, "fmi2DoStep", "time=0");
  EXPECT_EQ(lines().first, 2);
  EXPECT_TRUE(lines().second.ends_with(",1,call,left,1,fmi2DoStep,time=0,,")) << lines().second;
  log->end(call, {"left", 1}, "fmi2DoStep", "", "discard", 2.5e-6);
  EXPECT_TRUE(lines().second.ends_with(",1,return,left,1,fmi2DoStep,,discard,2.500"));
  CallLog other(log->place());
  other.begin({"right", 2}, "fmi2DoStep", "time=0");
  EXPECT_EQ(lines().first, 4);
  fs::remove(path);
  EXPECT_THROW(CallLog::create(path / "calls.csv", 0), InputError);
}

TEST(CallLog, IsUsedByWhatIsMadeMeanwhile) {
  const fs::path path = fs::path(testing::TempDir()) / "concord_call_log.csv";
  EXPECT_EQ(CallLog::current(), nullptr);
  {
    const auto log = CallLog::create(path, 0);
    const CallLog::Use use(log);
    EXPECT_EQ(CallLog::current(), log);
    const CallLog::Use none(nullptr);
    EXPECT_EQ(CallLog::current(), nullptr);
  }
  EXPECT_EQ(CallLog::current(), nullptr);
  fs::remove(path);
}

}  // namespace
}  // namespace concord
