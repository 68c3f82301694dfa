#pragma once

#include <span>
#include <vector>

#include "coupling/estimation/estimators.hpp"
#include "coupling/problem/constraint_rows.hpp"
#include "signal/sample_parts.hpp"

namespace concord {

/// What the outputs that feed the inputs are sums of, |C| |x| + |D| |u| where a linearisation
/// tells, else 0: a small difference of large terms carries their rounding. What a macro-step adds
/// to a state is a sum, too, of h times the terms of its derivative, which are large where it
/// rests.
class OutputTerms {
 public:
  /// `estimators`: null where nothing is linearised.
  OutputTerms(RankNetwork& subsystems, const ConstraintRows& constraints,
              const Estimators* estimators);

  /// An attempt begins: nothing is known.
  void forget();

  /// Once in an attempt at a macro-step of size h. Collective.
  void learn(std::span<const Sample> inputs, double h);

  /// Whether anything is linearised.
  bool possible() const { return estimators_ != nullptr; }

  /// As the inputs see them, all local ones.
  std::span<const Sample> values() const { return terms_; }

  /// Of a part of the input: its value, its slope or its curvature.
  double of(std::size_t input, std::size_t part) const { return terms_[input].*sample_parts[part]; }

 private:
  RankNetwork& subsystems_;
  const ConstraintRows& constraints_;
  const Estimators* estimators_;
  std::vector<Sample> terms_, outputs_;
  bool known_ = false;
};

}  // namespace concord
