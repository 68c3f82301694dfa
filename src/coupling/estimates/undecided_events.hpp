#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coupling/coupling.hpp"
#include "subsystem/grazes.hpp"

namespace concord {

class ErrorPropagation;
class HoldErrors;

/// Conditions that count and came so close to becoming true, or hardly did, that the run's own
/// error says nothing of which it was (TellsGrazes): then nothing is known of what follows.
class UndecidedEvents {
 public:
  explicit UndecidedEvents(RankNetwork& subsystems);

  /// A macro-step was accepted that ended at `point`.
  void note(const CommunicationPoint& point);

  /// The interval ends in which they were noted; null: inputs are wrong by nothing.
  void judge(const HoldErrors& holds, const ErrorPropagation* propagation);

  /// The first ones, each with its subsystem, instant and figures; empty: none. Collective.
  std::string told() const;

  /// The share of its error with which the run would have decided; 1: it has. Collective.
  double deciding_share() const;

  void io(Archive& archive);

 private:
  /// An own subsystem that has events.
  struct Own {
    std::size_t subsystem;
    std::vector<Graze> noted;
    std::string first;  ///< that was not decided, in words
    std::int64_t count = 0;
    double share = 1.0;
  };

  double given_wrongly(std::size_t k, const Graze& graze, const HoldErrors& holds) const;

  RankNetwork& subsystems_;
  std::vector<Own> own_;
};

}  // namespace concord
