#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "concord/archive.hpp"
#include "concord/ode_model.hpp"
#include "concord/subsystem.hpp"
#include "subsystem/grazes.hpp"

namespace concord {

/// A quantity whose change of sign is an event: as long as nothing has happened, it is positive.
struct Indicator {
  double value = 0.0;
  double rounding = 0.0;  ///< below -rounding it has certainly changed its sign
};

/// An instant at which events are looked for. `slack`, s: what would happen so soon happens now.
/// `certain`: the indicator that was found to change its sign here, whatever rounding says.
/// `errors`: of x and u, where they are known; else empty. `inside`: t on the side from which f and
/// g have their limits, where time alone makes an event. `fits`: as EventPass::fit.
struct EventPoint {
  double t;
  std::span<const double> u;
  Motion motion;
  double slack;
  std::optional<std::size_t> certain = {};
  Motion errors = {};
  double inside = t;
  bool fits = false;
};

/// An OdeModel whose f and g change at events, which the whole network takes part in: between them
/// f and g are smooth functions of (t,x,u), also where they lead beyond the next event.
class EventModel : public OdeModel {
 public:
  virtual bool has_events() const = 0;

  /// Whether whoever has the model is told of all that changes what happens; not so where it stands
  /// for a network, whose subsystems are given parameters and inputs one by one.
  virtual bool is_told_of_changes() const { return true; }

  virtual std::size_t indicator_count() const = 0;
  virtual void indicators(double t, std::span<const double> x, std::span<const double> u,
                          std::span<Indicator> z) = 0;
  /// Derivatives of the indicators' values along dt = 1, dx, du.
  virtual void indicator_slopes(double t, std::span<const double> x, std::span<const double> u,
                                const Motion& motion, std::span<double> slopes) = 0;

  /// Whether it would have changed anything for longer than the moment if indicator i, which turns
  /// around close to zero near this point, had turned on the other side. `beyond`: it had come over
  /// zero shortly before, and is on its way back.
  virtual bool is_decisive(std::size_t /*i*/, bool /*beyond*/, double /*t*/,
                           std::span<const double> /*x*/, std::span<const double> /*u*/) {
    return false;
  }
  /// The relation that it watches, in its user's words.
  virtual std::string text_of(std::size_t /*i*/) const { return {}; }

  /// The next time at which something happens whatever x and u are, s; infinity without one.
  virtual double next_time_event() const = 0;

  /// Before anything is evaluated: what holds at the start values.
  virtual void begin(double t, std::span<const double> x, std::span<const double> u) = 0;

  /// Before the first event: what holds at the start. No condition acts; `what`: those that hold
  /// and will not act, as they need not become true. Whether something has changed since the last
  /// call.
  virtual bool settle(const EventPoint& point, std::span<const double> x,
                      std::vector<Happening>& what) = 0;

  /// One pass at an instant: what has changed its truth does so; conditions that become true, and
  /// ticks, act on discrete variables and on x. False where nothing happens, else adds what does.
  virtual bool happen(const EventPoint& point, std::span<double> x,
                      std::vector<Happening>& what) = 0;

  /// What has been set at t, pass by pass, since an instant has begun there.
  virtual void begin_instant() {}
  virtual std::span<const Jump> jumps(double /*t*/) const { return {}; }

  /// Why the derivative of state `index`, or output `index`, is no finite number there, in its
  /// user's words; empty where nobody knows.
  enum class Part { derivative, output };
  virtual std::string why_not_finite(Part /*part*/, std::size_t /*index*/, double /*t*/,
                                     std::span<const double> /*x*/,
                                     std::span<const double> /*u*/) const {
    return {};
  }

  virtual std::size_t discrete_count() const { return 0; }

  /// Derivatives of f and g along `discrete`, the discrete variables.
  virtual void discrete_slopes(double /*t*/, std::span<const double> /*x*/,
                               std::span<const double> /*u*/, std::span<const double> /*discrete*/,
                               std::span<double> /*f*/, std::span<double> /*g*/) {}

  /// Derivatives of the indicators' values along them.
  virtual void discrete_indicator_slopes(double /*t*/, std::span<const double> /*x*/,
                                         std::span<const double> /*u*/,
                                         std::span<const double> /*discrete*/,
                                         std::span<double> slopes) {
    std::ranges::fill(slopes, 0.0);
  }

  /// What events have changed.
  virtual void pass_events(Archive& archive) = 0;

  /// Before `begin`, of what another one's `pass_events` has written: what a start takes over.
  virtual void take_over(Archive& archive) = 0;
};

}  // namespace concord
