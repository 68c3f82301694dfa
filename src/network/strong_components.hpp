#pragma once

#include <cstddef>
#include <vector>

namespace concord {

/// Strongly connected components of a directed graph given by successor lists, in topological order
/// (edges lead from earlier to later components); Tarjan 1972, without recursion.
std::vector<std::vector<std::size_t>> strong_components(
    const std::vector<std::vector<std::size_t>>& successors);

}  // namespace concord
