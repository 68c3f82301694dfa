#include "network/strong_components.hpp"

#include <algorithm>

namespace concord {
namespace {

constexpr std::size_t unseen = static_cast<std::size_t>(-1);

class Search {
 public:
  explicit Search(const std::vector<std::vector<std::size_t>>& successors)
      : successors_(successors),
        number_(successors.size(), unseen),
        low_(successors.size(), 0),
        on_stack_(successors.size(), false) {}

  std::vector<std::vector<std::size_t>> run() {
    for (std::size_t v = 0; v < successors_.size(); ++v) {
      if (number_[v] == unseen) {
        visit(v);
      }
    }
    std::reverse(components_.begin(), components_.end());
    return std::move(components_);
  }

 private:
  struct Frame {
    std::size_t vertex;
    std::size_t next_edge;
  };

  void visit(std::size_t root) {
    std::vector<Frame> frames{{root, 0}};
    enter(root);
    while (!frames.empty()) {
      auto& [v, edge] = frames.back();
      if (edge < successors_[v].size()) {
        const std::size_t w = successors_[v][edge++];
        if (number_[w] == unseen) {
          enter(w);
          frames.push_back({w, 0});
        } else if (on_stack_[w]) {
          low_[v] = std::min(low_[v], number_[w]);
        }
        continue;
      }
      const std::size_t done = v;
      frames.pop_back();
      if (!frames.empty()) {
        low_[frames.back().vertex] = std::min(low_[frames.back().vertex], low_[done]);
      }
      if (low_[done] == number_[done]) {
        close(done);
      }
    }
  }

  void enter(std::size_t v) {
    number_[v] = low_[v] = count_++;
    stack_.push_back(v);
    on_stack_[v] = true;
  }

  void close(std::size_t v) {
    auto& component = components_.emplace_back();
    std::size_t w = unseen;
    do {
      w = stack_.back();
      stack_.pop_back();
      on_stack_[w] = false;
      component.push_back(w);
    } while (w != v);
    std::sort(component.begin(), component.end());
  }

  const std::vector<std::vector<std::size_t>>& successors_;
  std::vector<std::size_t> number_, low_, stack_;
  std::vector<bool> on_stack_;
  std::vector<std::vector<std::size_t>> components_;
  std::size_t count_ = 0;
};

}  // namespace

std::vector<std::vector<std::size_t>> strong_components(
    const std::vector<std::vector<std::size_t>>& successors) {
  return Search(successors).run();
}

}  // namespace concord
