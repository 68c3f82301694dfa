#include "coupling/estimation/local_linearization.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

#include "subsystem/scratch_linearization.hpp"

namespace concord {
namespace {

/// Derivatives that differ by less, relative to each, are the same: rounding stays below it.
constexpr double same_entry = 1e-10;

/// The same for what an entry makes of its variable, relative to all of the row's terms.
constexpr double same_effect = 1e-14;

Eigen::Map<const Eigen::VectorXd> vector(std::span<const double> values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

void copy_values(std::span<const Sample> samples, Eigen::VectorXd& values) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    values[static_cast<Eigen::Index>(i)] = samples[i].value;
  }
}

/// Whether a row of derivatives is the same at the variables' values `at`: entry by entry, so that
/// large ones hide none.
template <class ValueAt>
bool same_row(std::span<const double> now, std::span<const double> before, const ValueAt& at) {
  double effects = 0.0;
  for (std::size_t j = 0; j < now.size(); ++j) {
    effects += std::abs(now[j] * at(j));
  }
  for (std::size_t j = 0; j < now.size(); ++j) {
    const double change = std::abs(now[j] - before[j]);
    const double entry = std::max(std::abs(now[j]), std::abs(before[j]));
    const double effect = change * std::abs(at(j));
    if (!(change <= same_entry * entry || (effect > 0.0 && effect <= same_effect * effects))) {
      return false;
    }
  }
  return true;
}

bool same(const std::vector<double>& now, const std::vector<double>& before,
          const Eigen::VectorXd& at) {
  const auto width = static_cast<std::size_t>(at.size());
  const auto value_at = [&](std::size_t j) { return at[static_cast<Eigen::Index>(j)]; };
  for (std::size_t first = 0; first < now.size(); first += width) {
    if (!same_row(std::span(now).subspan(first, width), std::span(before).subspan(first, width),
                  value_at)) {
      return false;
    }
  }
  return true;
}

/// The same of entries.
bool same(const std::vector<double>& now, const std::vector<double>& before,
          const RowPattern& pattern, const Eigen::VectorXd& at) {
  for (std::size_t row = 0; row < pattern.rows(); ++row) {
    const auto first = static_cast<std::size_t>(pattern.begins[row]);
    const std::size_t count = static_cast<std::size_t>(pattern.begins[row + 1]) - first;
    const auto value_at = [&](std::size_t j) { return at[pattern.columns[first + j]]; };
    if (!same_row(std::span(now).subspan(first, count), std::span(before).subspan(first, count),
                  value_at)) {
      return false;
    }
  }
  return true;
}

/// From how many states on, and up to which share of f_x, entries are kept. Of fewer states whole
/// matrices cost little, and give the bits that they always gave.
bool is_sparse(const LinearPattern& pattern) {
  constexpr std::size_t fewest_states = 256, least_sparsity = 10;
  const std::size_t n = pattern.f_x.rows();
  return n >= fewest_states && least_sparsity * pattern.f_x.columns.size() <= n * n;
}

bool same_bits(const std::vector<double>& one, const std::vector<double>& two) {
  return one.size() == two.size() &&
         (one.empty() || std::memcmp(one.data(), two.data(), one.size() * sizeof(double)) == 0);
}

bool has_same_bits(const Linearization& one, const Linearization& two) {
  return same_bits(one.f_x, two.f_x) && same_bits(one.f_u, two.f_u) &&
         same_bits(one.g_x, two.g_x) && same_bits(one.g_u, two.g_u) &&
         same_bits(one.f_t, two.f_t) && same_bits(one.g_t, two.g_t) &&
         same_bits(one.g_late, two.g_late) && one.late == two.late &&
         one.parameters == two.parameters;
}

}  // namespace

LocalLinearization::LocalLinearization(Subsystem& subsystem, bool sparse)
    : subsystem_(subsystem),
      sparse_(sparse ? dynamic_cast<LinearizesSparsely*>(&subsystem) : nullptr),
      knows_derivatives_(subsystem.description().capabilities.state_derivatives) {
  const auto& description = subsystem.description();
  const auto n = static_cast<Eigen::Index>(description.states.size());
  const auto m = static_cast<Eigen::Index>(description.inputs.size());
  x_.setZero(n);
  f_.setZero(n);
  u_.setZero(m);
  static const auto nothing = std::make_shared<Made>();
  made_ = nothing;
}

/// Who has shared looks for one of the last few that is the same: subsystems of one type come one
/// behind the other. Who has not, as its linearisation is another one in each macro-step, changes
/// its own. What `now` had is undefined.
void LocalLinearization::take(Linearization& now) {
  static std::array<std::weak_ptr<Made>, 8> last_few;
  static std::size_t next = 0;
  now.f.clear();
  now.g.clear();
  const Eigen::Index n = x_.size(), m = u_.size();
  const auto p = static_cast<Eigen::Index>(subsystem_.description().outputs.size());
  if (made_.use_count() > 1) {
    for (const auto& one : last_few) {
      auto known = one.lock();
      if (known && known->pattern == pattern_ && known->a.rows() == n && known->b.cols() == m &&
          known->c.rows() == p && has_same_bits(known->at_point, now)) {
        made_ = std::move(known);
        return;
      }
    }
    last_few[next++ % last_few.size()] = made_ = std::make_shared<Made>();
  }
  std::swap(made_->at_point, now);
  made_->pattern = pattern_;
  const Linearization& here = made_->at_point;
  if (pattern_) {
    made_->a.take(here.f_x, pattern_->f_x, n);
    made_->b.take(here.f_u, pattern_->f_u, m);
    made_->c.take(here.g_x, pattern_->g_x, n);
    made_->d.take(here.g_u, pattern_->g_u, m);
  } else {
    made_->a.take(here.f_x, n, n);
    made_->b.take(here.f_u, n, m);
    made_->c.take(here.g_x, p, n);
    made_->d.take(here.g_u, p, m);
  }
}

std::size_t LocalLinearization::hash() const {
  std::size_t result = 0;
  for (const StateSpaceMatrix* part : {&a(), &b(), &c(), &d()}) {
    const std::span<const double> values = part->values();
    const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    result = 31 * result + std::hash<std::string_view>()(bytes);
  }
  return result;
}

Eigen::Map<const Eigen::VectorXd> LocalLinearization::f_t() const {
  return vector(made_->at_point.f_t);
}
Eigen::Map<const Eigen::VectorXd> LocalLinearization::g_t() const {
  return vector(made_->at_point.g_t);
}

bool LocalLinearization::renew(std::span<const Sample> inputs, Outcome& outcome) {
  x_ = vector(subsystem_.states());
  copy_values(inputs, u_);
  bool changed = false;
  if (known_ && subsystem_.keeps(made_->at_point, inputs)) {
    holds_everywhere_ = true;
  } else {
    const bool first = !known_;
    changed = linearize(inputs, outcome);
    holds_everywhere_ = first && known_ && subsystem_.keeps(made_->at_point, inputs);
  }
  find_derivatives(inputs, outcome);
  return changed;
}

bool LocalLinearization::linearize(std::span<const Sample> inputs, Outcome& outcome) {
  take_pattern();
  ScratchLinearization scratch;
  Linearization& now = scratch.all();
  if (ask(inputs, now) != Outcome::ok) {
    outcome = Outcome::failed;
    return false;
  }
  if (known_ && same_as_known(now)) {
    move_along_time(now);
    return false;
  }
  take(now);
  known_ = true;
  return true;
}

/// Derivatives by the time alone are others.
void LocalLinearization::move_along_time(Linearization& now) {
  const Linearization& before = made_->at_point;
  if (now.f_t == before.f_t && now.g_t == before.g_t) return;
  if (made_.use_count() == 1) {
    std::swap(made_->at_point.f_t, now.f_t);
    std::swap(made_->at_point.g_t, now.g_t);
    return;
  }
  Linearization moved = before;
  moved.f_t = now.f_t;
  moved.g_t = now.g_t;
  take(moved);
}

/// Another one begins anew.
void LocalLinearization::take_pattern() {
  if (sparse_ == nullptr) return;
  auto now = sparse_->linear_pattern();
  if (now && !is_sparse(*now)) now = nullptr;
  if (now == pattern_) return;
  known_ = known_ && now && pattern_ && *now == *pattern_;
  pattern_ = std::move(now);
}

Outcome LocalLinearization::ask(std::span<const Sample> inputs, Linearization& result) {
  return pattern_ ? sparse_->linearize_entries(inputs, *pattern_, result)
                  : subsystem_.linearize(inputs, result);
}

bool LocalLinearization::same_as_known(const Linearization& now) const {
  const Linearization& before = made_->at_point;
  if (!pattern_)
    return same(now.f_x, before.f_x, x_) && same(now.f_u, before.f_u, u_) &&
           same(now.g_x, before.g_x, x_) && same(now.g_u, before.g_u, u_);
  return same(now.f_x, before.f_x, pattern_->f_x, x_) &&
         same(now.f_u, before.f_u, pattern_->f_u, u_) &&
         same(now.g_x, before.g_x, pattern_->g_x, x_) &&
         same(now.g_u, before.g_u, pattern_->g_u, u_);
}

bool LocalLinearization::is_as(const LocalLinearization& other) const {
  return made_ == other.made_ ||
         (a() == other.a() && b() == other.b() && c() == other.c() && d() == other.d() &&
          made_->at_point.g_late == other.made_->at_point.g_late &&
          made_->at_point.late == other.made_->at_point.late);
}

void LocalLinearization::io(Archive& archive) {
  take_pattern();
  Linearization at = made_->at_point;
  const bool changed = archive.changes([&] {
    CONCORD_MEMBERS(archive, known_, holds_everywhere_, at.f_x, at.f_u, at.g_x, at.g_u, at.f_t,
                    at.g_t, at.parameters, at.g_late, at.late);
  });
  const auto n = static_cast<std::size_t>(x_.size());
  const std::size_t expected = pattern_ ? pattern_->f_x.columns.size() : n * n;
  known_ = known_ && at.f_x.size() == expected;  // whole or entries, as it is kept now
  if (changed && known_) {
    take(at);
  }
}

/// f at t_N; without it what the linearisation alone says.
void LocalLinearization::find_derivatives(std::span<const Sample> inputs, Outcome& outcome) {
  if (!knows_derivatives_) {
    a().with([&](const auto& a) { f_.noalias() = a * x_; });
    b().with([&](const auto& b) { f_.noalias() += b * u_; });
  } else if (f_.size() > 0 &&
             subsystem_.state_derivatives(
                 inputs, {f_.data(), static_cast<std::size_t>(f_.size())}) != Outcome::ok) {
    outcome = Outcome::failed;
  }
}

void LocalLinearization::output_terms(std::span<const Sample> inputs, bool curvatures,
                                      std::span<Sample> outputs) const {
  if (!known_) {
    return;
  }
  const Eigen::VectorXd x = vector(subsystem_.states()).cwiseAbs();
  Eigen::VectorXd u(u_.size()), slope(u_.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    u[static_cast<Eigen::Index>(i)] = std::abs(inputs[i].value);
    slope[static_cast<Eigen::Index>(i)] = std::abs(inputs[i].derivative);
  }
  made_->a.with([&](const auto& a) {
    using Matrix = std::decay_t<decltype(a)>;
    const Matrix &b = made_->b.as<Matrix>(), &c = made_->c.as<Matrix>(), &d = made_->d.as<Matrix>();
    const Eigen::VectorXd f = a.cwiseAbs() * x + b.cwiseAbs() * u;
    const Eigen::VectorXd values = c.cwiseAbs() * x + d.cwiseAbs() * u;
    const Eigen::VectorXd slopes = c.cwiseAbs() * f + d.cwiseAbs() * slope;
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      outputs[o] = {values[static_cast<Eigen::Index>(o)], slopes[static_cast<Eigen::Index>(o)]};
    }
    if (!curvatures) return;
    Eigen::VectorXd curvature(u_.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      curvature[static_cast<Eigen::Index>(i)] = std::abs(inputs[i].curvature);
    }
    const Eigen::VectorXd moved = a.cwiseAbs() * f + b.cwiseAbs() * slope;
    const Eigen::VectorXd bend = c.cwiseAbs() * moved + d.cwiseAbs() * curvature;
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      outputs[o].curvature = bend[static_cast<Eigen::Index>(o)];
    }
  });
}

}  // namespace concord
