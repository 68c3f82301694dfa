#include "cli/followed_run.hpp"

#include <chrono>
#include <cstdio>
#include <thread>

#include "files/writer_lock.hpp"
#include "record/results_reader.hpp"

namespace concord {

void tell_no_more(const std::string& path) {
  std::printf("the run that has written '%s' is no more\n", path.c_str());
}

std::string follow_run(const std::string& path, double interval,
                       const std::function<std::string()>& show) {
  for (;;) {
    const bool goes_on = is_being_written(path);
    std::string status = "running";
    try {
      status = show();
    } catch (const UnreadableResults&) {
      if (!goes_on) throw;
    }
    if (status == "running" && !goes_on) tell_no_more(path);
    if (status != "running" || !goes_on) return status;
    std::this_thread::sleep_for(std::chrono::duration<double>(interval));
  }
}

}  // namespace concord
