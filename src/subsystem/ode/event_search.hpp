#pragma once

#include <array>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "subsystem/event_model.hpp"
#include "subsystem/ode/inner_step.hpp"
#include "subsystem/ode/right_hand_side.hpp"

namespace concord {

/// Looks for the first change of an indicator's sign on the way through a macro-step.
///
/// Between micro-steps the states are Hermite's cubics through their values and slopes. Each micro-
/// step is looked at in pieces, which are halved where an indicator bends so much that it may have
/// changed its sign in between. What is found is then found exactly, on states that the explicit
/// pair gives: the macro-step that is repeated up to it, by everybody, need not be repeated again.
class EventSearch final : public PathWatch {
 public:
  struct Found {
    double tau = std::numeric_limits<double>::infinity();
    std::size_t indicator = 0;
    bool returns = false;  ///< to where it came from, by the way's end

    void io(Archive& archive) { CONCORD_MEMBERS(archive, tau, indicator, returns); }
  };

  /// An indicator has turned around between two samples, at `value`, as a parabola through three
  /// tells; `beyond`: on its way back to zero.
  struct Turn {
    std::size_t indicator = 0;
    double tau = 0.0;
    double value = 0.0;
    bool beyond = false;
  };

  /// What has been seen so far: `tau`, x, f and z are where it ends, or where the micro-step began
  /// in which something was found.
  struct Way {
    std::optional<Found> found;
    double tau = 0.0;
    std::vector<double> x, f;
    std::vector<Indicator> z;
    std::vector<char> from_zero;  ///< not been above it since the macro-step began
    std::vector<Turn> turns;      ///< close to zero
  };

  EventSearch(EventModel& model, CheckedModel& checked, RightHandSide& rhs);

  void begin(std::span<const double> x) noexcept override;
  void reach(double tau, std::span<const double> x) noexcept override;

  /// A way without states, of length h.
  void pass(double h);

  const Way& way() const { return way_; }
  void take(const Way& way) { way_ = way; }
  /// What was found has happened, as everything that would have within `slack` seconds.
  void forget(double slack) {
    way_.found.reset();
    slack_ = slack;
  }

  void io(Archive& archive) { CONCORD_MEMBERS(archive, way_.found, slack_, largest_); }
  int memory_version() const { return 3; }

  /// The value at which an indicator that is z now crosses zero, as far as that is seen.
  double level(std::size_t indicator, const Indicator& z) const;

  /// What was found; else where the indicators lead from the way's end, which may be where the
  /// integration failed.
  Found ahead();

 private:
  /// A point of a piece.
  struct Point {
    double tau = 0.0;
    std::vector<Indicator> z;
  };

  static constexpr int most_halvings = 6;  ///< of a piece

  bool derive(double tau, std::span<const double> x, std::span<double> f);
  bool evaluate(double tau, std::span<const double> x, std::span<Indicator> z);
  bool evaluate(Point& point, double tau);
  void judge_begin();
  bool slope(double tau, std::span<const double> x, std::span<const double> f);
  void interpolate(double tau);
  void search(double tau);
  void see_return(double tau, std::span<const double> x);
  void search_piece(const Point& left, const Point& right, int halvings);
  bool may_hide(const Point& left, const Point& middle, const Point& right) const;
  void take_crossings(const Point& left, const Point& right);
  void note_turns(const Point& left, const Point& middle, const Point& right);
  double root(std::size_t i, double a, double za, double b, double zb);
  void sharpen();

  EventModel& model_;
  CheckedModel& checked_;
  RightHandSide& rhs_;
  InnerStep inner_;
  Way way_;
  double slack_ = 0.0;
  std::vector<double> largest_;          ///< that indicators have been, about
  double next_ = 0.0;                    ///< end of the micro-step that is looked at
  std::vector<double> next_x_, next_f_;  ///< there
  std::vector<Indicator> scratch_z_;
  std::array<Point, 2 + most_halvings + 1> points_;  ///< scratch: ends of a piece, and middles
  Point dip_;                                        ///< scratch
  std::vector<double> between_, slopes_;             ///< scratch
};

}  // namespace concord
