#include "coupling/problem/subsystem_gains.hpp"

#include <algorithm>
#include <cmath>

namespace concord {

SubsystemGains::SubsystemGains(const RankNetwork& subsystems, int parts,
                               std::span<const char> sparse)
    : parts_(parts), connected_(subsystems.connected_inputs()), first_input_{0}, first_value_{0} {
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
    first_value_.push_back(
        first_value_.back() +
        (is_sparse ? 0 : outputs * static_cast<std::size_t>(parts) * columns(k)));
  }
  values_.assign(first_value_.back(), 0.0);
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
  if (is_sparse(k))
    return {sparse_[k]->valuePtr(), static_cast<std::size_t>(sparse_[k]->nonZeros())};
  return std::span(values_).subspan(first_value_[k], first_value_[k + 1] - first_value_[k]);
}

void SubsystemGains::io(Archive& archive) {
  for (std::size_t k = 0; k + 1 < first_input_.size(); ++k) {
    archive.as("gains", [&] { archive.within(k, [&] { archive.values(values(k)); }); });
  }
}

bool SubsystemGains::finite() const {
  const auto all = [](std::span<const double> block) {
    return std::ranges::all_of(block, [](double gain) { return std::isfinite(gain); });
  };
  return all(values_) &&
         std::ranges::all_of(sparse_, [&](const std::unique_ptr<SparseRows>& entries) {
           return !entries ||
                  all({entries->valuePtr(), static_cast<std::size_t>(entries->nonZeros())});
         });
}

}  // namespace concord
