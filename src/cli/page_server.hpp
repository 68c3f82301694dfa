#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace concord {

/// A page for the browsers of this machine: http://127.0.0.1:PORT/?token=..., where nobody who does
/// not know the token gets anything but 403. It asks again and again for news.
class PageServer {
 public:
  using Clock = std::chrono::steady_clock;

  /// `port` 0: any free one. Throws InputError where it cannot be had.
  PageServer(std::string page, int port);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  const std::string& address() const;

  /// What the page has already.
  struct Known {
    double time;               ///< s, of its last row
    std::size_t events, sets;  ///< how many
  };
  struct Answers {
    std::function<std::string(const Known&)> news;       ///< JSON
    std::function<void(const std::string& values)> set;  ///< {"car.pedal": 0.5}
  };
  /// Until then, all who ask. Throws what an answer throws.
  void answer(Clock::time_point until, const Answers& answers);

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace concord
