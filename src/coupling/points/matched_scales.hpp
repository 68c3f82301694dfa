#pragma once

#include <optional>
#include <span>
#include <vector>

namespace concord {

/// Powers of two for rows and columns of a sparse matrix, rows compressed, after which no entry is
/// larger than 2 and a matching of rows and columns has entries between 1/2 and 2: that whose
/// product is largest (Duff and Koster 2001, by shortest augmenting paths). What units rows and
/// columns have doesn't count.
struct MatchedScales {
  std::vector<double> rows, columns;
};

/// Nothing where the pattern of entries that are not 0 is singular, or an entry is not finite.
std::optional<MatchedScales> matched_scales(std::span<const std::size_t> row_starts,
                                            std::span<const std::size_t> columns,
                                            std::span<const double> values);

}  // namespace concord
