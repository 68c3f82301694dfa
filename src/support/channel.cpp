#include "support/channel.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <vector>

#include "concord/errors.hpp"

namespace concord {
namespace {

constexpr std::size_t header_size = 4096, first_size = 1 << 16;
constexpr long second = 1'000'000'000, longest_sleep = 10'000'000, short_sleep = 500'000;  ///< ns
constexpr int looks_in_a_row = 16;
constexpr std::size_t largest_message = std::size_t{1} << 46;

using Clock = std::chrono::steady_clock;
/// A change of threads takes some microseconds.
constexpr std::chrono::nanoseconds longest_look = std::chrono::microseconds(100),
                                   shortest_look = std::chrono::microseconds(2);

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  const timespec limit{0, longest_sleep};
  syscall(SYS_futex, &word, operation, value, &limit, nullptr, 0);
}

void copy_text(char* place, std::size_t size, const char* text) {
  const std::size_t count = std::min(std::strlen(text), size - 1);
  std::memcpy(place, text, count);
  place[count] = '\0';
}

}  // namespace

Channel::Channel() : memory_(first_size), look_(longest_look) {
  static_assert(sizeof(Header) <= header_size);
  new (memory_.begin()) Header{};
}

Channel::Channel(int file) : memory_(SharedMemory::of_file(file)), look_(longest_look) {
  if (memory_.size() < header_size) throw SimulationError("memory that is no channel's");
  header().begun.store(1, std::memory_order_release);
}

void Channel::write(std::span<const std::byte> bytes) {
  memory_.grow(header_size + bytes.size());
  std::copy(bytes.begin(), bytes.end(), memory_.begin() + header_size);
  header().size = bytes.size();
}

std::span<const std::byte> Channel::written() {
  const std::size_t size = std::min<std::size_t>(header().size, largest_message);
  memory_.follow(header_size + size);
  return {memory_.begin() + header_size, size};
}

/// Either the sleeper sees the bell rung or the ringer sees that there is one: both orders are
/// sequentially consistent.
void Channel::ring(Bell& bell, std::uint32_t number) {
  bell.processor.store(sched_getcpu(), std::memory_order_relaxed);
  bell.rung.store(number);
  if (bell.sleeper.load() != 0) futex(bell.rung, FUTEX_WAKE, 1);
}

/// Where the other process was last on this processor, it needs it to go on; where looking was in
/// vain, the next look is shorter.
template <class Found>
bool Channel::look(const Bell& bell, const Found& is_there) {
  if (is_there()) return true;
  if (bell.processor.load(std::memory_order_relaxed) == sched_getcpu()) return false;
  const auto until = Clock::now() + look_;
  do {
    for (int i = 0; i < looks_in_a_row; ++i) {
      if (is_there()) {
        look_ = std::min(2 * look_, longest_look);
        return true;
      }
      pause_briefly();
    }
  } while (Clock::now() < until);
  look_ = std::max(look_ / 2, shortest_look);
  return false;
}

void Channel::sleep(Bell& bell, std::uint32_t number) {
  bell.sleeper.store(1);
  if (bell.rung.load() != number) futex(bell.rung, FUTEX_WAIT, number - 1);
  bell.sleeper.store(0);
}

void Channel::call(std::span<const std::byte> request) {
  write(request);
  ring(header().called, ++number_);
}

std::optional<std::span<const std::byte>> Channel::wait_for_answer(
    const std::function<bool()>& go_on) {
  bool there = look(header().answered, [this] { return is_rung(header().answered, number_); });
  while (!there) {
    sleep(header().answered, number_);
    there = is_rung(header().answered, number_);
    if (there || go_on()) continue;
    there = is_rung(header().answered, number_);
    if (!there) return std::nullopt;
  }
  return written();
}

std::span<const std::byte> Channel::take_call() {
  ++number_;
  return written();
}

std::span<const std::byte> Channel::next_call() {
  bool there = look(header().called, [this] { return is_called(); });
  for (; !there; there = is_called()) sleep(header().called, number_ + 1);
  return take_call();
}

void Channel::await_call(std::span<const std::unique_ptr<Channel>> channels) {
  Channel& first = *channels.front();
  const auto is_there = [&] {
    return std::ranges::any_of(channels, [](const auto& one) { return one->is_called(); });
  };
  if (first.look(first.header().called, is_there)) return;
  if (channels.size() == 1) return sleep(first.header().called, first.number_ + 1);
  for (const auto& one : channels) one->header().called.sleeper.store(1);
  if (!is_there()) sleep_at_all(channels);
  for (const auto& one : channels) one->header().called.sleeper.store(0);
}

/// Kernels before 5.16 let one sleep at a single bell only: then it is a short time, at none.
void Channel::sleep_at_all(std::span<const std::unique_ptr<Channel>> channels) {
  timespec until{};
#ifdef SYS_futex_waitv
  constexpr std::size_t most = 128;  // of the kernel
  std::vector<futex_waitv> bells;
  for (const auto& one : channels.first(std::min(channels.size(), most)))
    bells.push_back(
        {one->number_, reinterpret_cast<std::uintptr_t>(&one->header().called.rung), FUTEX_32, 0});
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += longest_sleep;
  until.tv_sec += until.tv_nsec / second;
  until.tv_nsec %= second;
  if (syscall(SYS_futex_waitv, bells.data(), bells.size(), 0, &until, CLOCK_MONOTONIC) >= 0 ||
      errno != ENOSYS)
    return;
#endif
  until = {0, short_sleep};
  nanosleep(&until, nullptr);
}

void Channel::answer(std::span<const std::byte> bytes) {
  write(bytes);
  ring(header().answered, number_);
}

void Channel::write_last_words(const char* text) {
  copy_text(header().last_words, sizeof header().last_words, text);
}
const char* Channel::last_words() {
  header().last_words[sizeof header().last_words - 1] = '\0';
  return header().last_words;
}
void Channel::write_reason(const char* text) {
  copy_text(header().reason, sizeof header().reason, text);
}
const char* Channel::reason() { return header().reason; }

}  // namespace concord
