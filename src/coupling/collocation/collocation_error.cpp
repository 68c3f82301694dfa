#include "coupling/collocation/collocation_error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "support/agreement.hpp"

namespace concord {
namespace {

/// Of so many macro-steps without step control one is looked at.
constexpr int one_in = 4;

/// Newton's method leaves about the square of what a sweep has moved: a share of the error above
/// which that counts.
constexpr double square = 0.1;

constexpr double least_decay = 1e-3, most_decay = 0.95;

/// In tolerances: errors below this make no macro-step shorter, whatever part of them is rounding.
constexpr double shortens = 0.05;

}  // namespace

CollocationError::CollocationError(RankNetwork& subsystems, const Method& method)
    : subsystems_(subsystems),
      controls_(method.estimate == ErrorEstimate::predictor),
      state_errors_(subsystems.n_states()),
      output_errors_(subsystems.n_outputs()),
      seen_errors_(subsystems.n_states()),
      moved_(subsystems.n_states()),
      state_noise_(subsystems.n_states()),
      output_noise_(subsystems.n_outputs()),
      rounding_(subsystems.n_own()),
      no_inputs_(subsystems.connected_inputs().size()),
      states_(subsystems, method.adapt_tolerance, 1),
      outputs_(subsystems, method.adapt_tolerance, 1),
      x_(subsystems.n_states()) {}

void CollocationError::take_nodes(const CollocationNodes& nodes, NodeSystem& finer) {
  finer_.emplace(subsystems_, nodes,
                 CollocationNodes(nodes.family(), static_cast<int>(nodes.count()) + 1), finer);
  states_.set_order(nodes.order());
  outputs_.set_order(nodes.order());
}

/// What sweeps have left out is another thing in each macro-step.
bool CollocationError::find(const NodeSystem& system, const MacroStep& step, bool ended_early) {
  looked_ = due() || ended_early;
  const Eigen::VectorXd ends = system.end_states();
  std::ranges::copy(ends, x_.begin());
  if (looked_ && !look(system, step)) return false;
  const double ratio = std::pow(step.size() / seen_for_, finer_->nodes().order() - 1);
  std::ranges::transform(seen_errors_, state_errors_.begin(),
                         [ratio](double error) { return ratio * error; });
  return true;
}

/// Rounding of equations goes the way that errors go: what it makes of one state becomes others',
/// in other subsystems as well.
void CollocationError::find_noise() {
  NodeSystem& system = finer_->system();
  system.find_rounding(rounding_);
  if (!system.carry(rounding_, no_inputs_)) return;
  const Eigen::VectorXd ends = system.end_states();
  for (const std::size_t k : subsystems_.all()) {
    const IndexRange states = subsystems_.states_of(k);
    double* const noise = state_noise_.data() + states.first;
    for (std::size_t s = 0; s < states.size(); ++s) {
      noise[s] = std::abs(rounding_[k].x[static_cast<Eigen::Index>(s)]) +
                 ErrorNorm::rounding(ends[static_cast<Eigen::Index>(states.first + s)]);
    }
    system.block(k).put_outputs_by_magnitudes(
        noise, output_noise_.data() + subsystems_.outputs_of(k).first);
  }
}

/// And the largest, of all ranks, at the end and within. Collective.
void CollocationError::find_errors() {
  std::ranges::transform(x_, finer_->system().end_states(), seen_errors_.begin(), std::minus<>());
  std::array largest{0.0, 0.0};
  for (std::size_t i = 0; i < x_.size(); ++i) {
    const double size = states_.size(i, x_[i]);
    if (!(size > 0.0)) continue;
    largest[0] = std::max(largest[0], std::abs(seen_errors_[i]) / size);
    largest[1] = std::max(largest[1], moved_[i] / size);
  }
  agree_on_largest(subsystems_.comm(), largest);
  at_end_ = largest[0];
  within_ = largest[1];
}

bool CollocationError::look(const NodeSystem& system, const MacroStep& step) {
  seen_for_ = step.size();
  const NodeSystem::Sweep first = finer_->sweep(system);
  if (first.failed) return false;
  const NodeSystem& better = finer_->system();
  std::ranges::copy(better.moved(), moved_.begin());
  find_errors();
  if (first.moved * first.moved > square * at_end_) {
    if (finer_->sweep_again().failed) return false;
    find_errors();
  }
  for (const std::size_t k : subsystems_.all()) {
    better.block(k).put_outputs_by(seen_errors_.data() + subsystems_.states_of(k).first,
                                   output_errors_.data() + subsystems_.outputs_of(k).first);
  }
  return true;
}

void CollocationError::compare_inputs(std::span<const Polynomial> inputs, double h,
                                      std::span<double> missed) const {
  const NodeSystem& better = finer_->system();
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    missed[j] = 0.0;
    for (std::size_t i = 0; i < better.count(); ++i) {
      const double given =
          inputs[connected[j]](finer_->nodes().shares()[static_cast<Eigen::Index>(i)] * h);
      missed[j] = std::max(missed[j], std::abs(given - better.input(j, i)));
    }
  }
}

std::span<const double> CollocationError::of_states(std::size_t k) const {
  const IndexRange range = subsystems_.states_of(k);
  return std::span(state_errors_).subspan(range.first, range.size());
}

/// One node more leaves decay^2 of the error; what is seen is the difference.
double CollocationError::norm(double h, std::span<const Sample> outputs) {
  std::ranges::fill(state_noise_, 0.0);
  std::ranges::fill(output_noise_, 0.0);
  const double seen = in_tolerances(h, outputs);
  const double all = 1.0 / (1.0 - decay() * decay());
  unmasked_ = all * seen;
  if (!(unmasked_ > shortens)) return unmasked_;
  find_noise();
  return all * in_tolerances(h, outputs);
}

double CollocationError::decay() const {
  if (!(within_ > 0.0)) return least_decay;
  const auto k = static_cast<int>(finer_->nodes().count()) - 1;
  const double powers = finer_->nodes().order() - 2 - k;
  return std::clamp(std::pow(at_end_ / within_, 1.0 / powers), least_decay, most_decay);
}

double CollocationError::in_tolerances(double h, std::span<const Sample> outputs) {
  return std::max(states_(h, {state_errors_, moved_}, x_, state_noise_),
                  outputs_(h, output_errors_, outputs, output_noise_));
}

void CollocationError::commit(const CommunicationPoint& point) {
  rest_ = looked_ ? one_in - 1 : rest_ - 1;
  states_.commit(x_);
  outputs_.commit(point);
}

void CollocationError::restart(const CommunicationPoint& point) {
  rest_ = 0;
  subsystems_.gather_states(x_);
  states_.restart(x_);
  outputs_.restart(point);
}

void CollocationError::io(Archive& archive) {
  CONCORD_MEMBERS(archive, looked_, rest_, seen_for_);
  CONCORD_MEMBERS_PER(archive, Per::state, seen_errors_);
  archive.as("states", [&] { states_.io(archive); });
  archive.as("outputs", [&] { outputs_.io(archive); });
}

}  // namespace concord
