#include "network/schedule/group_loads.hpp"

namespace concord {

GroupLoads::GroupLoads(const std::vector<double>& effort, const Groups& groups)
    : load_(effort.size(), 0.0), members_(effort.size(), 0) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    members_[g] = groups[g].size();
    for (const std::size_t k : groups[g]) {
      load_[g] += effort[k];
    }
  }
  for (std::size_t g = 0; g < load_.size(); ++g) {
    ascending_.insert({load_[g], g});
    if (members_[g] == 0) {
      empty_.push_back(g);
    }
  }
}

double GroupLoads::longest_without(std::size_t a, std::size_t b) const {
  for (auto longest = ascending_.rbegin(); longest != ascending_.rend(); ++longest) {
    if (longest->second != a && longest->second != b) {
      return longest->first;
    }
  }
  return 0.0;
}

void GroupLoads::move(double effort, std::size_t from, std::size_t to) {
  for (const std::size_t g : {from, to}) {
    ascending_.erase({load_[g], g});
  }
  load_[from] = --members_[from] == 0 ? 0.0 : load_[from] - effort;
  load_[to] += effort;
  ++members_[to];
  for (const std::size_t g : {from, to}) {
    ascending_.insert({load_[g], g});
  }
  if (!empty_.empty() && empty_.back() == to) {
    empty_.pop_back();
  }
  if (members_[from] == 0) {
    empty_.push_back(from);
  }
}

}  // namespace concord
