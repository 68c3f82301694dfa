#include "support/channel.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <memory>
#include <vector>

#include "concord/errors.hpp"

namespace concord {
namespace {

using Bytes = std::vector<std::byte>;

/// A process that answers calls until this one kills it.
class Server {
 public:
  Server(Channel& channel, const std::function<void(Channel&)>& serve) : process_(fork()) {
    if (process_ == 0) {
      Channel own(dup(channel.file()));
      serve(own);
      _exit(0);
    }
  }
  ~Server() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  bool lives() const { return waitpid(process_, nullptr, WNOHANG) == 0; }

 private:
  pid_t process_;
};

void echo_twice(Channel& channel) {
  for (;;) {
    const auto call = channel.next_call();
    Bytes twice(call.begin(), call.end());
    twice.insert(twice.end(), call.begin(), call.end());
    channel.answer(twice);
  }
}

TEST(IsolatedChannel, AnswersEveryCallAlsoLargerOnesThanBefore) {
  Channel channel;
  const Server server(channel, echo_twice);
  for (const std::size_t size : {0, 1, 1000, 100'000, 7, 3'000'000, 12}) {
    Bytes request(size);
    for (std::size_t i = 0; i < size; ++i) request[i] = static_cast<std::byte>(i % 251);
    channel.call(request);
    const auto answer = channel.wait_for_answer([&] { return server.lives(); });
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->size(), 2 * size);
    EXPECT_TRUE(std::equal(request.begin(), request.end(), answer->begin()));
    EXPECT_TRUE(std::equal(request.begin(), request.end(), answer->end() - std::ssize(request)));
  }
}

TEST(IsolatedChannel, WakesWhoHasFallenAsleep) {
  Channel channel;
  const Server server(channel, [](Channel& own) {
    for (;;) {
      own.next_call();
      usleep(30'000);
      own.answer({});
    }
  });
  for (int i = 0; i < 5; ++i) {
    channel.call({});
    EXPECT_TRUE(channel.wait_for_answer([&] { return server.lives(); }));
    usleep(30'000);
  }
}

/// As a process does that several others ask.
TEST(IsolatedChannel, OneProcessAnswersSeveralCallers) {
  Channel first, second;
  const Server server(first, [&](Channel& own) {
    std::vector<std::unique_ptr<Channel>> all;
    all.push_back(std::make_unique<Channel>(dup(own.file())));
    all.push_back(std::make_unique<Channel>(dup(second.file())));
    for (;;) {
      Channel::await_call(all);
      for (const auto& one : all)
        if (one->is_called()) {
          const auto call = one->take_call();
          one->answer(Bytes(call.begin(), call.end()));
        }
    }
  });
  for (int i = 0; i < 20; ++i) {
    if (i % 5 == 0) usleep(12'000);  // it has fallen asleep
    for (Channel* const channel : {&first, &second})
      channel->call(Bytes(static_cast<std::size_t>(i)));
    for (Channel* const channel : {&first, &second}) {
      const auto answer = channel->wait_for_answer([&] { return server.lives(); });
      ASSERT_TRUE(answer);
      EXPECT_EQ(answer->size(), static_cast<std::size_t>(i));
    }
  }
}

TEST(IsolatedChannel, GivesUpWaitingForTheDead) {
  Channel channel;
  const Server server(channel, [](Channel& own) {
    own.next_call();
    own.write_last_words("farewell");
    raise(SIGKILL);
  });
  channel.call({});
  EXPECT_FALSE(channel.wait_for_answer([&] { return server.lives(); }));
  EXPECT_STREQ(channel.last_words(), "farewell");
}

TEST(IsolatedMemory, DoesNotBelieveThatThereIsMoreThanThereIs) {
  SharedMemory memory(4096);
  EXPECT_THROW(memory.follow(std::size_t{1} << 40), SimulationError);
  SharedMemory other = SharedMemory::of_file(dup(memory.file()));
  other.grow(1 << 20);
  memory.follow(1 << 20);
  EXPECT_GE(memory.size(), std::size_t{1} << 20);
  EXPECT_NE(ftruncate(memory.file(), 100), 0) << "it may not become smaller";
}

}  // namespace
}  // namespace concord
