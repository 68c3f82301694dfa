#pragma once

#include <cmath>
#include <span>
#include <string>

#include "coupling/coupling.hpp"
#include "coupling/problem/constraint_rows.hpp"

namespace concord {

/// By how much the inputs of a trial miss what feeds them; the largest of any rank. Sizes are of
/// the unknown's input, or of what is summed up in a constraint's equation.
class InputMisses {
 public:
  InputMisses(RankNetwork& subsystems, const ConstraintRows& constraints,
              const Tolerance& tolerance)
      : subsystems_(subsystems), constraints_(constraints), tolerance_(tolerance) {}

  /// Of a trial whose inputs are fed `fed` = P y. Collective.
  void measure(const Trial& trial, std::span<const Sample> fed, Outcome outcome);

  /// Whether every subsystem was advanced, and what is put out is finite.
  bool finite() const { return std::isfinite(largest_); }
  /// Whether it is of no use, and whether it shows, by shares of a signal's size.
  bool far_off() const { return largest_ > 0.5; }
  bool noticeable() const { return largest_ > 1e-4; }

  /// What is left of the coupling condition, in units of the tolerance.
  double ratio() const { return ratio_; }

  /// Whether some rank has no time left for one more correction.
  bool late() const { return late_; }

  /// "input 'a.u' was predicted as 1 and is fed 2" of the one that was measured worst; empty where
  /// it is another rank's.
  std::string worst(const Trial& trial, std::span<const Sample> fed) const;

 private:
  /// Of the coupling condition: what is left, what it must be small against, and how large that has
  /// been.
  struct Row {
    double rest, value, size;
  };
  Row row(std::size_t j, const Trial& trial, std::span<const Sample> fed) const;
  double miss(std::size_t j, const Row& row) const;

  RankNetwork& subsystems_;
  const ConstraintRows& constraints_;
  Tolerance tolerance_;
  double largest_ = 0.0;  ///< in units of the input's size
  double ratio_ = 0.0;
  bool late_ = false;
};

}  // namespace concord
