#pragma once

#include <span>
#include <vector>

#include "concord/archive.hpp"
#include "coupling/estimator_settings.hpp"
#include "subsystem/subsystem.hpp"

namespace concord {

/// Defect correction of one estimator: the local error of an estimate varies slowly, so that the
/// last macro-step's, scaled with its order in h, is expected in the next one too. Of a tangent y'
/// has one order less than y, and y'' one less than y'; where curves are followed all have the
/// same. Defects of tangents say nothing about those of curves, and the reverse.
class DefectCorrection {
 public:
  /// `exact_derivatives`: f at t_N is known, which gives a tangent's y' an order more.
  DefectCorrection(Defect choice, std::size_t outputs, bool exact_derivatives);

  /// What a prediction over h misses, by all that is known: the last defects, or, where two are
  /// known and wanted, what continues them. False: nothing is known.
  bool expect(double h, bool curves);

  /// As the last `expect` found it; zeros where nothing is known.
  std::span<const Sample> expected() const { return expected_; }

  /// A macro-step of size h was accepted with these outputs, which were predicted with what was
  /// expected.
  void learn(double h, bool curves, std::span<const Sample> predicted,
             std::span<const Sample> outputs);

  void forget() { known_ = 0; }

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, last_, before_, last_h_, before_h_, known_, of_curves_);
  }

 private:
  Sample scaled(const Sample& defect, double ratio) const;

  Defect choice_;
  bool exact_derivatives_;
  std::vector<Sample> last_, before_;  ///< defects of the last two macro-steps
  std::vector<Sample> expected_;
  double last_h_ = 0.0, before_h_ = 0.0;
  int known_ = 0;  ///< of last_ and before_
  bool of_curves_ = false;
};

}  // namespace concord
