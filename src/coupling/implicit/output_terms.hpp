#pragma once

#include <span>
#include <vector>

#include "coupling/estimation/estimators.hpp"
#include "coupling/problem/constraint_rows.hpp"
#include "coupling/problem/error_norm.hpp"
#include "coupling/problem/subsystem_gains.hpp"
#include "signal/sample_parts.hpp"

namespace concord {

/// What the outputs that feed the inputs are sums of, |C| |x| + |D| |u| where a linearisation
/// tells, else what differences tell, |K| |u|, else 0: a small difference of large terms carries
/// their rounding, and what integrators leave of them.
class OutputTerms {
 public:
  /// `estimators`: null where nothing is linearised.
  OutputTerms(RankNetwork& subsystems, const ConstraintRows& constraints,
              const Estimators* estimators);

  /// An attempt begins: nothing is known.
  void forget();

  /// By linearisations, once in an attempt; by `differenced` where that is not null: the same on
  /// all ranks. Collective.
  void learn(std::span<const Sample> inputs, const SubsystemGains* differenced);

  /// Whether anything is linearised.
  bool possible() const { return estimators_ != nullptr; }

  /// As the inputs see them, all local ones.
  std::span<const Sample> values() const { return terms_; }

  /// Of a part of the input: its value, its slope or its curvature.
  double of(std::size_t input, std::size_t part) const { return terms_[input].*sample_parts[part]; }

  /// What rounding leaves of it in a macro-step of size h. What that adds to a value is a sum, too,
  /// of h times the terms of the slope, which are large where the model rests.
  double rounding(std::size_t input, std::size_t part, double h) const {
    return ErrorNorm::rounding(part == 0 ? with_added(terms_[input], h) : of(input, part));
  }
  static double with_added(const Sample& terms, double h) {
    return terms.value + h * terms.derivative;
  }

 private:
  RankNetwork& subsystems_;
  const ConstraintRows& constraints_;
  void add(std::span<const Sample> inputs, const SubsystemGains& gains);

  const Estimators* estimators_;
  std::vector<Sample> terms_, outputs_;
  bool known_ = false;
};

}  // namespace concord
