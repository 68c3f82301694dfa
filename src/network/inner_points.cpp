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

InnerPoints::InnerPoints(OwnSubsystems& own, OwnBatches& batches, const RankLayout& layout,
                         const PassedWay& way, const SettingsList& settings)
    : own_(own),
      batches_(batches),
      layout_(layout),
      way_(way),
      checks_(own.count()),
      accepted_(own.count()),
      evaluations_(own.count()),
      seen_(own.count()) {
  constexpr double tolerances = 10.0;
  for (const std::size_t g : layout.global()) {
    noise_.push_back(tolerances * settings[g].tolerance.relative);
  }
  for (std::size_t k = 0; k < own.count(); ++k) {
    const SubsystemDescription& description = own[k].description();
    offers_.push_back(layout.states_of(k).size() > 0 && description.capabilities.state_outputs);
    jumps_.push_back(description.feedthrough.empty() ? 0 : 1);
  }
}

void InnerPoints::commit() { accepted_ = checks_; }

void InnerPoints::forget() { std::ranges::fill(accepted_, Check{}); }

void InnerPoints::io(Archive& archive) {
  for (std::size_t k = 0; k < checks_.size(); ++k) {
    archive.within(k, [&] { CONCORD_MEMBERS(archive, accepted_[k]); });
  }
  CONCORD_MEMBERS_PER(archive, Per::subsystem, evaluations_);
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

void InnerPoints::find(const PassedStep& passed, Past past, Sizes chosen, Rows& inputs,
                       Rows& outputs, std::vector<Sample>& doubts) {
  std::ranges::fill(doubts, Sample{});
  std::ranges::fill(seen_, Seen::not_yet);
  chosen_ = chosen;
  checks_ = accepted_;
  for (const SubsystemBatch& batch : batches_.all()) {
    look({batch.members, batch.steps.get()}, passed, inputs, outputs, doubts);
  }
  for (std::size_t k = 0; k < own_.count(); ++k) {
    if (seen_[k] == Seen::found) continue;
    const bool noted = way_.count(k) > 0, integrates = layout_.states_of(k).size() > 0;
    if (noted && seen_[k] == Seen::not_yet) {
      take_inputs(k, passed.step, parts_of(inputs, layout_.inputs_of(k)));
      if (integrates) look({{&k, 1}, nullptr}, passed, inputs, outputs, doubts);
    }
    if (seen_[k] == Seen::found) continue;
    const Parts out = parts_of(outputs, layout_.outputs_of(k));
    const bool again = !integrates || past == Past::unknown || seen_[k] == Seen::to_follow;
    const bool known = noted && again && go_again(k, passed, out);
    for (std::size_t i = 0; i < count && !known; ++i) {
      std::ranges::fill(out[i], Sample{std::numeric_limits<double>::quiet_NaN(), 0.0});
    }
  }
}

void InnerPoints::take_inputs(std::size_t k, const MacroStep& step, const Parts& inputs) const {
  const std::size_t pieces = way_.count(k);
  std::size_t p = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double t = time_of(step, i);
    while (p + 1 < pieces && way_.piece(k, p + 1).step.begin < t) ++p;
    const PassedWay::Piece piece = way_.piece(k, p);
    const double tau = pieces == 1 ? share[i] * step.size() : t - piece.step.begin;
    std::ranges::transform(piece.inputs, inputs[i].begin(),
                           [tau](const Polynomial& input) { return Sample{input(tau)}; });
  }
}

/// Of subsystems with states. Where slopes cease to tell they become others within the macro-step,
/// as one that stiffens, of which its ends know nothing, either; whether they do is asked now and
/// then.
void InnerPoints::look(const Group& group, const PassedStep& passed, Rows& inputs, Rows& outputs,
                       std::span<Sample> doubts) {
  lanes_.assign(group.members.size(), Lane{});
  for (auto* rows : {&x_, &f_})
    for (auto& row : *rows) row.resize(layout_.states_of(group.members[0]).size() * lanes_.size());
  if (group.batch != nullptr && !take_way(group, passed.step, inputs)) return;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    if (lanes_[lane].takes_part) begin_check(lanes_[lane], group.members[lane], passed.step.size());
  }
  const auto thrown = own_.asking(group.members[0], [&] {
    if (group.batch == nullptr) take_ends(group.members[0], passed.step, inputs);
    by_slopes(group, passed, inputs, outputs, doubts);
  });
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const auto [takes_part, due, long_ago, told, still_tells] = lanes_[lane];
    if (!takes_part) continue;
    const std::size_t k = group.members[lane];
    const bool tells = still_tells && !thrown;
    checks_[k].by_slopes = due ? tells : told;
    seen_[k] = tells ? Seen::found : told || long_ago ? Seen::to_follow : Seen::nothing;
  }
}

/// The ways of a batch, as far as they are of this macro-step.
bool InnerPoints::take_way(const Group& group, const MacroStep& step, Rows& inputs) {
  const AdvanceBatch::Way way = group.batch->way();
  if (way.step.begin != step.begin || way.step.end != step.end) return false;
  bool any = false;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const std::size_t k = group.members[lane];
    lanes_[lane].takes_part = way.members[lane] != 0 && offers_[k] != 0 && way_.count(k) == 1;
    any = any || lanes_[lane].takes_part;
  }
  std::ranges::copy(way.begin, x_[0].begin());
  std::ranges::copy(way.end, x_[last].begin());
  std::ranges::copy(way.begin_slopes, f_[0].begin());
  std::ranges::copy(way.end_slopes, f_[last].begin());
  for (std::size_t i = 0; i < count && any; ++i) {
    const auto u = group.batch->inputs_at(share[i] * step.size());
    u_[i].assign(u.begin(), u.end());
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      const IndexRange in = layout_.inputs_of(group.members[lane]);
      for (std::size_t j = in.first; j < in.last && lanes_[lane].takes_part; ++j) {
        inputs[i][j] = {u[(j - in.first) * lanes_.size() + lane]};
      }
    }
  }
  return any;
}

/// Of one that is asked itself.
void InnerPoints::take_ends(std::size_t k, const MacroStep& step, Rows& inputs) {
  Lane& lane = lanes_[0];
  lane.tells = lane.tells && way_.count(k) == 1 && offers_[k] != 0;
  if (!lane.tells) return;
  std::ranges::copy(way_.piece(k, 0).states, x_[0].begin());
  std::ranges::copy(own_[k].states(), x_[last].begin());
  for (const std::size_t i : {std::size_t{0}, last}) {
    if (lane.tells) slope({{&k, 1}, nullptr}, step, i, inputs, [](const Lane&) { return true; });
  }
}

/// Slopes that tell of a macro-step tell of one that an event clips as well.
void InnerPoints::begin_check(Lane& lane, std::size_t k, double h) {
  Check& check = checks_[k];
  lane.told = check.by_slopes;
  lane.long_ago = check.rest == 0;
  const bool shrinks = check.h > about_the_same * h, grows = h > about_the_same * check.h;
  lane.due = lane.long_ago || grows || (shrinks && !(lane.told && chosen_ == Sizes::given));
  check = lane.due ? Check{0.0, checked_for, true, h}
                   : Check{check.left, check.rest - 1, lane.told, check.h};
  lane.tells = check.by_slopes;
}

/// The ends are known.
void InnerPoints::by_slopes(const Group& group, const PassedStep& passed, Rows& inputs,
                            Rows& outputs, std::span<Sample> doubts) {
  const auto all = [](const Lane&) { return true; };
  const auto due = [](const Lane& lane) { return lane.due; };
  const auto tells = [](const Lane& lane) { return lane.tells; };
  if (std::ranges::none_of(lanes_, tells)) return;
  const double h = passed.step.size();
  put_cubic(h);
  slope(group, passed.step, 1, inputs, all);
  read(group, passed.step, 1, inputs, all);
  std::swap(outputs_, first_outputs_);
  if (std::ranges::any_of(lanes_, [&](const Lane& lane) { return lane.tells && lane.due; })) {
    slope(group, passed.step, 2, inputs, due);
  }
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const std::size_t k = group.members[lane];
    if (!lanes_[lane].tells) continue;
    lanes_[lane].tells = lanes_[lane].due ? collocate(k, lane, h) : bend(k, lane, h);
  }
  read_all(group, passed, inputs, outputs);
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const std::size_t k = group.members[lane], first = layout_.outputs_of(k).first;
    const double left = checks_[k].left * (h / checks_[k].h);
    for (std::size_t o = first; o < layout_.outputs_of(k).last && lanes_[lane].tells; ++o) {
      const double on_cubic = first_outputs_[(o - first) * lanes_.size() + lane];
      doubts[o].value = left * std::abs(on_cubic - outputs[1][o].value);
    }
  }
}

/// f at the i-th point.
template <class Concerned>
void InnerPoints::slope(const Group& group, const MacroStep& step, std::size_t i, Rows& inputs,
                        const Concerned& concerned) {
  const double t = time_of(step, i);
  const std::size_t k = group.members[0];
  if (group.batch == nullptr) {
    const Parts in = parts_of(inputs, layout_.inputs_of(k));
    const bool asked = lanes_[0].tells && concerned(lanes_[0]);
    const bool good =
        !asked || own_[k].derivatives_at({t, step.size(), x_[i], in[i]}, f_[i]) == Outcome::ok;
    lanes_[0].tells = lanes_[0].tells && good;
    return;
  }
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    evaluations_[group.members[lane]] += lanes_[lane].tells && concerned(lanes_[lane]) ? 1 : 0;
  }
  drop_unknown(group.batch->derivatives(t, x_[i], u_[i], f_[i]), f_[i], concerned);
}

/// outputs_ = g at the i-th point.
template <class Concerned>
void InnerPoints::read(const Group& group, const MacroStep& step, std::size_t i, Rows& inputs,
                       const Concerned& concerned) {
  const double t = time_of(step, i);
  const std::size_t k = group.members[0];
  outputs_.resize(layout_.outputs_of(k).size() * lanes_.size());
  if (group.batch != nullptr) {
    drop_unknown(group.batch->outputs(t, x_[i], u_[i], outputs_), outputs_, concerned);
    return;
  }
  if (!lanes_[0].tells || !concerned(lanes_[0])) return;
  StatePoint point{t, step.size(), x_[i], parts_of(inputs, layout_.inputs_of(k))[i]};
  point.wanted = Wanted::values;
  read_.resize(outputs_.size());
  lanes_[0].tells = own_[k].outputs_at(point, read_) == Outcome::ok;
  std::ranges::transform(read_, outputs_.begin(), &Sample::value);
}

/// Lanes whose rows are no numbers tell nothing.
template <class Concerned>
void InnerPoints::drop_unknown(bool good, std::span<const double> rows,
                               const Concerned& concerned) {
  const std::size_t n = lanes_.size();
  for (std::size_t at = 0; at < rows.size(); ++at) {
    Lane& lane = lanes_[at % n];
    if (!(good && std::isfinite(rows[at])) && concerned(lane)) lane.tells = false;
  }
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
bool InnerPoints::is_small(double change, std::size_t k, std::size_t place, double h) const {
  constexpr double little = 0.05;
  const double slope = std::max(std::abs(f_[0][place]), std::abs(f_[last][place]));
  const double begin = x_[0][place], end = x_[last][place];
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

bool InnerPoints::bend(std::size_t k, std::size_t lane, double h) {
  for (std::size_t n = lane; n < x_[1].size(); n += lanes_.size()) {
    const double by = bent(n, h);
    if (!is_small(std::abs(by), k, n, h)) return false;
    x_[1][n] += by;
    x_[2][n] += by;
  }
  return true;
}

/// By two slopes within: whether they leave little at the end. What they add beside one is what the
/// one may be wrong by.
bool InnerPoints::collocate(std::size_t k, std::size_t lane, double h) {
  double worst = 0.0;
  for (std::size_t n = lane; n < x_[0].size(); n += lanes_.size()) {
    const auto reached = [&](std::size_t i) {
      double sum = 0.0;
      for (std::size_t j = 0; j < count; ++j) sum += collocation[i][j] * f_[j][n];
      return x_[0][n] + h * sum;
    };
    const double by_one = bent(n, h);
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
    if (!(left <= left_at_most * changed) || !is_small(changed, k, n, h)) return false;
    worst = std::max(worst, changed > 0.0 ? left / changed : 0.0);
    worst = std::max(worst, changed > rounding ? beside / changed : 0.0);
  }
  checks_[k].left = worst;
  return true;
}

/// At the ends outputs are as they were, but for inputs that reach them directly and have jumped
/// since.
void InnerPoints::read_all(const Group& group, const PassedStep& passed, Rows& inputs,
                           Rows& outputs) {
  bool jump = false;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const std::size_t k = group.members[lane];
    if (!lanes_[lane].tells) continue;
    copy_ends(k, passed, parts_of(outputs, layout_.outputs_of(k)));
    jump = jump || jumps_[k] != 0;
  }
  for (std::size_t i = jump ? 0 : 1; i < (jump ? count : last); ++i) {
    const bool at_end = i == 0 || i == last;
    const auto is_read = [&](const Lane& lane) {
      return !at_end || jumps_[group.members[static_cast<std::size_t>(&lane - lanes_.data())]] != 0;
    };
    read(group, passed.step, i, inputs, is_read);
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      const IndexRange out = layout_.outputs_of(group.members[lane]);
      if (!lanes_[lane].tells || !is_read(lanes_[lane])) continue;
      for (std::size_t o = out.first; o < out.last; ++o) {
        outputs[i][o] = {outputs_[(o - out.first) * lanes_.size() + lane]};
      }
    }
  }
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
  std::size_t p = 0;
  PassedWay::Piece piece = way_.piece(k, 0);
  passed_.assign(piece.states.begin(), piece.states.end());
  double now = piece.step.begin;
  for (std::size_t i = 1; i < last; ++i) {
    const double t = time_of(passed.step, i);
    while (p + 1 < way_.count(k) && way_.piece(k, p + 1).step.begin < t) {
      piece = way_.piece(k, ++p);
      passed_.assign(piece.states.begin(), piece.states.end());
      now = piece.step.begin;
    }
    moved_.resize(piece.inputs.size());
    std::ranges::transform(piece.inputs, moved_.begin(), [&](const Polynomial& input) {
      return input.moved_to(now - piece.step.begin);
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
