#pragma once

#include <span>
#include <string>
#include <vector>

#include "coupling/implicit/network_point.hpp"
#include "subsystem/event_model.hpp"

namespace concord {

/// The events of all subsystems of a network as those of one model: their indicators one after the
/// other. Everything happens where the point stands, with the inputs and slopes it has taken.
class WholeEvents {
 public:
  WholeEvents(RankNetwork& subsystems, const NetworkPoint& point);

  bool any() const { return !own_.empty(); }
  std::size_t indicator_count() const { return indicator_count_; }
  void indicators(std::span<Indicator> z);
  void indicator_slopes(std::span<double> slopes);
  bool is_decisive(std::size_t i, bool beyond);
  std::string text_of(std::size_t i) const;
  /// s; infinity without one.
  double next_time() const;
  /// As of EventModel; `point` says of the network's inputs nothing that counts.
  bool settle(const EventPoint& point, std::vector<Happening>& what);
  bool happen(const EventPoint& point, std::span<double> x, std::vector<Happening>& what);

 private:
  struct Own {
    std::size_t subsystem;
    EventModel* model;
    std::size_t first;  ///< of its indicators
  };
  const Own& with(std::size_t indicator) const;
  EventPoint seen_by(const Own& own, const EventPoint& point) const;

  RankNetwork& subsystems_;
  const NetworkPoint& point_;
  std::vector<Own> own_;  ///< of those that have some
  std::size_t indicator_count_ = 0;
};

}  // namespace concord
