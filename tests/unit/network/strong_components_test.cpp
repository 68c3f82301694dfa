#include "network/strong_components.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace concord {
namespace {

using Graph = std::vector<std::vector<std::size_t>>;
using Components = std::vector<std::vector<std::size_t>>;

TEST(StrongComponents, NoVertices) { EXPECT_TRUE(strong_components({}).empty()); }

TEST(StrongComponents, ChainInTopologicalOrder) {
  // 2 -> 0 -> 1
  EXPECT_EQ(strong_components(Graph{{1}, {}, {0}}), (Components{{2}, {0}, {1}}));
}

TEST(StrongComponents, TwoCyclesAndWhatLiesBetween) {
  // {0 -> 1 -> 0} -> 2 -> {3 -> 4 -> 5 -> 3}, 5 -> 5
  EXPECT_EQ(strong_components(Graph{{1}, {0, 2}, {3}, {4}, {5}, {3, 5}}),
            (Components{{0, 1}, {2}, {3, 4, 5}}));
}

TEST(StrongComponents, AMillionVerticesDeep) {
  constexpr std::size_t n = 1'000'000;
  Graph chain(n), cycle(n);
  for (std::size_t v = 0; v < n; ++v) {
    cycle[v] = {(v + 1) % n};
    if (v + 1 < n) {
      chain[v] = {v + 1};
    }
  }
  EXPECT_EQ(strong_components(chain).size(), n);
  EXPECT_EQ(strong_components(cycle).size(), 1U);
}

/// reachable[v][w]: by Floyd and Warshall.
std::vector<std::vector<bool>> closure(const Graph& graph) {
  const std::size_t n = graph.size();
  std::vector<std::vector<bool>> reachable(n, std::vector<bool>(n, false));
  for (std::size_t v = 0; v < n; ++v) {
    reachable[v][v] = true;
    for (const std::size_t w : graph[v]) {
      reachable[v][w] = true;
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t v = 0; v < n; ++v) {
      for (std::size_t w = 0; w < n; ++w) {
        reachable[v][w] = reachable[v][w] || (reachable[v][k] && reachable[k][w]);
      }
    }
  }
  return reachable;
}

TEST(StrongComponents, AgreeWithReachabilityOnRandomGraphs) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t n = 1 + random() % 12;
    Graph graph(n);
    for (std::size_t edge = 0; edge < random() % (2 * n); ++edge) {
      graph[random() % n].push_back(random() % n);
    }
    const auto reachable = closure(graph);
    const auto components = strong_components(graph);
    std::vector<std::size_t> place(n, n);
    for (std::size_t c = 0; c < components.size(); ++c) {
      ASSERT_TRUE(std::is_sorted(components[c].begin(), components[c].end()));
      for (const std::size_t v : components[c]) {
        ASSERT_EQ(place[v], n) << "a vertex twice";
        place[v] = c;
      }
    }
    for (std::size_t v = 0; v < n; ++v) {
      ASSERT_LT(place[v], n) << "a vertex is missing";
      for (std::size_t w = 0; w < n; ++w) {
        ASSERT_EQ(place[v] == place[w], reachable[v][w] && reachable[w][v]);
        ASSERT_TRUE(!reachable[v][w] || place[v] <= place[w]) << "not in topological order";
      }
    }
  }
}

}  // namespace
}  // namespace concord
