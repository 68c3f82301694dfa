#pragma once

#include <optional>
#include <span>
#include <vector>

#include "expression/program.hpp"
#include "subsystem/equations/smooth_equations.hpp"

namespace concord {

/// Parts of expressions that move with time alone, as the gust in
/// `-x + 5*exp(-((t - 30)/0.1)^2)`: they are looked at ahead, for steps that have grown long go
/// over what is short in them and meet nothing of it.
class TimeParts {
 public:
  explicit TimeParts(const SmoothEquations& equations);

  bool any() const { return parts_.has_value(); }

  /// Times between `from` and `to` at which one of them, after a long rest, begins to move, or
  /// ends to: so that no step lies on both sides of one. What is narrower than the looks stays
  /// unseen; `among` so many subsystems with such parts the work is shared out.
  std::vector<double> changes_of_pace(double from, double to, std::size_t among);

 private:
  std::vector<std::vector<double>> looked_at(double from, double cell, std::size_t cells);

  std::optional<Evaluation> parts_;  ///< none: there are no such parts
};

}  // namespace concord
