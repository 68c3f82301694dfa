#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "support/shared_memory.hpp"

namespace concord {

/// Calls from one process to another and their answers, in memory that both share: one call at a
/// time. Who waits looks for some microseconds whether it has come, then sleeps (futex). Programs
/// of others use it, too: doc/remote_subsystems.md has where what stands.
class Channel {
 public:
  /// That of the caller.
  Channel();
  /// That of the process which is called, in the caller's memory. Throws SimulationError.
  explicit Channel(int file);

  int file() const { return memory_.file(); }

  /// The caller's side. Whether the other process has begun.
  bool is_there() const { return header().begun.load(std::memory_order_acquire) != 0; }
  void call(std::span<const std::byte> request);
  /// The answer to the last call, valid until the next one; nothing where `go_on` gave false, which
  /// is asked about 100 times a second while it does not come. Throws SimulationError for an answer
  /// that was damaged.
  std::optional<std::span<const std::byte>> wait_for_answer(const std::function<bool()>& go_on);

  /// The other side: whether the next call is there, the call itself, and the answer to it.
  bool is_called() const { return is_rung(header().called, number_ + 1); }
  std::span<const std::byte> take_call();
  std::span<const std::byte> next_call();
  void answer(std::span<const std::byte> bytes);
  /// Until one of them, of which there is one at least, is called; for some milliseconds at most.
  static void await_call(std::span<const std::unique_ptr<Channel>> channels);

  /// What the process that is called says when it ends, and why it is asked to: texts of some
  /// hundred bytes. Both are there as soon as they are written, beside calls.
  void write_last_words(const char* text);
  const char* last_words();
  void write_reason(const char* text);
  const char* reason();

 private:
  struct Bell {
    std::atomic<std::uint32_t> rung{0};
    std::atomic<std::uint32_t> sleeper{0};
    std::atomic<int> processor{-1};  ///< of the process that rang
  };
  struct Header {
    alignas(64) Bell called;
    alignas(64) Bell answered;
    alignas(64) std::uint64_t size;
    std::atomic<std::uint32_t> begun{0};
    char last_words[2048];
    char reason[512];
  };
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

  Header& header() const { return *reinterpret_cast<Header*>(memory_.begin()); }
  void write(std::span<const std::byte> bytes);
  std::span<const std::byte> written();
  static void ring(Bell& bell, std::uint32_t number);
  static bool is_rung(const Bell& bell, std::uint32_t number) {
    return bell.rung.load(std::memory_order_acquire) == number;
  }
  template <class Found>
  bool look(const Bell& bell, const Found& is_there);
  static void sleep(Bell& bell, std::uint32_t number);
  static void sleep_at_all(std::span<const std::unique_ptr<Channel>> channels);

  SharedMemory memory_;
  std::uint32_t number_ = 0;       ///< of the last call
  std::chrono::nanoseconds look_;  ///< how long the next one may take
};

}  // namespace concord
