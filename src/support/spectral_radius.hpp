#pragma once

#include <cstddef>
#include <span>

namespace concord {

/// The largest absolute value of the eigenvalues of an n x n matrix, n > 0, by columns.
double spectral_radius(std::span<const double> matrix, std::size_t n);

}  // namespace concord
