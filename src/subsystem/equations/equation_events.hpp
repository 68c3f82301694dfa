#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "concord/archive.hpp"
#include "expression/expression_list.hpp"
#include "subsystem/equations/smooth_equations.hpp"
#include "subsystem/event_model.hpp"
#include "subsystem/grazes.hpp"

namespace concord {

/// The events of equations: which relations hold, what discrete variables are, when conditions
/// become true and ticks come (methods 14).
class EquationEvents {
 public:
  struct Lists {
    ExpressionList sides;              ///< left and right of each relation
    ExpressionList whens;              ///< of each condition itself (of ticks none) and its sets
    ExpressionList guards;             ///< of each relation: whether it counts (relation_guards)
    std::vector<char> linear_in_time;  ///< per relation: moves with t alone, linearly
  };

  /// All compiled expressions have `places.all()` variables.
  EquationEvents(const EquationPlaces& places, std::vector<Relation> relations,
                 std::vector<EquationCondition> conditions, const std::vector<double>& discrete,
                 Lists lists);

  /// Discrete variables and relations, in the order of their places.
  std::span<const double> held() const { return now_.held; }

  std::size_t indicator_count() const { return watched_.size(); }
  void indicators(double t, std::span<const double> x, std::span<const double> u,
                  std::span<Indicator> z);
  void indicator_slopes(double t, std::span<const double> x, std::span<const double> u,
                        const Motion& motion, std::span<double> slopes);
  /// Of indicators, along discrete variables.
  void discrete_slopes(double t, std::span<const double> x, std::span<const double> u,
                       std::span<const double> discrete, std::span<double> slopes);
  bool is_decisive(std::size_t i, bool beyond, double t, std::span<const double> x,
                   std::span<const double> u);
  const std::string& text_of(std::size_t i) const { return relations_[watched_[i].relation].text; }
  double next_time_event() const { return now_.next_time; }

  void begin(double t, std::span<const double> x, std::span<const double> u);
  bool settle(const EventPoint& point, std::span<const double> x, std::vector<Happening>& what);
  bool happen(const EventPoint& point, std::span<double> x, std::vector<Happening>& what);
  /// Whatever has happened at the same time before is over.
  void begin_instant() { jumped_at_ = std::numeric_limits<double>::quiet_NaN(); }
  std::span<const Jump> jumps(double t) const {
    return t == jumped_at_ ? jumps_ : std::span<const Jump>();
  }

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, now_);
    find_counting();
  }

  /// Discrete variables of another run, and which ticks had come there: what relations and
  /// conditions are follows from this one's parameters.
  void take_over(Archive& archive);

  /// Takes over where another one stands, whose parameters are other ones.
  void continue_from(EquationEvents& before);

 private:
  /// What an indicator watches; a floor has two.
  struct Watched {
    enum class Side { relation, below, above };
    std::size_t relation;
    Side side;
  };
  struct Memory {
    std::vector<double> held;
    std::vector<char> truths;         ///< of conditions
    std::vector<std::int64_t> ticks;  ///< numbers of the next ones, per condition
    /// Per indicator: how far from zero it may have been where its relation changed last.
    std::vector<double> widths;
    /// What they were before their relations were kept at the last instant; NaN: not kept.
    std::vector<double> widths_before;
    bool begun = false;
    double next_time = std::numeric_limits<double>::infinity();
    double instant = std::numeric_limits<double>::quiet_NaN();  ///< that was looked at last
    std::vector<double> steepest;  ///< slopes of indicators there, before and after what was set
    /// What was held before the last instant at which that changed, and whether conditions acted.
    std::vector<double> held_before;
    double changed_at = std::numeric_limits<double>::quiet_NaN();
    bool acted = false;

    void io(Archive& archive) {
      CONCORD_MEMBERS(archive, held, truths, ticks, widths, widths_before, begun, next_time,
                      instant, steepest, held_before, changed_at, acted);
    }
    int memory_version() const { return 4; }
  };

  double& mode(std::size_t relation) { return now_.held[places_.discrete + relation]; }
  double mode(std::size_t relation) const { return now_.held[places_.discrete + relation]; }
  void find_counting();
  bool counts(std::size_t indicator) const {
    return counting_[watched_[indicator].relation] != 0.0;
  }
  void move_to(ExpressionList& list, double t, std::span<const double> x,
               std::span<const double> u) const;
  void evaluate_sides(double t, std::span<const double> x, std::span<const double> u);
  double sign_of(const Watched& watched) const;
  Indicator indicator(std::size_t i) const;
  void move_sides(double dt, const Motion& motion);
  void put_slopes(std::span<double> slopes) const;
  void find_slopes(double t, std::span<const double> x, std::span<const double> u,
                   const Motion& motion, std::span<double> slopes);
  void find_doubts(const Motion& errors);
  void look(const EventPoint& point, std::span<const double> x);
  void begin_ticks(double t);
  bool begins_as(std::size_t condition, bool truth) const;
  bool change_modes(const EventPoint& point, std::span<const double> x,
                    std::vector<Happening>* what);
  double nearness(std::size_t indicator, const EventPoint& point) const;
  bool is_at_zero(std::size_t indicator, const EventPoint& point) const;
  bool is_beyond_at_zero(const Watched& watched) const;
  bool is_beyond(std::size_t i, const EventPoint& point) const;
  bool changes(std::size_t indicator, const EventPoint& point) const;
  std::size_t opposite(std::size_t i) const;
  double changed(const Watched& watched) const;
  void keep_changed(const EventPoint& point);
  void let_go();
  void evaluate_whens(const EventPoint& point, std::span<const double> x);
  bool act(const EventPoint& point, std::span<double> x, std::vector<Happening>& what);
  bool fires(std::size_t condition, double until, std::size_t& result);
  void set(const EquationCondition& condition, std::size_t result, std::span<double> x);
  void note_jumps(const EquationCondition& condition, std::size_t result,
                  std::span<const double> derivatives);
  double tick(std::size_t condition) const;
  void find_next_time(const EventPoint& point, std::span<const double> x);
  void find_next_time(double t);
  double time_of(std::size_t relation, double t);
  bool would_set(const EquationCondition& condition, std::size_t result,
                 std::span<const double> x) const;

  EquationPlaces places_;
  std::vector<Relation> relations_;
  std::vector<EquationCondition> conditions_;
  Lists lists_;
  std::vector<Watched> watched_;  ///< per indicator
  Memory now_;
  /// Of the run that this one begins from; empty: none.
  std::vector<std::int64_t> ticks_before_;
  std::vector<char> truths_before_;
  std::vector<double> sides_, side_slopes_, slopes_, results_, direction_;  ///< scratch
  std::vector<double> doubts_;  ///< what indicators may be wrong by
  std::vector<Indicator> z_;
  std::vector<double> counting_;  ///< per relation: its guard
  std::vector<Jump> jumps_;       ///< of the instant `jumped_at_`
  double jumped_at_ = std::numeric_limits<double>::quiet_NaN();
  int pass_ = 0;        ///< of that instant
  double slack_ = 0.0;  ///< s: that of the last look
};

}  // namespace concord
