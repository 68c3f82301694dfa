#include "subsystem/equations/equation_events.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "concord/errors.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// Of the size of a relation's sides: what rounding may make of them.
constexpr double side_rounding = 1e-12;

/// Instants that follow each other are two slacks apart at least, so that a crossing may be as old
/// as that where it is found; and rounding.
constexpr double slacks_apart = 3.0;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_kept = std::numeric_limits<double>::quiet_NaN();

void note(std::vector<Happening>& what, const std::string& text) {
  const auto same = [&](const Happening& one) { return one.part == 0 && one.what == text; };
  if (!text.empty() && std::none_of(what.begin(), what.end(), same)) what.push_back({0, text});
}

/// Far from t = 0, times are no more exact than this.
double rounding_of(double t) { return 8.0 * std::numeric_limits<double>::epsilon() * std::abs(t); }

}  // namespace

EquationEvents::EquationEvents(const EquationPlaces& places, std::vector<Relation> relations,
                               std::vector<EquationCondition> conditions,
                               const std::vector<double>& discrete, Lists lists)
    : places_(places),
      relations_(std::move(relations)),
      conditions_(std::move(conditions)),
      lists_(std::move(lists)),
      sides_(lists_.sides.count()),
      side_slopes_(lists_.sides.count()),
      results_(lists_.whens.count()),
      direction_(places.all()) {
  for (std::size_t i = 0; i < relations_.size(); ++i) {
    if (relations_[i].kind == Relation::Kind::floor) {
      watched_.push_back({i, Watched::Side::below});
      watched_.push_back({i, Watched::Side::above});
    } else if (relations_[i].kind != Relation::Kind::equal) {
      watched_.push_back({i, Watched::Side::relation});
    }
  }
  slopes_.resize(watched_.size());
  doubts_.resize(watched_.size());
  now_.steepest.resize(watched_.size());
  z_.resize(watched_.size());
  now_.held = discrete;
  now_.held.resize(places.held());
  now_.truths.resize(conditions_.size());
  now_.ticks.resize(conditions_.size());
  now_.widths.resize(watched_.size());
  counting_.resize(relations_.size());
  find_counting();
}

/// After what is held has changed.
void EquationEvents::find_counting() {
  const std::span<double> point = lists_.guards.point();
  std::copy(now_.held.begin(), now_.held.end(),
            point.begin() + static_cast<std::ptrdiff_t>(places_.moving()));
  lists_.guards.evaluate(counting_);
}

void EquationEvents::move_to(ExpressionList& list, double t, std::span<const double> x,
                             std::span<const double> u) const {
  const std::span<double> point = list.point();
  point[0] = t;
  const auto held = std::copy(u.begin(), u.end(), std::copy(x.begin(), x.end(), point.begin() + 1));
  std::copy(now_.held.begin(), now_.held.end(), held);
}

void EquationEvents::evaluate_sides(double t, std::span<const double> x,
                                    std::span<const double> u) {
  move_to(lists_.sides, t, x, u);
  lists_.sides.evaluate(sides_);
}

/// Of what is positive as long as the relation has its present value: 1 where that grows with
/// right - left.
double EquationEvents::sign_of(const Watched& watched) const {
  if (watched.side == Watched::Side::relation) return mode(watched.relation) != 0.0 ? 1.0 : -1.0;
  return watched.side == Watched::Side::above ? 1.0 : -1.0;
}

/// Where a relation has changed, zero is as wide as what was found there is exact, beyond where it
/// was found: what then stays where it is, on either side, does not cross it again.
Indicator EquationEvents::indicator(std::size_t i) const {
  const Watched& watched = watched_[i];
  const double left = sides_[2 * watched.relation];
  double right = sides_[2 * watched.relation + 1];
  if (watched.side == Watched::Side::below) right = mode(watched.relation);
  if (watched.side == Watched::Side::above) right = mode(watched.relation) + 1.0;
  return {sign_of(watched) * (right - left),
          std::max(side_rounding * (std::abs(left) + std::abs(right)), now_.widths[i])};
}

void EquationEvents::indicators(double t, std::span<const double> x, std::span<const double> u,
                                std::span<Indicator> z) {
  evaluate_sides(t, x, u);
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    z[i] = counts(i) ? indicator(i) : Indicator{1.0, 0.0};
  }
}

/// Of what does not count, nothing.
void EquationEvents::indicator_slopes(double t, std::span<const double> x,
                                      std::span<const double> u, const Motion& motion,
                                      std::span<double> slopes) {
  find_slopes(t, x, u, motion, slopes);
  for (std::size_t i = 0; i < watched_.size(); ++i) slopes[i] = counts(i) ? slopes[i] : 0.0;
}

/// How sides change from where they were evaluated.
void EquationEvents::move_sides(double dt, const Motion& motion) {
  direction_[0] = dt;
  std::copy(motion.dudt.begin(), motion.dudt.end(),
            std::copy(motion.dxdt.begin(), motion.dxdt.end(), direction_.begin() + 1));
  lists_.sides.slopes(direction_, side_slopes_);
}

void EquationEvents::find_slopes(double t, std::span<const double> x, std::span<const double> u,
                                 const Motion& motion, std::span<double> slopes) {
  move_to(lists_.sides, t, x, u);
  move_sides(1.0, motion);
  put_slopes(slopes);
}

/// Those of sides. What two sides that move alike differ by in rounding is no motion: speeds of two
/// inertias that turn as one.
void EquationEvents::put_slopes(std::span<double> slopes) const {
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    const double left = side_slopes_[2 * watched_[i].relation];
    const double right = side_slopes_[2 * watched_[i].relation + 1];
    const double apart = right - left;
    const bool moves = std::abs(apart) > side_rounding * (std::abs(left) + std::abs(right));
    slopes[i] = moves ? sign_of(watched_[i]) * apart : 0.0;
  }
}

void EquationEvents::discrete_slopes(double t, std::span<const double> x, std::span<const double> u,
                                     std::span<const double> discrete, std::span<double> slopes) {
  move_to(lists_.sides, t, x, u);
  std::ranges::fill(direction_, 0.0);
  const auto held = direction_.begin() + static_cast<std::ptrdiff_t>(places_.moving());
  std::ranges::copy(discrete, held);
  lists_.sides.slopes(direction_, side_slopes_);
  std::fill_n(held, discrete.size(), 0.0);
  put_slopes(slopes);
}

void EquationEvents::find_doubts(const Motion& errors) {
  constexpr double sure = 3.0;  // times the estimate that a true error may be
  std::fill(doubts_.begin(), doubts_.end(), 0.0);
  if (errors.dxdt.empty() && errors.dudt.empty()) return;
  move_sides(0.0, errors);
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    const std::size_t left = 2 * watched_[i].relation;
    doubts_[i] = sure * std::abs(side_slopes_[left + 1] - side_slopes_[left]);
  }
}

/// Indicators and their slopes at the point, and the steepest ones of the instant.
void EquationEvents::look(const EventPoint& point, std::span<const double> x) {
  evaluate_sides(point.t, x, point.u);
  for (std::size_t i = 0; i < watched_.size(); ++i) z_[i] = indicator(i);
  find_slopes(point.t, x, point.u, point.motion, slopes_);
  find_doubts(point.errors);
  if (std::exchange(now_.instant, point.t) != point.t)
    std::fill(now_.steepest.begin(), now_.steepest.end(), 0.0);
  for (std::size_t i = 0; i < slopes_.size(); ++i)
    now_.steepest[i] = std::max(now_.steepest[i], std::abs(slopes_[i]));
}

/// The first ticks from here on.
void EquationEvents::begin_ticks(double t) {
  for (std::size_t c = 0; c < conditions_.size(); ++c) {
    const auto& [text, every, offset, initially, sets] = conditions_[c];
    if (!every) continue;
    const double passed = (t - rounding_of(t) - offset) / *every;
    now_.ticks[c] = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(passed)));
    const bool comes_now = std::abs(tick(c) - t) <= rounding_of(t);
    const bool has_come = c < ticks_before_.size() && ticks_before_[c] == now_.ticks[c] + 1;
    if (comes_now && has_come) ++now_.ticks[c];
  }
}

void EquationEvents::take_over(Archive& archive) {
  Memory there;
  CONCORD_MEMBERS(archive, there);
  const std::size_t count = std::min(places_.discrete, there.held.size());
  std::copy_n(there.held.begin(), count, now_.held.begin());
  find_counting();
  ticks_before_ = std::move(there.ticks);
  truths_before_ = std::move(there.truths);
}

/// Relations as they are read at the point itself; some need others, which come before them.
void EquationEvents::begin(double t, std::span<const double> x, std::span<const double> u) {
  for (std::size_t i = 0; i < relations_.size(); ++i) {
    evaluate_sides(t, x, u);
    const double left = sides_[2 * i], right = sides_[2 * i + 1];
    switch (relations_[i].kind) {
      case Relation::Kind::less:
        mode(i) = left < right ? 1.0 : 0.0;
        break;
      case Relation::Kind::less_equal:
        mode(i) = left <= right ? 1.0 : 0.0;
        break;
      case Relation::Kind::equal:
        mode(i) = left == right ? 1.0 : 0.0;
        break;
      case Relation::Kind::floor:
        mode(i) = std::floor(left);
        break;
    }
  }
}

/// What a condition's truth counts as before the start: its own, so that it doesn't become true
/// there, or false where it is to act initially. In the run that this one begins from it had begun.
bool EquationEvents::begins_as(std::size_t c, bool truth) const {
  const bool had_acted = c < truths_before_.size() && truths_before_[c] != 0;
  return truth && (!conditions_[c].initially || had_acted);
}

/// What holds right behind the start is what counts. Slopes come with the relations of before.
bool EquationEvents::settle(const EventPoint& point, std::span<const double> x,
                            std::vector<Happening>& what) {
  const bool first = !std::exchange(now_.begun, true);
  if (first) {
    begin_ticks(point.t);
    begin(point.t, x, point.u);
  }
  const bool changed = change_modes(point, x, nullptr);
  evaluate_whens(point, x);
  std::size_t result = 0;
  for (std::size_t c = 0; c < conditions_.size(); ++c) {
    if (!conditions_[c].every) {
      now_.truths[c] = begins_as(c, results_[result++] != 0.0) ? 1 : 0;
      if (now_.truths[c] != 0 && !conditions_[c].initially) note(what, conditions_[c].text);
    }
    result += conditions_[c].sets.size();
  }
  find_next_time(point, x);
  return first || changed;
}

bool EquationEvents::happen(const EventPoint& point, std::span<double> x,
                            std::vector<Happening>& what) {
  const std::vector<double> before = now_.held;
  const bool changed = change_modes(point, x, &what);
  const bool acted = act(point, x, what);
  if (acted) find_counting();
  if (changed || acted) {
    if (std::exchange(now_.changed_at, point.t) == point.t) {
      let_go();
    } else {
      now_.widths_before.clear();
      now_.held_before = before;
      now_.acted = false;
    }
  }
  now_.acted = now_.acted || acted;
  find_next_time(point, x);
  return changed || acted;
}

/// How far from zero an indicator may be found where it crosses it: as far as the steepest of the
/// instant leads, however slowly it leaves after what was set. A ball that hardly rises has been on
/// the floor all the same.
double EquationEvents::nearness(std::size_t i, const EventPoint& point) const {
  return slacks_apart * now_.steepest[i] * point.slack;
}

/// What does not move from where both sides are equal, as counts do, is what the relation says
/// there.
bool EquationEvents::is_beyond_at_zero(const Watched& watched) const {
  if (watched.side != Watched::Side::relation) return watched.side == Watched::Side::above;
  const bool there = relations_[watched.relation].kind != Relation::Kind::less;
  return there != (mode(watched.relation) != 0.0);
}

/// Whether a relation has changed already, and not only will. Inputs may have jumped since the
/// instant was found, and so may what other relations that have changed there make of its sides.
bool EquationEvents::is_beyond(std::size_t i, const EventPoint& point) const {
  return z_[i].value < -(z_[i].rounding + nearness(i, point));
}

/// Whether what an indicator watches is something else right behind the point, as far as slopes
/// are those of relations that hold there.
bool EquationEvents::changes(std::size_t i, const EventPoint& point) const {
  const auto [value, rounding] = z_[i];
  if (value == 0.0 && slopes_[i] == 0.0) return is_beyond_at_zero(watched_[i]);
  const double near = rounding + nearness(i, point);
  return value <= near && (slopes_[i] < 0.0 || point.certain == i);
}

/// As exactly as the instant is found and the signals are known.
bool EquationEvents::is_at_zero(std::size_t i, const EventPoint& point) const {
  return watched_[i].side == Watched::Side::relation &&
         std::abs(z_[i].value) <= z_[i].rounding + nearness(i, point) + doubts_[i];
}

/// Of an indicator, the one that would take its relation's change back.
std::size_t EquationEvents::opposite(std::size_t i) const {
  switch (watched_[i].side) {
    case Watched::Side::below:
      return i + 1;
    case Watched::Side::above:
      return i - 1;
    case Watched::Side::relation:
      break;
  }
  return i;
}

double EquationEvents::changed(const Watched& watched) const {
  const double now = mode(watched.relation), left = sides_[2 * watched.relation];
  switch (watched.side) {
    case Watched::Side::below:
      return std::min(now - 1.0, std::floor(left));
    case Watched::Side::above:
      return std::max(now + 1.0, std::floor(left));
    case Watched::Side::relation:
      break;
  }
  return now != 0.0 ? 0.0 : 1.0;
}

/// What has changed at the instant was found with inputs that did not fit yet: zero is as wide as
/// they were off.
void EquationEvents::keep_changed(const EventPoint& point) {
  now_.widths_before.assign(watched_.size(), not_kept);
  for (std::size_t i = 0; i < watched_.size() && now_.changed_at == point.t; ++i) {
    const std::size_t relation = watched_[i].relation;
    const bool has_changed = mode(relation) != now_.held_before[places_.discrete + relation];
    if (!has_changed || !counts(i) || z_[i].value >= -z_[i].rounding) continue;
    now_.widths_before[i] = now_.widths[i];
    now_.widths[i] = std::abs(z_[i].value) + nearness(i, point);
    z_[i].rounding = now_.widths[i];
  }
}

/// Something more happens here with inputs that fit: then what was kept is what these say. A mass
/// that comes to rest again waits for the force that it was torn off by too early.
void EquationEvents::let_go() {
  for (std::size_t i = 0; i < now_.widths_before.size(); ++i)
    if (!std::isnan(now_.widths_before[i])) now_.widths[i] = now_.widths_before[i];
  now_.widths_before.clear();
}

/// Where something has happened at the instant and relations contradict what has come of it, as
/// those of what has jumped back, they change first: until then slopes mean nothing.
/// What does not count becomes what it is, for the time when it does, and nothing has happened;
/// where it is as close to zero as nobody knows, what it is there: a mass that has come to rest
/// neither moves forwards nor backwards.
bool EquationEvents::change_modes(const EventPoint& point, std::span<const double> x,
                                  std::vector<Happening>* what) {
  look(point, x);
  if (point.fits) keep_changed(point);
  const std::vector<double> before = now_.held;
  bool contradictory = false;
  for (std::size_t i = 0; i < watched_.size() && now_.changed_at == point.t; ++i)
    contradictory = contradictory || (counts(i) && is_beyond(i, point));
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    const Watched& watched = watched_[i];
    const bool first = mode(watched.relation) == before[places_.discrete + watched.relation];
    if (!counts(i) && is_at_zero(i, point)) {
      mode(watched.relation) =
          relations_[watched.relation].kind == Relation::Kind::less ? 0.0 : 1.0;
      now_.widths[i] = std::max(std::abs(z_[i].value), nearness(i, point));
      continue;
    }
    const bool will = contradictory ? point.certain == i : changes(i, point);
    if (!first || !(is_beyond(i, point) || will)) continue;
    mode(watched.relation) = changed(watched);
    const double away = std::abs(z_[i].value), exact = nearness(i, point);
    now_.widths[i] = 0.0;
    now_.widths[opposite(i)] = away <= z_[i].rounding + exact ? away + exact : exact;
  }
  bool any = false;
  for (std::size_t i = 0; i < relations_.size(); ++i) {
    if (relations_[i].kind == Relation::Kind::equal)
      mode(i) = sides_[2 * i] == sides_[2 * i + 1] ? 1.0 : 0.0;
    if (counting_[i] == 0.0 || mode(i) == before[places_.discrete + i]) continue;
    any = true;
    if (what != nullptr) note(*what, relations_[i].text);
  }
  return any;
}

void EquationEvents::evaluate_whens(const EventPoint& point, std::span<const double> x) {
  move_to(lists_.whens, point.t, x, point.u);
  lists_.whens.evaluate(results_);
}

/// All sets with the values of before.
bool EquationEvents::act(const EventPoint& point, std::span<double> x,
                         std::vector<Happening>& what) {
  evaluate_whens(point, x);
  std::span<const double> derivatives;
  bool any = false;
  std::size_t result = 0;
  if (std::exchange(jumped_at_, point.t) != point.t) jumps_.clear();
  ++pass_;
  for (std::size_t c = 0; c < conditions_.size(); ++c) {
    if (fires(c, point.t + std::max(point.slack, rounding_of(point.t)), result)) {
      if (!std::exchange(any, true)) derivatives = lists_.whens.differentiate();
      note(what, conditions_[c].text);
      note_jumps(conditions_[c], result, derivatives);
      set(conditions_[c], result, x);
    }
    result += conditions_[c].sets.size();
  }
  return any;
}

/// `until`: ticks up to there come now. `result`: of the condition's own; moves on to that of its
/// first set.
bool EquationEvents::fires(std::size_t c, double until, std::size_t& result) {
  if (conditions_[c].every) {
    if (tick(c) > until) return false;
    ++now_.ticks[c];
    return true;
  }
  const bool truth = results_[result++] != 0.0;
  const bool before = std::exchange(now_.truths[c], truth ? 1 : 0) != 0;
  return truth && !before;
}

/// `result`: of the condition's first set. `derivatives` of all `whens`, as they were evaluated
/// last.
void EquationEvents::note_jumps(const EquationCondition& condition, std::size_t result,
                                std::span<const double> derivatives) {
  const auto entries = lists_.whens.entries();
  for (const auto& [state, index, words] : condition.sets) {
    Jump& jump = jumps_.emplace_back(Jump{pass_, state, index});
    const auto row = std::ranges::equal_range(entries, result++, {}, &ExpressionList::Entry::row);
    for (const ExpressionList::Entry& entry : row) {
      if (entry.variable >= places_.moving() + places_.discrete) continue;  // of a relation
      jump.by.emplace_back(entry.variable,
                           derivatives[static_cast<std::size_t>(&entry - entries.data())]);
    }
  }
}

void EquationEvents::set(const EquationCondition& condition, std::size_t result,
                         std::span<double> x) {
  for (const auto& [state, index, words] : condition.sets) {
    const double value = results_[result++];
    if (!std::isfinite(value)) {
      throw RecoverableFailure(words + " when " + condition.text + " is " + short_number(value));
    }
    (state ? x[index] : now_.held[index]) = value;
  }
}

/// Whether one of the sets differs from what is there.
bool EquationEvents::would_set(const EquationCondition& condition, std::size_t result,
                               std::span<const double> x) const {
  return std::any_of(condition.sets.begin(), condition.sets.end(), [&](const auto& set) {
    return results_[result++] != (set.state ? x[set.index] : now_.held[set.index]);
  });
}

/// What acts when a condition becomes true lasts; else a relation that holds for a moment leaves
/// no more than the moment.
bool EquationEvents::is_decisive(std::size_t i, bool beyond, double t, std::span<const double> x,
                                 std::span<const double> u) {
  const std::size_t relation = watched_[i].relation;
  if (beyond) {
    return now_.acted && now_.held_before[places_.discrete + relation] != mode(relation);
  }
  const double kept = mode(relation);
  evaluate_sides(t, x, u);
  mode(relation) = changed(watched_[i]);
  evaluate_whens({t, u, {}, 0.0}, x);
  mode(relation) = kept;
  bool decisive = false;
  std::size_t result = 0;
  for (std::size_t c = 0; c < conditions_.size(); ++c) {
    const bool turned =
        !conditions_[c].every && (results_[result++] != 0.0) != (now_.truths[c] != 0);
    decisive = decisive || (turned && would_set(conditions_[c], result, x));
    result += conditions_[c].sets.size();
  }
  return decisive;
}

double EquationEvents::tick(std::size_t c) const {
  return conditions_[c].offset + static_cast<double>(now_.ticks[c]) * *conditions_[c].every;
}

void EquationEvents::find_next_time(const EventPoint& point, std::span<const double> x) {
  look(point, x);
  slack_ = point.slack;
  find_next_time(point.t);
}

/// From indicators and slopes at t.
void EquationEvents::find_next_time(double t) {
  now_.next_time = infinite;
  for (std::size_t c = 0; c < conditions_.size(); ++c)
    if (conditions_[c].every) now_.next_time = std::min(now_.next_time, tick(c));
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    const double rest = -z_[i].value / slopes_[i];
    if (lists_.linear_in_time[watched_[i].relation] != 0 && counts(i) && rest > slack_ &&
        t + rest < infinite)
      now_.next_time = std::min(now_.next_time, time_of(watched_[i].relation, t + rest));
  }
}

/// Which of the numbers around t, a time of rounded differences, the relation itself means: where
/// its sides are equal, so that `t >= 0.3` comes at 0.3 from wherever it is looked at.
double EquationEvents::time_of(std::size_t relation, double t) {
  double nearest = infinite, result = t;
  for (const double time : {t, std::nextafter(t, -infinite), std::nextafter(t, infinite)}) {
    lists_.sides.point()[0] = time;
    lists_.sides.evaluate(sides_);
    const double apart = std::abs(sides_[2 * relation + 1] - sides_[2 * relation]);
    if (apart < nearest) result = time;
    nearest = std::min(nearest, apart);
    if (nearest == 0.0) break;
  }
  return result;
}

void EquationEvents::continue_from(EquationEvents& before) {
  now_ = before.now_;
  slack_ = before.slack_;
  find_counting();
  if (std::isnan(now_.instant)) return;
  std::ranges::copy(before.lists_.sides.point(), lists_.sides.point().begin());
  lists_.sides.point()[0] = now_.instant;
  lists_.sides.evaluate(sides_);
  for (std::size_t i = 0; i < watched_.size(); ++i) z_[i] = indicator(i);
  move_sides(1.0, {});
  put_slopes(slopes_);
  find_next_time(now_.instant);
}

}  // namespace concord
