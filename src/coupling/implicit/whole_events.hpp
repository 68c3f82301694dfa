#pragma once

#include <algorithm>
#include <cstdint>
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
  /// Of all, one after the other.
  std::size_t discrete_count() const { return discrete_count_; }
  /// What changes of these make of f and g where inputs stay as they are.
  void discrete_slopes(std::span<const double> discrete, std::span<double> f, std::span<double> g);
  /// And of indicators.
  void discrete_indicator_slopes(std::span<const double> discrete, std::span<double> slopes);
  void begin_instant();
  void forget_jumps();
  std::size_t indicator_count() const { return indicator_count_; }
  void indicators(std::span<Indicator> z);
  void indicator_slopes(std::span<double> slopes);
  /// What events have changed, of each apart, of which others take over the beginning.
  void pass(Archive& archive);
  void take_over(Archive& archive);
  bool is_decisive(std::size_t i, bool beyond);
  std::string text_of(std::size_t i) const;
  /// s; infinity without one.
  double next_time() const;
  /// As of EventModel; `point` says of the network's inputs nothing that counts.
  bool settle(const EventPoint& point, std::vector<Happening>& what);
  bool happen(const EventPoint& point, std::span<double> x, std::vector<Happening>& what);
  /// What has been set since this was asked last or forgotten, at t: in the network's variables but
  /// for inputs, of which a derivative is to be passed on by the last argument (local index,
  /// derivative).
  template <class PassOn>
  std::vector<Jump> new_jumps(double t, std::size_t n_given, const PassOn& pass_on);

 private:
  struct Own {
    std::size_t subsystem;
    EventModel* model;
    std::size_t first;           ///< of its indicators
    std::size_t first_discrete;  ///< of its discrete variables
    std::size_t jumps_seen = 0;
  };
  const Own& with(std::size_t indicator) const;
  EventPoint seen_by(const Own& own, const EventPoint& point) const;

  RankNetwork& subsystems_;
  const NetworkPoint& point_;
  std::vector<Own> own_;  ///< of those that have some
  std::size_t indicator_count_ = 0, discrete_count_ = 0;
};

template <class PassOn>
std::vector<Jump> WholeEvents::new_jumps(double t, std::size_t n_given, const PassOn& pass_on) {
  std::vector<Jump> result;
  for (Own& own : own_) {
    const IndexRange states = subsystems_.states_of(own.subsystem);
    const IndexRange inputs = subsystems_.inputs_of(own.subsystem);
    const auto jumps = own.model->jumps(t);
    for (std::size_t i = std::min(own.jumps_seen, jumps.size()); i < jumps.size(); ++i) {
      Jump& jump = result.emplace_back();
      jump.state = jumps[i].state;
      jump.index = jumps[i].index + (jump.state ? states.first : own.first_discrete);
      for (const auto& [variable, by] : jumps[i].by) {
        std::size_t place = variable;
        if (place > states.size() && place <= states.size() + inputs.size()) {
          pass_on(jump, inputs.first + place - 1 - states.size(), by);
          continue;
        }
        if (place > states.size())
          place +=
              subsystems_.n_states() + n_given + own.first_discrete - states.size() - inputs.size();
        else if (place > 0)
          place += states.first;
        jump.by.emplace_back(static_cast<std::uint32_t>(place), by);
      }
    }
    own.jumps_seen = jumps.size();
  }
  return result;
}

}  // namespace concord
