#include "coupling/problem/linear_map.hpp"

namespace concord {

LinearMap sum_with_product(const LinearMap& d, const LinearMap& c, const LinearMap& r) {
  if (d.is_sparse()) {
    const SparseRows product = c.entries() * r.entries();
    return SparseRows(d.entries() + product);
  }
  Eigen::MatrixXd result = d.whole();
  result.noalias() += c.whole() * r.whole();
  return result;
}

}  // namespace concord
