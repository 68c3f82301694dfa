#pragma once

#include <vector>

#include "concord/archive.hpp"
#include "concord/polynomial.hpp"

namespace concord {

/// What the mean of a signal over a macro-step is missed by, where value and slope at both ends are
/// known, or curvature too: less the mean of the cubic or quintic between, and of the next term,
/// from the change of the highest derivative from one macro-step to the next,
///
///     mean w = (w_N + w_{N+1})/2 + h (w'_N - w'_{N+1})/12 + h^4 w''''/720,
///     mean w = (w_N + w_{N+1})/2 + h (w'_N - w'_{N+1})/10 + h^2 (w''_N + w''_{N+1})/120
///              - h^6 w^(6)/100800.
///
/// On the first macro-step that derivative is not known: the second one gives it for both.
class HermiteErrors {
 public:
  HermiteErrors(std::size_t signals, bool curvatures)
      : curvatures_(curvatures), highest_(signals, 0.0) {}

  /// A start; `slopes_known`: there, and curvatures.
  void start(bool slopes_known) {
    steps_ = 0;
    slopes_known_ = slopes_known;
  }

  /// Whether slopes at the beginning of the macro-step are known.
  bool slopes_known() const { return steps_ > 0 || slopes_known_; }

  struct Error {
    double of_polynomial = 0.0;
    double beyond = 0.0;  ///< by the next term
    double first = 0.0;   ///< integral of that over the macro-step before, where this is the second
  };

  /// Of signal j, which a mean is to be that of, in a macro-step of size h.
  Error add(std::size_t j, double mean, Sample begin, Sample end, double h);

  /// All signals have been added.
  void end_step(double h) {
    last_h_ = h;
    ++steps_;
  }

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, last_h_, steps_, slopes_known_);
    CONCORD_MEMBERS_PER(archive, Per::connected, highest_);
  }

 private:
  bool curvatures_;
  std::vector<double> highest_;  ///< derivative on the last macro-step
  double last_h_ = 0.0;
  int steps_ = 0;             ///< since the start
  bool slopes_known_ = true;  ///< at the start
};

}  // namespace concord
