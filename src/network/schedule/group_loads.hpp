#pragma once

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "network/schedule/schedule.hpp"

namespace concord {

/// Groups by how much work their members are; as many groups as subsystems, most of them empty.
class GroupLoads {
 public:
  GroupLoads(const std::vector<double>& effort, const Groups& groups);

  double operator[](std::size_t group) const { return load_[group]; }
  bool any_empty() const { return !empty_.empty(); }
  /// The one that was filled or emptied last.
  std::size_t empty() const { return empty_.back(); }

  /// The longest of all groups but two.
  double longest_without(std::size_t a, std::size_t b) const;

  void move(double effort, std::size_t from, std::size_t to);

 private:
  std::vector<double> load_;
  std::vector<std::size_t> members_, empty_;
  std::set<std::pair<double, std::size_t>> ascending_;
};

}  // namespace concord
