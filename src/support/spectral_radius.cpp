#include "support/spectral_radius.hpp"

#include <Eigen/Eigenvalues>

namespace concord {

double spectral_radius(std::span<const double> matrix, std::size_t n) {
  const auto rows = static_cast<Eigen::Index>(n);
  return Eigen::Map<const Eigen::MatrixXd>(matrix.data(), rows, rows)
      .eigenvalues()
      .cwiseAbs()
      .maxCoeff();
}

}  // namespace concord
