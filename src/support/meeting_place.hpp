#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "support/own_file.hpp"

namespace concord {

/// Where two processes of one user on one machine meet to share memory: a socket in a file, at
/// which one listens and to which the other connects. Both greet each other; with the greeting of
/// the one that asks comes the memory. From then on the socket says who has gone, and nothing else.
class MeetingPlace {
 public:
  using Clock = std::chrono::steady_clock;

  enum class Side { connects, listens };
  enum class Greets { first, second };

  struct Guest {
    OwnFile socket;
    OwnFile memory;  ///< where it came with the greeting
  };

  MeetingPlace(std::string path, Side side, Greets greets)
      : path_(std::move(path)), side_(side), greets_(greets) {}
  ~MeetingPlace() { close(); }
  MeetingPlace(const MeetingPlace&) = delete;
  MeetingPlace& operator=(const MeetingPlace&) = delete;

  /// Begins to listen, at a file for this user alone; what somebody who was killed has left there
  /// goes. Does nothing where it listens already, or connects. Throws SimulationError.
  void open();
  void close();

  /// Who has come and has greeted, after so much time at most. One that connects looks for somebody
  /// only if `wanted`.
  std::vector<Guest> look(Clock::duration patience, bool wanted);
  /// Whether somebody has come who spoke otherwise, or is somebody else's, and was sent away.
  bool met_strangers() const { return met_strangers_; }

  /// The greeting, with memory where it is not -1. False where the other one has gone.
  static bool greet(const OwnFile& socket, int memory);
  /// Whether the other one is still there, and has said nothing since it has greeted.
  static bool is_there(const OwnFile& socket);

 private:
  enum class Heard { nothing, greeting, strange, end };

  bool claim();
  void try_to_connect();
  void accept_all();
  void let_in(OwnFile socket);
  void wait(Clock::duration patience) const;
  static Heard listen_to(Guest& guest);

  std::string path_;
  Side side_;
  Greets greets_;
  OwnFile listener_;
  std::vector<Guest> guests_;  ///< who have not greeted yet
  bool met_strangers_ = false;
};

}  // namespace concord
