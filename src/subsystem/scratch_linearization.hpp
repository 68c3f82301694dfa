#pragma once

#include <utility>
#include <vector>

#include "concord/subsystem.hpp"

namespace concord {

/// An empty linearisation with the storage of an earlier one, to which it goes back in the end:
/// most are found for one subsystem after the other and not kept. One may be found within another.
class ScratchLinearization {
 public:
  ScratchLinearization() {
    if (spare().empty()) return;
    all_ = std::move(spare().back());
    spare().pop_back();
    for (const auto part : {&Linearization::f_x, &Linearization::f_u, &Linearization::g_x,
                            &Linearization::g_u, &Linearization::f, &Linearization::g,
                            &Linearization::f_t, &Linearization::g_t, &Linearization::g_late})
      (all_.*part).clear();
    all_.parameters = 0;
    all_.late = 0.0;
  }
  ~ScratchLinearization() { spare().push_back(std::move(all_)); }
  ScratchLinearization(const ScratchLinearization&) = delete;
  ScratchLinearization& operator=(const ScratchLinearization&) = delete;

  Linearization& all() { return all_; }

 private:
  static std::vector<Linearization>& spare() {
    thread_local std::vector<Linearization> all;
    return all;
  }

  Linearization all_;
};

}  // namespace concord
