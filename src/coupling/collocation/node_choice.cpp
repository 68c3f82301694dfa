#include "coupling/collocation/node_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coupling/method.hpp"

namespace concord {
namespace {

/// Fewer, and one more of the look, see too little of a macro-step: what is fast for a while lies
/// between them.
constexpr int least = Method::usual_nodes;
constexpr double unbounded = std::numeric_limits<double>::infinity();
/// What a step control takes of the size that its error allows, and usually makes of a size at
/// most.
constexpr double safety = 0.7, growth = 2.0;
/// A macro-step shorter than this part of what it was allowed ends where something else wants it.
constexpr double cut = 0.8;
/// Of the work, what a change with its new matrices is worth.
constexpr double worth = 0.9;
/// Macro-steps that have to be for a change; and those up to one to fewer nodes, which each that
/// was taken back doubles.
constexpr int enough = 2, shortest_pause = 8, longest_pause = 64;
/// Right-hand sides that everything else in a macro-step is worth.
constexpr double beside = 2.0;
/// Errors of fewer nodes may be so many times what is expected.
constexpr double unsure = 4.0;
/// The step control counts what lies within a macro-step where that is more than what its end
/// shows.
constexpr double within_as_well = 1.01;

/// Sweeps, the look at the nodes of the next method, and the slopes where the macro-step begins.
double work(int count, int sweeps) { return sweeps * count + (count + 1) + 1 + beside; }

int order(NodeFamily family, int count) {
  return family == NodeFamily::gauss ? 2 * count : 2 * count - 1;
}

/// x^(1/n) of what may be infinite.
double root(double x, int n) { return std::pow(x, 1.0 / n); }

}  // namespace

/// 1 where nothing is known: errors add up.
double NodeChoice::accumulation() const {
  const double left = now_.left - quarter_.left;
  return left > 0.0 ? std::max(0.0, now_.run - quarter_.run) / left : 1.0;
}

double NodeChoice::next_size(const Outlook& outlook, int count) const {
  const int p = order(family_, count);
  const double one_part = std::pow(outlook.decay, count - count_);
  const double error = (count < count_ ? unsure : 1.0) *
                       std::max(outlook.at_end * one_part, outlook.within) * one_part;
  const double by_step = safety * root(outlook.allowed / error, p + 1);
  const double by_run = root(outlook.rate * outlook.h / error, p);
  return outlook.h * std::min(by_step, by_run);
}

int NodeChoice::cheapest(const Outlook& outlook, double bound) const {
  const auto pace = [&](int count) {
    const double most = std::min(growth * outlook.h, bound);
    return work(count, outlook.sweeps) / std::min(next_size(outlook, count), most);
  };
  const double now = pace(count_);
  if (count_ < Method::most_nodes && pace(count_ + 1) < worth * now) return count_ + 1;
  if (count_ > least && pace(count_ - 1) < worth * now) return count_ - 1;
  return count_;
}

void NodeChoice::observe(const Seen& seen, const StepJudgement& judgement) {
  now_.run = judgement.run;
  if (now_.elapsed >= 2.0 * half_.elapsed) {
    quarter_ = half_;
    half_ = now_;
  }
  now_.elapsed += seen.h;
  now_.left += judgement.error;
}

/// None where macro-steps grow anyhow: at a start, or behind an event.
void NodeChoice::learn(const Seen& seen, const StepJudgement& judgement) {
  const double adds_up = accumulation();
  observe(seen, judgement);
  const double to_come = adds_up * judgement.rest;
  const Outlook outlook{seen.h,
                        seen.unmasked,
                        judgement.error > within_as_well * seen.error ? judgement.error : 0.0,
                        seen.decay,
                        judgement.allowed,
                        to_come > 0.0 ? judgement.free / to_come : unbounded,
                        seen.sweeps};
  const bool was_cut = wanted_ > 0.0 && seen.h < cut * wanted_;
  const double bound = was_cut ? seen.h : judgement.longest;
  const double allowed = next_size(outlook, count_);
  wanted_ = std::min({allowed, growth * seen.h, judgement.longest});
  rest_ = std::max(rest_ - 1, 0);
  const bool grows = std::min(allowed, bound) > growth * seen.h;
  if (!grows) vote(cheapest(outlook, bound));
}

void NodeChoice::vote(int count) {
  agreeing_ = count == better_ ? agreeing_ + 1 : 1;
  better_ = count;
  const bool more = count > count_, fewer = count < count_ && rest_ == 0;
  if (agreeing_ >= enough && (more || fewer)) change(count - count_);
}

void NodeChoice::change(int by) {
  const bool taken_back = by > 0 && last_change_ < 0;
  if (by > 0) pause_ = taken_back ? std::min(2 * pause_, longest_pause) : shortest_pause;
  rest_ = pause_;
  last_change_ = by;
  count_ += by;
  agreeing_ = 0;
  wanted_ = 0.0;
}

}  // namespace concord
