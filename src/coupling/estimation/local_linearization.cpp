#include "coupling/estimation/local_linearization.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "coupling/problem/row_major.hpp"
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
bool same_row(std::span<const double> now, std::span<const double> before,
              const Eigen::VectorXd& at) {
  double effects = 0.0;
  for (std::size_t j = 0; j < now.size(); ++j) {
    effects += std::abs(now[j] * at[static_cast<Eigen::Index>(j)]);
  }
  for (std::size_t j = 0; j < now.size(); ++j) {
    const double change = std::abs(now[j] - before[j]);
    const double entry = std::max(std::abs(now[j]), std::abs(before[j]));
    const double effect = change * std::abs(at[static_cast<Eigen::Index>(j)]);
    if (!(change <= same_entry * entry || (effect > 0.0 && effect <= same_effect * effects))) {
      return false;
    }
  }
  return true;
}

bool same(const std::vector<double>& now, const std::vector<double>& before,
          const Eigen::VectorXd& at) {
  const auto width = static_cast<std::size_t>(at.size());
  for (std::size_t first = 0; first < now.size(); first += width) {
    if (!same_row(std::span(now).subspan(first, width), std::span(before).subspan(first, width),
                  at)) {
      return false;
    }
  }
  return true;
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

std::size_t hash_of(std::initializer_list<const Eigen::MatrixXd*> matrices) {
  std::size_t result = 0;
  for (const Eigen::MatrixXd* matrix : matrices) {
    const auto size = static_cast<std::size_t>(matrix->size()) * sizeof(double);
    const std::string_view bytes(reinterpret_cast<const char*>(matrix->data()), size);
    result = 31 * result + std::hash<std::string_view>()(bytes);
  }
  return result;
}

}  // namespace

LocalLinearization::LocalLinearization(Subsystem& subsystem)
    : subsystem_(subsystem),
      knows_derivatives_(subsystem.description().capabilities.state_derivatives) {
  const auto& description = subsystem.description();
  const auto n = static_cast<Eigen::Index>(description.states.size());
  const auto m = static_cast<Eigen::Index>(description.inputs.size());
  const auto p = static_cast<Eigen::Index>(description.outputs.size());
  Linearization nothing;
  for (const auto& [part, size] :
       {std::pair(&Linearization::f_x, n * n), std::pair(&Linearization::f_u, n * m),
        std::pair(&Linearization::g_x, p * n), std::pair(&Linearization::g_u, p * m)})
    (nothing.*part).resize(static_cast<std::size_t>(size));
  x_.setZero(n);
  f_.setZero(n);
  u_.setZero(m);
  made_ = made_of(std::move(nothing));
}

/// One of the last few that were made, if it is the same: subsystems of one type come one behind
/// the other.
std::shared_ptr<const LocalLinearization::Made> LocalLinearization::made_of(
    Linearization&& at_point) const {
  static std::array<std::weak_ptr<const Made>, 8> last_few;
  static std::size_t next = 0;
  at_point.f.clear();
  at_point.g.clear();
  const auto& description = subsystem_.description();
  const auto n = static_cast<Eigen::Index>(description.states.size());
  const auto m = static_cast<Eigen::Index>(description.inputs.size());
  const auto p = static_cast<Eigen::Index>(description.outputs.size());
  for (const auto& one : last_few)
    if (auto known = one.lock(); known && known->a.rows() == n && known->b.cols() == m &&
                                 known->c.rows() == p && has_same_bits(known->at_point, at_point))
      return known;
  auto made = std::make_shared<Made>();
  made->a = row_major(at_point.f_x, n, n);
  made->b = row_major(at_point.f_u, n, m);
  made->c = row_major(at_point.g_x, p, n);
  made->d = row_major(at_point.g_u, p, m);
  made->hash = hash_of({&made->a, &made->b, &made->c, &made->d});
  made->at_point = std::move(at_point);
  last_few[next++ % last_few.size()] = made;
  return made;
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
  ScratchLinearization scratch;
  Linearization& now = scratch.all();
  if (subsystem_.linearize(inputs, now) != Outcome::ok) {
    outcome = Outcome::failed;
    return false;
  }
  const Linearization& before = made_->at_point;
  if (known_ && same(now.f_x, before.f_x, x_) && same(now.f_u, before.f_u, u_) &&
      same(now.g_x, before.g_x, x_) && same(now.g_u, before.g_u, u_)) {
    if (now.f_t != before.f_t || now.g_t != before.g_t) {
      Linearization moved = before;
      moved.f_t = now.f_t;
      moved.g_t = now.g_t;
      made_ = made_of(std::move(moved));
    }
    return false;
  }
  made_ = made_of(Linearization(now));
  known_ = true;
  return true;
}

bool LocalLinearization::is_as(const LocalLinearization& other) const {
  const auto same = [](const Eigen::MatrixXd& one, const Eigen::MatrixXd& two) {
    return one.rows() == two.rows() && one.cols() == two.cols() && one == two;
  };
  return made_ == other.made_ ||
         (same(a(), other.a()) && same(b(), other.b()) && same(c(), other.c()) &&
          same(d(), other.d()) && made_->at_point.g_late == other.made_->at_point.g_late &&
          made_->at_point.late == other.made_->at_point.late);
}

void LocalLinearization::io(Archive& archive) {
  Linearization at = made_->at_point;
  const bool changed = archive.changes([&] {
    CONCORD_MEMBERS(archive, known_, holds_everywhere_, at.f_x, at.f_u, at.g_x, at.g_u, at.f_t,
                    at.g_t, at.parameters, at.g_late, at.late);
  });
  if (changed) {
    made_ = made_of(std::move(at));
  }
}

/// f at t_N; without it what the linearisation alone says.
void LocalLinearization::find_derivatives(std::span<const Sample> inputs, Outcome& outcome) {
  if (!knows_derivatives_) {
    f_.noalias() = a() * x_;
    f_.noalias() += b() * u_;
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
  const Eigen::VectorXd f = made_->a.cwiseAbs() * x + made_->b.cwiseAbs() * u;
  const Eigen::VectorXd values = made_->c.cwiseAbs() * x + made_->d.cwiseAbs() * u;
  const Eigen::VectorXd slopes = made_->c.cwiseAbs() * f + made_->d.cwiseAbs() * slope;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    outputs[o] = {values[static_cast<Eigen::Index>(o)], slopes[static_cast<Eigen::Index>(o)]};
  }
  if (curvatures) {
    Eigen::VectorXd curvature(u_.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      curvature[static_cast<Eigen::Index>(i)] = std::abs(inputs[i].curvature);
    }
    const Eigen::VectorXd bend =
        made_->c.cwiseAbs() * (made_->a.cwiseAbs() * f + made_->b.cwiseAbs() * slope) +
        made_->d.cwiseAbs() * curvature;
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      outputs[o].curvature = bend[static_cast<Eigen::Index>(o)];
    }
  }
}

}  // namespace concord
