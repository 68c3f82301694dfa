#include "coupling/problem/subsystem_gains.hpp"

#include <algorithm>
#include <cmath>

namespace concord {

SubsystemGains::SubsystemGains(const RankNetwork& subsystems, int parts,
                               std::span<const char> sparse)
    : parts_(parts),
      inputs_(subsystems.n_own()),
      values_(subsystems.n_own()),
      sparse_(subsystems.n_own()) {
  std::size_t next = 0;
  const auto& connected = subsystems.connected_inputs();
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    const std::size_t end = subsystems.inputs_of(k).last;
    for (; next < connected.size() && connected[next] < end; ++next) {
      inputs_[k].push_back(connected[next]);
    }
    if (!sparse.empty() && sparse[k] != 0) {
      sparse_[k] =
          std::make_unique<SparseRows>(static_cast<Eigen::Index>(subsystems.outputs_of(k).size()),
                                       static_cast<Eigen::Index>(inputs_[k].size()));
      continue;
    }
    values_[k].assign(subsystems.outputs_of(k).size() * parts_ * columns(k), 0.0);
  }
}

bool SubsystemGains::has_entries_of(std::size_t k, const SparseRows& gains) const {
  const SparseRows& own = *sparse_[k];
  return own.nonZeros() == gains.nonZeros() &&
         std::equal(own.outerIndexPtr(), own.outerIndexPtr() + own.rows() + 1,
                    gains.outerIndexPtr()) &&
         std::equal(own.innerIndexPtr(), own.innerIndexPtr() + own.nonZeros(),
                    gains.innerIndexPtr());
}

std::span<double> SubsystemGains::values(std::size_t k) {
  return is_sparse(k)
             ? std::span(sparse_[k]->valuePtr(), static_cast<std::size_t>(sparse_[k]->nonZeros()))
             : std::span(values_[k]);
}

void SubsystemGains::io(Archive& archive) {
  for (std::size_t k = 0; k < values_.size(); ++k) {
    archive.as("gains", [&] { archive.within(k, [&] { archive.values(values(k)); }); });
  }
}

bool SubsystemGains::finite() const {
  const auto all = [](std::span<const double> block) {
    return std::ranges::all_of(block, [](double gain) { return std::isfinite(gain); });
  };
  return std::ranges::all_of(values_, all) &&
         std::ranges::all_of(sparse_, [&](const std::unique_ptr<SparseRows>& entries) {
           return !entries ||
                  all({entries->valuePtr(), static_cast<std::size_t>(entries->nonZeros())});
         });
}

}  // namespace concord
