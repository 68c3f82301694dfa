#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace concord {

/// Whether an expression consists of numbers, names, parentheses and the four operations alone, so
/// that it is a rational function.
bool is_rational(const std::string& expression);

/// The constant matrix J (row-major, `values` x `arguments`) of rational functions F(p) that are
/// affine, F(p) = F(0) + J p; nothing where they aren't. `evaluate` fills F for a point p.
///
/// A rational function that keeps to an affine one at points chosen at random is affine.
std::optional<std::vector<double>> affine_matrix(
    std::size_t values, std::size_t arguments,
    const std::function<void(std::span<const double>, std::span<double>)>& evaluate);

}  // namespace concord
