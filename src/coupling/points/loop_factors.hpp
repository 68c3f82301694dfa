#pragma once

#include <memory>
#include <span>
#include <vector>

namespace concord {

/// Factors of a loop's Jacobian I - P D, after its rows and columns were scaled (MatchedScales):
/// what units its variables have doesn't count.
class LoopFactors {
 public:
  LoopFactors();
  ~LoopFactors();

  /// The matrix by rows, compressed. False where it is singular to rounding.
  bool compute(const std::vector<std::size_t>& row_starts, const std::vector<std::size_t>& columns,
               std::span<const double> values);

  /// Sign of the determinant; 0 where it is singular to rounding.
  int sign() const { return sign_; }

  /// Before the first `compute`, and where it has failed.
  bool empty() const { return sign_ == 0; }

  /// x = A^-1 b.
  void solve(std::span<const double> b, std::span<double> x) const;

 private:
  struct Factors;  ///< Eigen's, which only one source file needs to know
  std::unique_ptr<Factors> factors_;
  int sign_ = 0;
};

}  // namespace concord
