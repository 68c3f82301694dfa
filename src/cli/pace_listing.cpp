#include "cli/pace_listing.hpp"

#include <cmath>
#include <cstdio>
#include <string>

#include "simulation/own_paces.hpp"
#include "support/options.hpp"

namespace concord {

void print_pace_listing(const Paces& paces) {
  if (paces.groups.empty()) {
    std::printf("paces: one: %s\n", paces.why.c_str());
    return;
  }
  std::printf("paces:\n");
  for (std::size_t g = 0; g < paces.groups.size(); ++g) {
    const PaceGroup& group = paces.groups[g];
    std::printf("  group %zu: rates of %s: %s\n", g + 1, rates_in_words(group).c_str(),
                joined(group.members).c_str());
  }
  std::printf("  the rest: rates up to %s 1/s\n", rate_in_words(paces.rest).c_str());
  std::printf("  saved: up to %ld %% of the right-hand sides at one pace\n",
              std::lround(100.0 * paces.saved));
  for (const std::string& one : paces.left_out) std::printf("  left out: %s\n", one.c_str());
}

}  // namespace concord
