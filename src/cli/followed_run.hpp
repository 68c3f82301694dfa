#pragma once

#include <functional>
#include <string>

namespace concord {

/// Shows a results file again and again, until the run that writes it ends, or is no more, which is
/// told. `show` gives its status; where it cannot be read while the run goes on, it is looked at
/// again. `interval` in s. Gives the last status: "running" of a run that is no more.
std::string follow_run(const std::string& path, double interval,
                       const std::function<std::string()>& show);

/// Of a run that has ended without a word.
void tell_no_more(const std::string& path);

}  // namespace concord
