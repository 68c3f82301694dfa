#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace concord {

/// Where a log of calls goes on: in any process of the same machine.
struct CallLogPlace {
  std::string path;
  int rank = 0;
  double began = 0.0;  ///< s of the machine's steady clock
};

/// Who is called.
struct CalledInstance {
  std::string_view subsystem;
  int number = 0;  ///< of its process
};

/// Calls into the code of others, as CSV: a line before each and a line behind it, each of which is
/// the kernel's before anything else happens. Where a process ends within a call, the last line is
/// that call's. Several processes may write into one file of their machine, whole lines each.
class CallLog {
 public:
  /// A new file with a header. Throws InputError.
  static std::shared_ptr<CallLog> create(const std::string& path, int rank);
  /// Goes on in the file. What cannot be written is told once, and no reason to end.
  explicit CallLog(CallLogPlace place);
  ~CallLog();
  CallLog(const CallLog&) = delete;
  CallLog& operator=(const CallLog&) = delete;

  const CallLogPlace& place() const { return place_; }

  /// The number of the call, for the line behind it.
  std::int64_t begin(const CalledInstance& instance, std::string_view function,
                     std::string_view arguments);
  /// `results`: what the call has filled. `status`: in words.
  void end(std::int64_t call, const CalledInstance& instance, std::string_view function,
           std::string_view results, std::string_view status, double seconds);

  /// While it lives, this log is that of what is made.
  class Use {
   public:
    explicit Use(std::shared_ptr<CallLog> log);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    std::shared_ptr<CallLog> before_;
  };
  /// Null where calls are not logged.
  static const std::shared_ptr<CallLog>& current();

 private:
  void tell_failure() const;
  void write(const std::string& line);
  std::string line(std::int64_t call, std::string_view event, const CalledInstance& instance,
                   std::string_view function, std::string_view arguments) const;

  CallLogPlace place_;
  int file_ = -1;
  std::int64_t calls_ = 0;
};

}  // namespace concord
