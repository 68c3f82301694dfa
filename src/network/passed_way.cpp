#include "network/passed_way.hpp"

#include <algorithm>
#include <utility>

#include "signal/hold.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

template <class All>
auto part(All& all, IndexRange range) {
  return std::span(all).subspan(range.first, range.size());
}

}  // namespace

PassedWay::PassedWay(OwnSubsystems& own, const RankLayout& layout) : own_(own), layout_(layout) {}

void PassedWay::begin(bool wanted, bool saved) {
  wanted_ = wanted;
  saved_ = saved;
  if (wanted && ways_.empty()) ways_.resize(own_.count());
  for (Way& way : ways_) way.count = 0;
}

/// What was advanced from there before has been taken back.
void PassedWay::note(std::size_t k, const MacroStep& step, std::span<const Polynomial> inputs,
                     InputContinuity continuity, Wanted wanted) {
  Way& way = ways_[k];
  while (way.count > 0 && levels_[way.count - 1].calls[k].step.begin >= step.begin) --way.count;
  if (way.count == 0 && !saved_ && is_saved_at_begin(k)) own_[k].save();
  if (levels_.size() == way.count) {
    levels_.push_back({std::vector<Call>(own_.count()), std::vector<Polynomial>(layout_.n_inputs()),
                       std::vector<double>(layout_.n_states())});
  }
  Level& level = levels_[way.count++];
  level.calls[k] = {step, continuity, wanted};
  std::ranges::copy(inputs, part(level.inputs, layout_.inputs_of(k)).begin());
  const std::span<const double> states = own_[k].states();
  const std::span<double> kept = part(level.states, layout_.states_of(k));
  std::copy_n(states.begin(), std::min(states.size(), kept.size()), kept.begin());
}

PassedWay::Piece PassedWay::piece(std::size_t k, std::size_t i) const {
  const Level& level = levels_[i];
  const auto& [step, continuity, wanted] = level.calls[k];
  return {step, continuity, wanted, part(level.inputs, layout_.inputs_of(k)),
          part(level.states, layout_.states_of(k))};
}

/// What is to be taken back for the record alone.
bool PassedWay::is_saved_at_begin(std::size_t k) const {
  const Capabilities& can = own_[k].description().capabilities;
  return !own_[k].retraces() && can.rollback && can.any_step;
}

/// What hardly lies behind the end of a piece belongs to it.
std::size_t PassedWay::piece_at(std::size_t k, double time) const {
  constexpr double hardly = 1e-9;
  const auto begins_before = [&](const MacroStep& step) {
    return time - step.begin > hardly * step.size();
  };
  std::size_t i = 0;
  while (i + 1 < ways_[k].count && begins_before(levels_[i + 1].calls[k].step)) ++i;
  return i;
}

void PassedWay::move_inputs(const Piece& piece, double begin) {
  moved_.resize(piece.inputs.size());
  std::transform(piece.inputs.begin(), piece.inputs.end(), moved_.begin(),
                 [&](const Polynomial& p) { return p.moved_to(begin - piece.step.begin); });
}

void PassedWay::follow(const PassedStep& passed, std::span<PassedPoint> points) {
  for (PassedPoint& point : points) {
    point.outputs.resize(layout_.n_outputs());
    point.inputs.resize(layout_.n_inputs());
    point.states.resize(layout_.n_states());
  }
  for (std::size_t k = 0; k < ways_.size(); ++k) {
    if (ways_[k].count == 0) continue;
    take_inputs(k, points);
    std::size_t known = 0;
    if (own_[k].retraces()) {
      known = retrace(k, points);
    } else if (is_saved_at_begin(k) && ways_[k].count == 1) {
      known = go_again(k, points);
    }
    interpolate(k, passed, points.subspan(known));
  }
}

void PassedWay::take_inputs(std::size_t k, std::span<PassedPoint> points) {
  for (PassedPoint& point : points) {
    const Piece piece = this->piece(k, piece_at(k, point.time));
    std::transform(piece.inputs.begin(), piece.inputs.end(),
                   part(point.inputs, layout_.inputs_of(k)).begin(),
                   [&](const Polynomial& p) { return p.at(point.time - piece.step.begin); });
  }
}

/// How many points it has come to.
std::size_t PassedWay::retrace(std::size_t k, std::span<PassedPoint> points) {
  std::size_t last = ways_[k].count;
  double begin = 0.0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    PassedPoint& point = points[i];
    const std::size_t now = piece_at(k, point.time);
    const Piece piece = this->piece(k, now);
    if (std::exchange(last, now) != now) {
      begin = piece.step.begin;
      states_.assign(piece.states.begin(), piece.states.end());
    }
    move_inputs(piece, begin);
    Outcome outcome = Outcome::failed;
    const auto thrown = own_.asking(k, [&] {
      outcome = own_[k].retrace({begin, point.time}, moved_, states_,
                                part(point.outputs, layout_.outputs_of(k)));
    });
    if (thrown || outcome != Outcome::ok) return i;
    std::copy(states_.begin(), states_.end(), part(point.states, layout_.states_of(k)).begin());
    begin = point.time;
  }
  return points.size();
}

/// How many points it has come to; stands at the macro-step's end again.
std::size_t PassedWay::go_again(std::size_t k, std::span<PassedPoint> points) {
  const Piece piece = this->piece(k, 0);
  std::size_t known = 0;
  own_.attempt(k, [&] { own_[k].restore(); });
  for (double begin = piece.step.begin; known < points.size(); ++known) {
    if (!advance_to(k, begin, points[known])) break;
    begin = points[known].time;
  }
  end_outputs_.resize(layout_.outputs_of(k).size());
  own_.guarded(k, [&](Subsystem& subsystem) {
    subsystem.restore();
    return subsystem.advance(piece.step, piece.inputs, piece.continuity, piece.wanted,
                             end_outputs_);
  });
  return known;
}

bool PassedWay::advance_to(std::size_t k, double begin, PassedPoint& point) {
  const Piece piece = this->piece(k, 0);
  move_inputs(piece, begin);
  Outcome outcome = Outcome::failed;
  own_.attempt(k, [&] {
    outcome = own_[k].advance({begin, point.time}, moved_, InputContinuity::broken, Wanted::values,
                              part(point.outputs, layout_.outputs_of(k)));
    if (outcome != Outcome::ok) return;
    const auto states = own_[k].states();
    std::copy(states.begin(), states.end(), part(point.states, layout_.states_of(k)).begin());
  });
  return outcome == Outcome::ok;
}

void PassedWay::interpolate(std::size_t k, const PassedStep& passed,
                            std::span<PassedPoint> points) {
  if (points.empty()) return;
  const IndexRange out = layout_.outputs_of(k), states = layout_.states_of(k);
  const Way& way = ways_[k];
  const bool cubic = passed.begin_slopes && own_[k].description().capabilities.output_derivatives &&
                     levels_[way.count - 1].calls[k].wanted == Wanted::values_and_derivatives;
  const Hold& hold = cubic ? Hold::hermite : Hold::foh;
  const double h = passed.step.size();
  if (out.size() > 0) ways_[k].interpolated = cubic && way.interpolated != 'l' ? 'c' : 'l';
  for (std::size_t o = out.first; o < out.last; ++o) {
    const bool held = own_[k].description().outputs[o - out.first].kind == SignalKind::held;
    const Polynomial p = held ? Polynomial{{passed.begin[o].value, 0.0, 0.0, 0.0}}
                              : from_guess(hold, passed.begin[o], passed.end[o], h, true);
    for (PassedPoint& point : points) point.outputs[o] = p.at(point.time - passed.step.begin);
  }
  const auto end = own_[k].states();
  for (std::size_t i = 0; i < std::min(end.size(), states.size()); ++i) {
    const double begin = levels_[0].states[states.first + i];
    for (PassedPoint& point : points)
      point.states[states.first + i] =
          begin + (end[i] - begin) * ((point.time - passed.step.begin) / h);
  }
}

std::string PassedWay::interpolated() const {
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < ways_.size(); ++k) {
    if (ways_[k].interpolated != 0)
      texts.push_back(in_quotes(own_.name(k)) +
                      (ways_[k].interpolated == 'c' ? " (cubic)" : " (line)"));
  }
  return joined(texts);
}

}  // namespace concord
