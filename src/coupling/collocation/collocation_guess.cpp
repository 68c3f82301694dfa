#include "coupling/collocation/collocation_guess.hpp"

#include <algorithm>

namespace concord {

CollocationGuess::CollocationGuess(RankNetwork& subsystems, const CollocationNodes& nodes)
    : subsystems_(subsystems), nodes_(nodes) {
  for (const std::size_t k : subsystems.all()) {
    const auto n = static_cast<Eigen::Index>(subsystems.states_of(k).size());
    slopes_.emplace_back(Eigen::MatrixXd::Zero(n, nodes.count()));
  }
  inputs_.resize(subsystems.connected_inputs().size() * static_cast<std::size_t>(nodes.count()));
}

void CollocationGuess::put_into(NodeSystem& system, const MacroStep& step,
                                const CommunicationPoint& point) {
  if (known_for_ == 0.0) {
    go_along_slopes(system, step, point);
    return;
  }
  const Eigen::Index count = nodes_.count();
  const double offset = begin_ == step.begin ? 0.0 : 1.0;
  Eigen::MatrixXd continued(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    continued.col(i) = nodes_.at(offset + nodes_.shares()[i] * step.size() / known_for_);
  }
  for (const std::size_t k : subsystems_.all()) system.set_slopes(k, slopes_[k] * continued);
  const Eigen::Map<const Eigen::MatrixXd> inputs(
      inputs_.data(), count, static_cast<Eigen::Index>(inputs_.size()) / count);
  for (Eigen::Index j = 0; j < inputs.cols(); ++j) {
    system.set_inputs(static_cast<std::size_t>(j), continued.transpose() * inputs.col(j));
  }
}

/// A subsystem that cannot tell its slopes stays where it is.
void CollocationGuess::go_along_slopes(NodeSystem& system, const MacroStep& step,
                                       const CommunicationPoint& point) {
  const Eigen::VectorXd& shares = nodes_.shares();
  std::vector<double> f;
  for (const std::size_t k : subsystems_.all()) {
    const IndexRange in = subsystems_.inputs_of(k);
    f.assign(subsystems_.states_of(k).size(), 0.0);
    Outcome outcome = Outcome::failed;
    subsystems_.asking(k, [&] {
      outcome = subsystems_.own(k).state_derivatives(
          std::span(point.inputs).subspan(in.first, in.size()), f);
    });
    if (outcome == Outcome::failed) std::ranges::fill(f, 0.0);
    const Eigen::Map<const Eigen::VectorXd> slopes(f.data(), static_cast<Eigen::Index>(f.size()));
    system.set_slopes(k, slopes.replicate(1, shares.size()));
  }
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const Sample& input = point.inputs[connected[j]];
    const double slope = point.slopes_known ? input.derivative : 0.0;
    system.set_inputs(j, (input.value + slope * step.size() * shares.array()).matrix());
  }
}

void CollocationGuess::remember(const NodeSystem& system, const MacroStep& step) {
  begin_ = step.begin;
  known_for_ = step.size();
  const auto count = static_cast<std::size_t>(nodes_.count());
  for (const std::size_t k : subsystems_.all()) slopes_[k] = system.block(k).slopes();
  for (std::size_t j = 0; j < subsystems_.connected_inputs().size(); ++j) {
    const Eigen::VectorXd values = system.inputs(j);
    std::ranges::copy(values, inputs_.begin() + static_cast<std::ptrdiff_t>(j * count));
  }
}

void CollocationGuess::io(Archive& archive) {
  CONCORD_MEMBERS(archive, begin_, known_for_);
  const auto count = static_cast<std::size_t>(nodes_.count());
  const auto& connected = subsystems_.connected_inputs();
  std::size_t j = 0;
  for (const std::size_t k : subsystems_.all()) {
    const std::size_t first = j;
    while (j < connected.size() && connected[j] < subsystems_.inputs_of(k).last) ++j;
    archive.within(k, [&] {
      archive.as("slopes", [&] {
        archive.values(std::span(slopes_[k].data(), static_cast<std::size_t>(slopes_[k].size())));
      });
      archive.as("inputs", [&] {
        archive.values(std::span(inputs_).subspan(first * count, (j - first) * count));
      });
    });
  }
}

}  // namespace concord
