#pragma once

#include <memory>
#include <span>
#include <vector>

#include "coupling/problem/linear_map.hpp"
#include "network/rank_network.hpp"

namespace concord {

/// K of every own subsystem: how its (y, y', y'') at t_{N+1} answer to its connected inputs'
/// (u, u', u'') there. Dense blocks, rows (output, part) and columns (connected input, part), part
/// running fastest; `parts` is 1 (values), 2 (and slopes) or 3 (and curvatures). Subsystems for
/// which they are the same may share one. Of values alone, those of a subsystem may also be only
/// the entries that can be other than zero.
class SubsystemGains {
 public:
  /// `sparse`, if not empty: of which own subsystems there are entries alone, none as yet.
  SubsystemGains(const RankNetwork& subsystems, int parts, std::span<const char> sparse = {});

  int parts() const { return parts_; }

  /// Local indices of the connected inputs of own subsystem k.
  std::span<const std::size_t> inputs(std::size_t k) const {
    return connected_.subspan(first_input(k), first_input_[k + 1] - first_input(k));
  }
  /// The position of the first one among all connected inputs.
  std::size_t first_input(std::size_t k) const { return first_input_[k]; }
  std::size_t columns(std::size_t k) const { return inputs(k).size() * parts_; }

  /// Whether every entry is.
  bool finite() const;

  double at(std::size_t k, std::size_t row, std::size_t column) const {
    return (*blocks_[k])[row * columns(k) + column];
  }
  /// The block of subsystem k, for its own entries from here on, row by row.
  std::span<double> own(std::size_t k);
  double& own(std::size_t k, std::size_t row, std::size_t column) {
    return own(k)[row * columns(k) + column];
  }
  /// From here on those of subsystem k are those that `other`, of which there are as many, has now.
  void share(std::size_t k, std::size_t other) { blocks_[k] = blocks_[other]; }

  bool is_sparse(std::size_t k) const { return !sparse_.empty() && sparse_[k] != nullptr; }
  /// Whether these are the entries that there are.
  bool has_entries_of(std::size_t k, const SparseRows& gains) const;
  void set(std::size_t k, const SparseRows& gains) { *sparse_[k] = gains; }

  /// `use(column, value)` along a row, in the same order each time.
  template <class Use>
  void for_row(std::size_t k, std::size_t row, Use&& use) const {
    if (is_sparse(k)) {
      for (SparseRows::InnerIterator entry(*sparse_[k], static_cast<Eigen::Index>(row)); entry;
           ++entry)
        use(static_cast<std::size_t>(entry.col()), entry.value());
    } else {
      for (std::size_t c = 0; c < columns(k); ++c) use(c, at(k, row, c));
    }
  }

  void io(Archive& archive);

 private:
  using Block = std::vector<double>;

  void pass_block(Archive& archive, std::size_t k);

  int parts_;
  std::span<const std::size_t> connected_;
  std::vector<std::size_t> first_input_;
  std::vector<std::shared_ptr<Block>> blocks_;       ///< of each
  std::vector<std::unique_ptr<SparseRows>> sparse_;  ///< empty: there are none
};

}  // namespace concord
