#include <gtest/gtest.h>

#include <string>

#include "subsystem/fmu/binary/instance.hpp"

namespace concord {
namespace {

TEST(FmuMessages, CountsWhatIsRepeated) {
  FmuMessages messages;
  messages.instance = "left";
  messages.print = true;
  testing::internal::CaptureStderr();
  for (int i = 0; i < 5; ++i) messages.take(1, "slow");
  messages.take(3, "wrong");
  messages.take(3, "wrong");
  messages.count();
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "left: warning: slow\nleft: repeated: 4\nleft: error: wrong\n"
            "left: repeated: 1\n");
  EXPECT_EQ(messages.last, "wrong");
}

}  // namespace
}  // namespace concord
