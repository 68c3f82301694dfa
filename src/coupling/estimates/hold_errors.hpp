#pragma once

#include <span>
#include <vector>

#include "coupling/coupling.hpp"
#include "coupling/estimates/hermite_errors.hpp"
#include "coupling/estimates/past_means.hpp"

namespace concord {

/// What connected inputs were given against what feeds them, e(tau) = u(tau) - (P y)(tau): the
/// coupled system that was really integrated is the true one with e added to its inputs.
///
/// Between communication points P y is a polynomial one degree above what the hold gets right:
/// through the last k + 2 values for holds of order k (k + 3 in sequence), and for cubics and
/// quintics through value, slope and curvature at both ends (HermiteErrors, PastMeans). Needs no
/// evaluation, no capability, and holds for nonlinear subsystems.
///
/// Direct feedthrough D passes on inside the macro-step what was given there, while P y above goes
/// through what was given at its ends. With the deviation d, the mean of what was given less what
/// goes through its ends in the same way, the true error is e - P D d.
class HoldErrors {
 public:
  HoldErrors(const Method& method, const RankNetwork& subsystems);

  /// A start, or an event: the past says nothing. `fed` = P y, whole local arrays.
  void start(const CommunicationPoint& point, std::span<const Sample> fed);

  /// The macro-step that ended at `point` was accepted, and passed a layer: its holds went from end
  /// to end of what lasts, what came before says nothing of them, and what follows begins anew.
  void pass_layer(const CommunicationPoint& point, std::span<const Sample> fed,
                  std::span<const double> inside);

  /// The macro-step that ended at `point` was accepted. `inside`: the mean of e over it, of all
  /// inputs, not a number where nobody has looked (InsideErrors). `solved`: what the coupling has
  /// solved for within it, or null. With balance correction `balance`
  /// knows what was given.
  void observe(const CommunicationPoint& point, std::span<const Sample> fed,
               std::span<const double> inside, const InsideRows* solved,
               const BalanceErrors* balance);

  /// Whether outputs at communication points belong to P y there, whatever was given before.
  bool consistent() const { return consistent_; }

  // Per connected input, since `clear`.
  std::span<const double> impulses() const { return impulse_; }      ///< integral of e
  std::span<const double> layers() const { return layers_; }         ///< of that, within layers
  std::span<const double> deviations() const { return deviation_; }  ///< integral of d
  /// Time over which nobody has looked inside: there e - P D d is the error.
  std::span<const double> unseen() const { return unseen_; }
  std::span<const double> largest() const { return largest_; }  ///< |mean e| of a macro-step
  std::span<const double> largest_seen() const { return largest_seen_; }  ///< such a mean, inside
  std::span<const double> missed() const { return missed_; }              ///< most between points
  std::span<const double> variation() const { return variation_; }  ///< sum of |change of P y|
  std::span<const double> at_end() const { return at_end_; }  ///< e just before the last point
  void clear();

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, hermite_errors_, past_);
    CONCORD_MEMBERS_PER(archive, Per::connected, impulse_, layers_, deviation_, unseen_, largest_,
                        variation_, at_end_, largest_seen_, missed_, last_);
    CONCORD_MEMBERS_PER(archive, Per::input, accumulated_);
  }
  int memory_version() const { return 7; }

 private:
  /// What the ends of a macro-step tell of it.
  struct ByEnds {
    double mean = 0.0;       ///< of e
    double before = 0.0;     ///< integral of e over the macro-step before, as far as new
    double deviation = 0.0;  ///< integral of d
  };

  ByEnds by_hermite(std::size_t j, const Polynomial& given, Sample end, double h);
  ByEnds by_values(std::size_t j, const Polynomial& given, double h) const;
  void begin(const CommunicationPoint& point, std::span<const Sample> fed);
  void remember_values(const CommunicationPoint& point, std::span<const Sample> fed);
  void add(std::size_t j, double mean, double h);

  const RankNetwork& subsystems_;
  bool hermite_;  ///< holds through values and derivatives at both ends
  bool consistent_;
  bool at_nodes_;             ///< nothing is held: what lies beside them alone is wrong
  std::vector<char> solved_;  ///< where nothing is held: of constraints, or all
  std::vector<double> impulse_, layers_, deviation_, unseen_, largest_, variation_, at_end_,
      accumulated_, largest_seen_, missed_;
  std::vector<Sample> last_;
  HermiteErrors hermite_errors_;
  PastMeans past_;
};

}  // namespace concord
