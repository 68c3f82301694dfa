#include "coupling/estimation/local_linearization.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

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

}  // namespace

LocalLinearization::LocalLinearization(Subsystem& subsystem)
    : subsystem_(subsystem),
      knows_derivatives_(subsystem.description().capabilities.state_derivatives) {
  const auto& description = subsystem.description();
  const auto n = static_cast<Eigen::Index>(description.states.size());
  const auto m = static_cast<Eigen::Index>(description.inputs.size());
  const auto p = static_cast<Eigen::Index>(description.outputs.size());
  a_.resize(n, n);
  b_.resize(n, m);
  c_.resize(p, n);
  d_.resize(p, m);
  x_.setZero(n);
  f_.setZero(n);
  u_.setZero(m);
}

Eigen::Map<const Eigen::VectorXd> LocalLinearization::f_t() const { return vector(at_point_.f_t); }
Eigen::Map<const Eigen::VectorXd> LocalLinearization::g_t() const { return vector(at_point_.g_t); }

bool LocalLinearization::renew(std::span<const Sample> inputs, Outcome& outcome) {
  x_ = vector(subsystem_.states());
  copy_values(inputs, u_);
  bool changed = false;
  if (known_ && subsystem_.keeps(at_point_, inputs)) {
    holds_everywhere_ = true;
  } else {
    const bool first = !known_;
    changed = linearize(inputs, outcome);
    holds_everywhere_ = first && known_ && subsystem_.keeps(at_point_, inputs);
  }
  find_derivatives(inputs, outcome);
  return changed;
}

bool LocalLinearization::linearize(std::span<const Sample> inputs, Outcome& outcome) {
  ScratchLinearization scratch;
  Linearization& now = known_ ? scratch.all() : at_point_;
  if (subsystem_.linearize(inputs, now) != Outcome::ok) {
    outcome = Outcome::failed;
    return false;
  }
  if (known_ && same(now.f_x, at_point_.f_x, x_) && same(now.f_u, at_point_.f_u, u_) &&
      same(now.g_x, at_point_.g_x, x_) && same(now.g_u, at_point_.g_u, u_)) {
    std::swap(at_point_.f_t, now.f_t);
    std::swap(at_point_.g_t, now.g_t);
    return false;
  }
  if (known_) {
    std::swap(at_point_, now);
  }
  copy_matrices();
  known_ = true;
  return true;
}

void LocalLinearization::copy_matrices() {
  a_ = row_major(at_point_.f_x, a_.rows(), a_.cols());
  b_ = row_major(at_point_.f_u, b_.rows(), b_.cols());
  c_ = row_major(at_point_.g_x, c_.rows(), c_.cols());
  d_ = row_major(at_point_.g_u, d_.rows(), d_.cols());
}

bool LocalLinearization::is_as(const LocalLinearization& other) const {
  const auto same = [](const Eigen::MatrixXd& one, const Eigen::MatrixXd& two) {
    return one.rows() == two.rows() && one.cols() == two.cols() && one == two;
  };
  return same(a_, other.a_) && same(b_, other.b_) && same(c_, other.c_) && same(d_, other.d_) &&
         at_point_.g_late == other.at_point_.g_late && at_point_.late == other.at_point_.late;
}

std::size_t LocalLinearization::hash() const {
  std::size_t result = 0;
  for (const Eigen::MatrixXd* matrix : {&a_, &b_, &c_, &d_}) {
    const auto size = static_cast<std::size_t>(matrix->size()) * sizeof(double);
    const std::string_view bytes(reinterpret_cast<const char*>(matrix->data()), size);
    result = 31 * result + std::hash<std::string_view>()(bytes);
  }
  return result;
}

void LocalLinearization::io(Archive& archive) {
  Linearization& at = at_point_;
  const bool changed = archive.changes([&] {
    CONCORD_MEMBERS(archive, known_, holds_everywhere_, at.f_x, at.f_u, at.g_x, at.g_u, at.f, at.g,
                    at.f_t, at.g_t, at.parameters, at.g_late, at.late);
  });
  if (changed && known_) {
    copy_matrices();
  }
}

/// f at t_N; without it what the linearisation alone says.
void LocalLinearization::find_derivatives(std::span<const Sample> inputs, Outcome& outcome) {
  if (!knows_derivatives_) {
    f_.noalias() = a_ * x_;
    f_.noalias() += b_ * u_;
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
  const Eigen::VectorXd f = a_.cwiseAbs() * x + b_.cwiseAbs() * u;
  const Eigen::VectorXd values = c_.cwiseAbs() * x + d_.cwiseAbs() * u;
  const Eigen::VectorXd slopes = c_.cwiseAbs() * f + d_.cwiseAbs() * slope;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    outputs[o] = {values[static_cast<Eigen::Index>(o)], slopes[static_cast<Eigen::Index>(o)]};
  }
  if (curvatures) {
    Eigen::VectorXd curvature(u_.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      curvature[static_cast<Eigen::Index>(i)] = std::abs(inputs[i].curvature);
    }
    const Eigen::VectorXd bend =
        c_.cwiseAbs() * (a_.cwiseAbs() * f + b_.cwiseAbs() * slope) + d_.cwiseAbs() * curvature;
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      outputs[o].curvature = bend[static_cast<Eigen::Index>(o)];
    }
  }
}

}  // namespace concord
