#include "coupling/estimation/end_gains.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "signal/end_curvature.hpp"
#include "signal/sample_parts.hpp"

namespace concord {
namespace {

/// Of each row, in these units of columns.
Eigen::VectorXd row_sizes(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& units) {
  Eigen::VectorXd result(matrix.rows());
  for (Eigen::Index o = 0; o < matrix.rows(); ++o) result[o] = matrix.row(o).cwiseAbs().dot(units);
  return result;
}

Eigen::VectorXd row_sizes(const Entries& matrix, const Eigen::VectorXd& units) {
  return matrix.cwiseAbs() * units;
}

/// Macro-steps that differ by less than this fraction are of one size.
constexpr double same_step = 1e-12;

/// (h lambda)^2 from which an output's second derivative says more of its integrator's error than
/// of the output: quintic inputs leave a 58th of h^2 times that inside the macro-step.
constexpr double stiff_from = 400.0;

/// Degree of the inputs that end with so many parts.
constexpr int degree(int parts) { return 2 * parts - 1; }

}  // namespace

EndGains::EndGains(std::vector<std::size_t> connected, std::vector<bool> afresh,
                   std::size_t outputs, Response response, int parts)
    : parts_(parts),
      connected_(std::move(connected)),
      afresh_(std::move(afresh)),
      known_(nothing_yet(response, parts, outputs, connected_.size())),
      begin_values_(connected_.size()) {
  afresh_.resize(connected_.size(), false);
  const auto n = static_cast<Eigen::Index>(connected_.size());
  begin_slopes_.setZero(n);
  if (parts_ > 2) {
    begin_curvatures_.setZero(n);
  }
}

/// The same for all of a type, one behind the other.
std::shared_ptr<EndGains::Known> EndGains::nothing_yet(Response kind, int parts,
                                                       std::size_t outputs, std::size_t inputs) {
  static std::weak_ptr<Known> last;
  auto known = last.lock();
  const bool fits = known && known->is_nothing && known->kind == kind && known->parts == parts &&
                    known->stiff.size() == outputs &&
                    known->gain.cols() == parts * static_cast<Eigen::Index>(inputs);
  if (!fits) {
    known = std::make_shared<Known>(kind, parts, outputs, inputs);
    last = known;
  }
  return known;
}

EndGains::Known::Known(Response of_kind, int of_parts, std::size_t outputs, std::size_t inputs)
    : kind(of_kind), parts(of_parts), response(kind, degree(parts)), stiff(outputs, 0) {
  gain.setZero(parts * static_cast<Eigen::Index>(outputs),
               parts * static_cast<Eigen::Index>(inputs));
}

void EndGains::begin_afresh(std::span<const char> afresh) {
  const auto same = [](char flag, bool known) { return (flag != 0) == known; };
  if (!std::equal(afresh.begin(), afresh.end(), afresh_.begin(), same)) {
    std::transform(afresh.begin(), afresh.end(), afresh_.begin(),
                   [](char flag) { return flag != 0; });
    forget();
  }
}

bool EndGains::serves(double h, bool slopes_known) const {
  return std::abs(h - h_) <= same_step * h && slopes_known == slopes_known_;
}

void EndGains::io(Archive& archive, const LocalLinearization& subsystem, bool changed) {
  changed =
      archive.changes([&] { CONCORD_MEMBERS(archive, h_, slopes_known_, afresh_); }) || changed;
  if (changed && h_ > 0.0) {
    compute(subsystem, h_, slopes_known_);
  }
}

/// x(h) for a change of each connected input by the shape that it has.
Eigen::MatrixXd EndGains::states_for(const Shape& joined, const Shape& afresh) {
  Eigen::MatrixXd result = known_->response.to_inputs(joined);
  if (std::find(afresh_.begin(), afresh_.end(), true) == afresh_.end()) {
    return result;
  }
  const Eigen::MatrixXd to_afresh = known_->response.to_inputs(afresh);
  for (std::size_t i = 0; i < afresh_.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    if (afresh_[i]) {
      result.col(column) = to_afresh.col(column);
    }
  }
  return result;
}

const EndGains::Shapes& EndGains::shapes(bool afresh) const {
  static constexpr Shapes line = {{{1}, {-1, 1}}};
  static constexpr Shapes parabola = {{{1}, {-1, 1}, {0.5, -1, 0.5}}};
  static constexpr Shapes cubic = {{{0, 0, 3, -2}, {0, 0, -1, 1}}};
  static constexpr Shapes first_cubic = {{{0, 2, -1}, {0, -1, 1}}};
  static constexpr Shapes quintic = {
      {{0, 0, 0, 10, -15, 6}, {0, 0, 0, -4, 7, -3}, {0, 0, 0, 0.5, -1, 0.5}}};
  static constexpr Shapes first_quintic = {{{0, 3, -3, 1}, {0, -2, 3, -1}, {0, 0.5, -1, 0.5}}};
  if (parts_ == 2) {
    return afresh ? line : slopes_known_ ? cubic : first_cubic;
  }
  return afresh ? parabola : slopes_known_ ? quintic : first_quintic;
}

/// What outputs make of the inputs' polynomials before the end, at s = 1 - late/h.
void EndGains::add_late(const LocalLinearization& subsystem) {
  const std::span<const double> g = subsystem.g_late();
  const double s = 1.0 - subsystem.late() / h_;
  if (g.empty() || s <= 0.0) {
    return;
  }
  const auto weights = part_weights(h_);
  const Eigen::Index inputs = subsystem.d().cols();
  for (std::size_t c = 0; c < connected_.size(); ++c) {
    for (int of = 0; of < parts_; ++of) {
      const auto part = static_cast<std::size_t>(of);
      const Sample shape = Polynomial{shapes(afresh_[c])[part]}.at(s);
      const Eigen::Index column = static_cast<Eigen::Index>(c) * parts_ + of;
      for (Eigen::Index o = 0; o < subsystem.d().rows(); ++o) {
        const double gain = g[static_cast<std::size_t>(o * inputs) + connected_[c]];
        for (int to = 0; to < parts_; ++to) {
          const auto row = static_cast<std::size_t>(to);
          known_->gain(parts_ * o + to, column) +=
              gain * weights[part] * (shape.*sample_parts[row]) / weights[row];
        }
      }
    }
  }
}

/// With x' = A x + B u and u = 1, u' = 1 or u'' = 1 alone at the end, the rows of y, y', y'' are
/// C x + D u, C x' + D u', C x'' + D u''.
void EndGains::compute(const LocalLinearization& subsystem, double h, bool slopes_known) {
  h_ = h;
  slopes_known_ = slopes_known;
  if (known_.use_count() > 1 || known_->is_nothing) {
    known_ = std::make_shared<Known>(known_->kind, parts_, known_->stiff.size(), connected_.size());
    known_->is_nothing = false;
  }
  Eigen::MatrixXd b(subsystem.b().rows(), static_cast<Eigen::Index>(connected_.size()));
  Eigen::MatrixXd d(subsystem.d().rows(), b.cols());
  for (Eigen::Index i = 0; i < b.cols(); ++i) {
    const auto input = static_cast<Eigen::Index>(connected_[static_cast<std::size_t>(i)]);
    b.col(i) = subsystem.b().column(input);
    d.col(i) = subsystem.d().column(input);
  }
  subsystem.a().with([&](const auto& a) { known_->response.prepare(a, b, h, leaving()); });
  const auto weights = part_weights(h);
  for (int of = 0; of < parts_; ++of) {
    const auto part = static_cast<std::size_t>(of);
    known_->x[part] = weights[part] * states_for(shapes(false)[part], shapes(true)[part]);
    Eigen::MatrixXd derivative = known_->x[part];
    for (int to = 0; to < parts_; ++to) {
      Eigen::MatrixXd row =
          subsystem.c().with([&](const auto& c) { return Eigen::MatrixXd(c * derivative); });
      if (to == of) {
        row += d;
      }
      for (Eigen::Index o = 0; o < row.rows(); ++o) {
        for (Eigen::Index i = 0; i < b.cols(); ++i) {
          known_->gain(parts_ * o + to, parts_ * i + of) = row(o, i);
        }
      }
      if (to + 1 < parts_) {
        derivative =
            subsystem.a().with([&](const auto& a) { return Eigen::MatrixXd(a * derivative); });
        if (to == of) {
          derivative += b;
        }
      }
    }
  }
  add_late(subsystem);
  if (parts_ > 2) {
    find_stiff_outputs(subsystem);
  }
}

bool EndGains::is_as(const EndGains& other) const {
  return parts_ == other.parts_ && connected_ == other.connected_ && afresh_ == other.afresh_ &&
         h_ == other.h_ && slopes_known_ == other.slopes_known_;
}

void EndGains::compute_once(const LocalLinearization& subsystem, double h, bool slopes_known,
                            Pool& pool) {
  h_ = h;
  slopes_known_ = slopes_known;
  const std::size_t hash = subsystem.hash();
  const auto [first, last] = pool.equal_range(hash);
  const auto alike = std::find_if(first, last, [&](const auto& entry) {
    return is_as(*entry.second.gains) && subsystem.is_as(*entry.second.of);
  });
  if (alike != last) {
    known_ = alike->second.gains->known_;
    return;
  }
  compute(subsystem, h, slopes_known);
  pool.emplace(hash, Pooled{this, &subsystem});
}

/// Those that answer to h^2 A^2 x much more than to x, in units in which no state is large.
void EndGains::find_stiff_outputs(const LocalLinearization& subsystem) {
  const Eigen::VectorXd& units = known_->response.units();
  const auto [straight, bent] = subsystem.a().with([&](const auto& a) {
    using Matrix = std::decay_t<decltype(a)>;
    const Matrix& c = subsystem.c().as<Matrix>();
    const Matrix bent_rows = h_ * h_ * (c * a) * a;
    return std::pair(row_sizes(c, units), row_sizes(bent_rows, units));
  });
  for (Eigen::Index o = 0; o < bent.rows(); ++o) {
    const bool stiff = slopes_known_ && straight[o] > 0.0 && bent[o] > stiff_from * straight[o];
    known_->stiff[static_cast<std::size_t>(o)] = stiff ? 1 : 0;
    if (stiff) {
      known_->gain.row(parts_ * o + 2) =
          EndCurvature::by_value(h_) * known_->gain.row(parts_ * o) +
          EndCurvature::by_slope(h_) * known_->gain.row(parts_ * o + 1);
    }
  }
}

Leaving EndGains::leaving() const {
  if (!slopes_known_) {
    return {};
  }
  return parts_ == 2 ? Leaving{{0, 1, -2, 1}, {}}
                     : Leaving{{0, 1, 0, -6, 8, -3}, {0, 0, 0.5, -1.5, 1.5, -0.5}};
}

void EndGains::begin(std::span<const Sample> inputs) {
  for (std::size_t i = 0; i < connected_.size(); ++i) {
    const Sample& input = inputs[connected_[i]];
    const auto entry = static_cast<Eigen::Index>(i);
    begin_values_[i] = input.value;
    begin_slopes_[entry] = afresh_[i] ? 0.0 : h_ * input.derivative;
    if (parts_ > 2) {
      begin_curvatures_[entry] = afresh_[i] ? 0.0 : h_ * h_ * input.curvature;
    }
  }
}

void EndGains::add_to_states(std::span<const Sample> end, Eigen::VectorXd& xi) const {
  for (std::size_t i = 0; i < connected_.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    const Sample& input = end[connected_[i]];
    xi += known_->x[0].col(column) * (input.value - begin_values_[i]);
    xi += known_->x[1].col(column) * input.derivative;
    if (parts_ > 2) {
      xi += known_->x[2].col(column) * input.curvature;
    }
  }
}

void EndGains::add_to_outputs(std::span<const Sample> end, double sign,
                              std::span<Sample> outputs) const {
  const auto rows = static_cast<std::size_t>(known_->gain.rows());
  const auto parts = static_cast<std::size_t>(parts_);
  const double* gain = known_->gain.data();
  for (std::size_t i = 0; i < connected_.size(); ++i, gain += parts * rows) {
    const Sample& input = end[connected_[i]];
    const std::array<double, 3> change = {sign * (input.value - begin_values_[i]),
                                          sign * input.derivative, sign * input.curvature};
    for (std::size_t row = 0; row < rows; ++row) {
      double sum = gain[row] * change[0];
      for (std::size_t of = 1; of < parts; ++of) {
        sum += gain[of * rows + row] * change[of];
      }
      outputs[row / parts].*sample_parts[row % parts] += sum;
    }
  }
}

void EndGains::add_cancelled(std::span<const Sample> inputs, std::span<Sample> outputs) const {
  for (std::size_t o = 0; h_ > 0.0 && o < outputs.size(); ++o) {
    for (int to = 0; to < parts_; ++to) {
      double sum = 0.0, magnitudes = 0.0;
      for (std::size_t c = 0; c < connected_.size(); ++c) {
        double of_input = 0.0;
        for (int of = 0; of < parts_; ++of) {
          const auto part = sample_parts[static_cast<std::size_t>(of)];
          of_input += at(o, to, c, of) * (inputs[connected_[c]].*part);
        }
        sum += of_input;
        magnitudes += std::abs(of_input);
      }
      outputs[o].*sample_parts[static_cast<std::size_t>(to)] += magnitudes - std::abs(sum);
    }
  }
}

}  // namespace concord
