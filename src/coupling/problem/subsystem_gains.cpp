#include "coupling/problem/subsystem_gains.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace concord {

SubsystemGains::SubsystemGains(const RankNetwork& subsystems, int parts,
                               std::span<const char> sparse)
    : parts_(parts), connected_(subsystems.connected_inputs()), first_input_{0} {
  if (std::ranges::any_of(sparse, [](char is) { return is != 0; }))
    sparse_.resize(subsystems.n_own());
  std::size_t next = 0;
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    while (next < connected_.size() && connected_[next] < subsystems.inputs_of(k).last) ++next;
    first_input_.push_back(next);
    const std::size_t outputs = subsystems.outputs_of(k).size();
    const bool is_sparse = !sparse.empty() && sparse[k] != 0;
    if (is_sparse)
      sparse_[k] = std::make_unique<SparseRows>(static_cast<Eigen::Index>(outputs),
                                                static_cast<Eigen::Index>(inputs(k).size()));
    const std::size_t size = is_sparse ? 0 : outputs * static_cast<std::size_t>(parts) * columns(k);
    const bool as_before = !blocks_.empty() && blocks_.back()->size() == size;
    blocks_.push_back(as_before ? blocks_.back() : std::make_shared<Block>(size, 0.0));
  }
}

std::span<double> SubsystemGains::own(std::size_t k) {
  if (blocks_[k].use_count() > 1) blocks_[k] = std::make_shared<Block>(*blocks_[k]);
  return *blocks_[k];
}

bool SubsystemGains::has_entries_of(std::size_t k, const SparseRows& gains) const {
  const SparseRows& own = *sparse_[k];
  return own.nonZeros() == gains.nonZeros() &&
         std::equal(own.outerIndexPtr(), own.outerIndexPtr() + own.rows() + 1,
                    gains.outerIndexPtr()) &&
         std::equal(own.innerIndexPtr(), own.innerIndexPtr() + own.nonZeros(),
                    gains.innerIndexPtr());
}

void SubsystemGains::io(Archive& archive) {
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    archive.as("gains", [&] {
      archive.within(k, [&] {
        if (is_sparse(k))
          archive.values(
              std::span(sparse_[k]->valuePtr(), static_cast<std::size_t>(sparse_[k]->nonZeros())));
        else
          pass_block(archive, k);
      });
    });
  }
}

/// Those that are read are shared with the neighbour before where they are the same.
void SubsystemGains::pass_block(Archive& archive, std::size_t k) {
  if (!archive.reading()) return archive.values(std::span<double>(*blocks_[k]));
  auto block = std::make_shared<Block>(*blocks_[k]);
  archive.values(std::span<double>(*block));
  const bool as_before = k > 0 && *blocks_[k - 1] == *block;
  blocks_[k] = as_before ? blocks_[k - 1] : block;
}

bool SubsystemGains::finite() const {
  const auto all = [](std::span<const double> block) {
    return std::ranges::all_of(block, [](double gain) { return std::isfinite(gain); });
  };
  const Block* last = nullptr;
  const auto is_finite = [&](const std::shared_ptr<Block>& block) {
    return std::exchange(last, block.get()) == block.get() || all(*block);
  };
  return std::ranges::all_of(blocks_, is_finite) &&
         std::ranges::all_of(sparse_, [&](const std::unique_ptr<SparseRows>& entries) {
           return !entries ||
                  all({entries->valuePtr(), static_cast<std::size_t>(entries->nonZeros())});
         });
}

}  // namespace concord
