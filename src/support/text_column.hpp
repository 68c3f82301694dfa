#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace concord {

/// Texts that stand one behind the other in one.
class TextColumn {
 public:
  void push_back(std::string_view text) {
    all_ += text;
    ends_.push_back(all_.size());
  }
  std::size_t size() const { return ends_.size(); }
  /// Valid until the column changes.
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(all_).substr(begin, ends_[i] - begin);
  }
  std::vector<std::string> all() const {
    std::vector<std::string> result;
    result.reserve(size());
    for (std::size_t i = 0; i < size(); ++i) result.emplace_back((*this)[i]);
    return result;
  }
  void shrink_to_fit() {
    all_.shrink_to_fit();
    ends_.shrink_to_fit();
  }

 private:
  std::string all_;
  std::vector<std::size_t> ends_;
};

}  // namespace concord
