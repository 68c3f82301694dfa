#pragma once

#include <vector>

#include "coupling/collocation/node_system.hpp"

namespace concord {

/// Where Newton's method begins in a macro-step: the polynomials of the last one continued, from
/// what is known where it begins, or those of a trial from the same communication point; these may
/// have had other nodes. At a start or behind an event states and inputs go on along their slopes.
class CollocationGuess {
 public:
  explicit CollocationGuess(RankNetwork& subsystems);

  void put_into(NodeSystem& system, const MacroStep& step, const CommunicationPoint& point);

  /// A macro-step that begins at `begin` has these.
  void remember(const NodeSystem& system, const MacroStep& step);
  void forget() { known_for_ = 0.0; }

  void io(Archive& archive);

 private:
  Eigen::MatrixXd continuation(const MacroStep& step, const Eigen::VectorXd& nodes) const;
  void make_room(std::size_t count);
  void pass_slopes(std::size_t k, Archive& archive);
  void find_slopes(const CommunicationPoint& point);
  void continue_polynomials(NodeSystem& system, const MacroStep& step,
                            const CommunicationPoint& point);
  void go_along_slopes(NodeSystem& system, const MacroStep& step, const CommunicationPoint& point);

  RankNetwork& subsystems_;
  std::vector<double> shares_;  ///< nodes of the polynomials that are known
  double begin_ = 0.0;
  double known_for_ = 0.0;      ///< h of the macro-step; 0: nothing is known
  Eigen::MatrixXd slopes_;      ///< of states, at these and, last, where a macro-step begins
  std::vector<double> inputs_;  ///< of connected inputs, at these
  std::vector<double> values_;  ///< scratch
};

}  // namespace concord
