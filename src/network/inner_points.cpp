#include "network/inner_points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace concord {
namespace {

constexpr auto& share = LobattoPoints::share;
constexpr std::size_t last = LobattoPoints::count - 1;

/// Rows of Lobatto IIIA of order 6 (Hairer and Wanner, Solving ODEs II, table IV.5.8).
constexpr double root = 2.23606797749978969;
constexpr std::array<std::array<double, LobattoPoints::count>, LobattoPoints::count> collocation = {
    {
        {0.0, 0.0, 0.0, 0.0},
        {(11.0 + root) / 120.0, (25.0 - root) / 120.0, (25.0 - 13.0 * root) / 120.0,
         (-1.0 + root) / 120.0},
        {(11.0 - root) / 120.0, (25.0 + 13.0 * root) / 120.0, (25.0 + root) / 120.0,
         (-1.0 - root) / 120.0},
        LobattoPoints::weight,
    }};

/// The share of what slopes within tell that may be wrong.
constexpr double left_at_most = 0.5;

/// Macro-steps, of about the same size, for which a check holds.
constexpr int checked_for = 8;
constexpr double about_the_same = 1.5;

}  // namespace

InnerPoints::InnerPoints(OwnSubsystems& own, const RankLayout& layout, const PassedWay& way,
                         const SettingsList& settings)
    : own_(own), layout_(layout), way_(way), checks_(own.count()), accepted_(checks_) {
  constexpr double tolerances = 10.0;
  for (const std::size_t g : layout.global()) {
    noise_.push_back(tolerances * settings[g].tolerance.relative);
  }
}

void InnerPoints::commit() { accepted_ = checks_; }

void InnerPoints::forget() {
  std::ranges::fill(checks_, Check{});
  commit();
}

void InnerPoints::io(Archive& archive) {
  for (std::size_t k = 0; k < checks_.size(); ++k) {
    archive.within(k, [&] { CONCORD_MEMBERS(archive, accepted_[k]); });
  }
}

InnerPoints::Parts InnerPoints::parts_of(Rows& rows, IndexRange range) {
  Parts parts;
  for (std::size_t i = 0; i < count; ++i) {
    parts[i] = std::span(rows[i]).subspan(range.first, range.size());
  }
  return parts;
}

double InnerPoints::time_of(const MacroStep& step, std::size_t i) {
  return i == last ? step.end : step.begin + share[i] * step.size();
}

void InnerPoints::find(const PassedStep& passed, Past past, Rows& inputs, Rows& outputs,
                       std::vector<Sample>& doubts) {
  std::ranges::fill(doubts, Sample{});
  for (std::size_t k = 0; k < own_.count(); ++k) {
    const Parts in = parts_of(inputs, layout_.inputs_of(k));
    const Parts out = parts_of(outputs, layout_.outputs_of(k));
    const bool noted = !way_.pieces(k).empty();
    if (noted) take_inputs(k, passed.step, in);
    const IndexRange range = layout_.outputs_of(k);
    const auto own_doubts = std::span(doubts).subspan(range.first, range.size());
    const bool integrates = layout_.states_of(k).size() > 0;
    const bool known =
        noted && ((integrates && look(k, passed, in, out, own_doubts)) ||
                  ((!integrates || past == Past::unknown) && go_again(k, passed, out)));
    for (std::size_t i = 0; i < count && !known; ++i) {
      std::ranges::fill(out[i], Sample{std::numeric_limits<double>::quiet_NaN(), 0.0});
    }
  }
}

void InnerPoints::take_inputs(std::size_t k, const MacroStep& step, const Parts& inputs) const {
  const auto pieces = way_.pieces(k);
  std::size_t p = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double t = time_of(step, i);
    while (p + 1 < pieces.size() && pieces[p + 1].step.begin < t) ++p;
    const double tau = pieces.size() == 1 ? share[i] * step.size() : t - pieces[p].step.begin;
    std::ranges::transform(pieces[p].inputs, inputs[i].begin(),
                           [tau](const Polynomial& input) { return Sample{input(tau)}; });
  }
}

/// Of a subsystem with states. Where slopes cease to tell it becomes another one within the
/// macro-step, as one that stiffens, of which its ends know nothing, either; whether they do is
/// asked now and then.
bool InnerPoints::look(std::size_t k, const PassedStep& passed, const Parts& inputs,
                       const Parts& outputs, std::span<Sample> doubts) {
  Check& check = checks_[k] = accepted_[k];
  const double h = passed.step.size();
  const bool long_ago = check.rest == 0;
  const bool due = long_ago || std::max(h, check.h) > about_the_same * std::min(h, check.h);
  const bool told = check.by_slopes;
  check = due ? Check{0.0, checked_for, true, h} : Check{check.left, check.rest - 1, told, check.h};
  const bool tells = check.by_slopes && by_slopes(k, passed, inputs, outputs, doubts);
  check.by_slopes = due ? tells : told;
  return tells || ((told || long_ago) && go_again(k, passed, outputs));
}

/// Whether that has found them.
bool InnerPoints::by_slopes(std::size_t k, const PassedStep& passed, const Parts& inputs,
                            const Parts& outputs, std::span<Sample> doubts) {
  const MacroStep& step = passed.step;
  const auto pieces = way_.pieces(k);
  const std::size_t states = layout_.states_of(k).size();
  if (pieces.size() != 1 || states == 0 || !own_[k].description().capabilities.state_outputs) {
    return false;
  }
  for (std::size_t i = 0; i < count && x_[i].size() != states; ++i) {
    x_[i].resize(states);
    f_[i].resize(states);
  }
  std::ranges::copy(pieces[0].states, x_[0].begin());
  std::ranges::copy(own_[k].states(), x_[last].begin());
  bool found = false;
  const auto thrown = own_.asking(k, [&] {
    if (!slope(k, step, 0, inputs) || !slope(k, step, last, inputs)) return;
    put_cubic(step.size());
    if (!slope(k, step, 1, inputs) || !read(k, step, 1, inputs, doubts)) return;
    const Check& check = checks_[k];
    found = check.rest < checked_for ? bend(k, step.size()) : collocate(k, step, inputs);
    found = found && read_all(k, passed, inputs, outputs);
    for (std::size_t o = 0; o < doubts.size(); ++o) {
      doubts[o].value = check.left * std::abs(doubts[o].value - outputs[1][o].value);
    }
  });
  if (!found || thrown) std::ranges::fill(doubts, Sample{});
  return found && !thrown;
}

bool InnerPoints::slope(std::size_t k, const MacroStep& step, std::size_t i, const Parts& inputs) {
  const StatePoint point{time_of(step, i), step.size(), x_[i], inputs[i]};
  return own_[k].derivatives_at(point, f_[i]) == Outcome::ok;
}

/// Through values and slopes at the ends.
void InnerPoints::put_cubic(double h) {
  for (std::size_t i = 1; i < last; ++i) {
    const double s = share[i], r = 1.0 - s;
    for (std::size_t n = 0; n < x_[i].size(); ++n) {
      x_[i][n] = r * r * (1.0 + 2.0 * s) * x_[0][n] + s * s * (1.0 + 2.0 * r) * x_[last][n] +
                 h * s * r * (r * f_[0][n] - s * f_[last][n]);
    }
  }
}

/// What a cubic misses is little beside what moves it; else slopes are noise, as of stiff states.
bool InnerPoints::is_small(double change, std::size_t k, std::size_t state, double h) const {
  constexpr double little = 0.05;
  const double slope = std::max(std::abs(f_[0][state]), std::abs(f_[last][state]));
  const double begin = x_[0][state], end = x_[last][state];
  return change <= little * std::max(h * slope, std::abs(end - begin)) +
                       noise_[k] * std::max(std::abs(begin), std::abs(end));
}

/// What one slope within, less the cubic's there, adds at both points.
double InnerPoints::bent(std::size_t n, double h) const {
  const double s = share[1], r = 1.0 - s;
  const double both = s * s * r * r / (2.0 * s * r * (r - s));
  const double cubic = 6.0 * s * r * (x_[last][n] - x_[0][n]) +
                       h * (r * (1.0 - 3.0 * s) * f_[0][n] + s * (3.0 * s - 2.0) * f_[last][n]);
  return both * (h * f_[1][n] - cubic);
}

bool InnerPoints::bend(std::size_t k, double h) {
  for (std::size_t n = 0; n < x_[1].size(); ++n) {
    const double by = bent(n, h);
    if (!is_small(std::abs(by), k, n, h)) return false;
    x_[1][n] += by;
    x_[2][n] += by;
  }
  return true;
}

/// By two slopes within: whether they leave little at the end. What they add beside one is what the
/// one may be wrong by.
bool InnerPoints::collocate(std::size_t k, const MacroStep& step, const Parts& inputs) {
  if (!slope(k, step, 2, inputs)) return false;
  double worst = 0.0;
  for (std::size_t n = 0; n < x_[0].size(); ++n) {
    const auto reached = [&](std::size_t i) {
      double sum = 0.0;
      for (std::size_t j = 0; j < count; ++j) sum += collocation[i][j] * f_[j][n];
      return x_[0][n] + step.size() * sum;
    };
    const double by_one = bent(n, step.size());
    double changed = 0.0, beside = 0.0;
    double size = std::max(std::abs(x_[0][n]), std::abs(x_[last][n]));
    for (std::size_t i = 1; i < last; ++i) {
      const double x = reached(i);
      changed = std::max(changed, std::abs(x - x_[i][n]));
      beside = std::max(beside, std::abs(x - x_[i][n] - by_one));
      size = std::max(size, std::abs(x));
      x_[i][n] = x;
    }
    const double rounding = noise_[k] * size;
    const double left = std::abs(reached(last) - x_[last][n]) - rounding;
    if (!(left <= left_at_most * changed) || !is_small(changed, k, n, step.size())) return false;
    worst = std::max(worst, changed > 0.0 ? left / changed : 0.0);
    worst = std::max(worst, changed > rounding ? beside / changed : 0.0);
  }
  checks_[k].left = worst;
  return true;
}

bool InnerPoints::read(std::size_t k, const MacroStep& step, std::size_t i, const Parts& inputs,
                       std::span<Sample> outputs) {
  StatePoint point{time_of(step, i), step.size(), x_[i], inputs[i]};
  point.wanted = Wanted::values;
  return own_[k].outputs_at(point, outputs) == Outcome::ok;
}

/// At the ends outputs are as they were, but for inputs that reach them directly and have jumped
/// since.
bool InnerPoints::read_all(std::size_t k, const PassedStep& passed, const Parts& inputs,
                           const Parts& outputs) {
  const bool jumps = !own_[k].description().feedthrough.empty();
  copy_ends(k, passed, outputs);
  for (std::size_t i = jumps ? 0 : 1; i < (jumps ? count : last); ++i) {
    if (!read(k, passed.step, i, inputs, outputs[i])) return false;
  }
  return true;
}

void InnerPoints::copy_ends(std::size_t k, const PassedStep& passed, const Parts& outputs) const {
  const IndexRange out = layout_.outputs_of(k);
  std::ranges::copy(passed.begin.subspan(out.first, out.size()), outputs[0].begin());
  std::ranges::copy(passed.end.subspan(out.first, out.size()), outputs[last].begin());
}

/// From point to point; at the ends outputs are as they were.
bool InnerPoints::go_again(std::size_t k, const PassedStep& passed, const Parts& outputs) {
  if (!own_[k].retraces()) return false;
  copy_ends(k, passed, outputs);
  const auto pieces = way_.pieces(k);
  std::size_t p = 0;
  passed_ = pieces[0].states;
  double now = pieces[0].step.begin;
  for (std::size_t i = 1; i < last; ++i) {
    const double t = time_of(passed.step, i);
    while (p + 1 < pieces.size() && pieces[p + 1].step.begin < t) {
      passed_ = pieces[++p].states;
      now = pieces[p].step.begin;
    }
    moved_.resize(pieces[p].inputs.size());
    std::ranges::transform(pieces[p].inputs, moved_.begin(), [&](const Polynomial& input) {
      return input.moved_to(now - pieces[p].step.begin);
    });
    Outcome outcome = Outcome::failed;
    const auto thrown = own_.asking(k, [&] {
      outcome = own_[k].retrace({now, t}, moved_, passed_, outputs[i]);
    });
    if (thrown || outcome == Outcome::failed) return false;
    now = t;
  }
  return true;
}

}  // namespace concord
