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
  if (known_for_ > 0.0) {
    continue_polynomials(system, step, point);
  } else {
    go_along_slopes(system, step, point);
  }
}

/// What polynomials through values at the nodes and at the begin of the macro-step, the last row,
/// are at its nodes.
Eigen::MatrixXd CollocationGuess::continuation(const MacroStep& step) const {
  const Eigen::Index count = nodes_.count();
  const double offset = begin_ == step.begin ? 0.0 : 1.0;
  Eigen::VectorXd shares(count + 1);
  shares << nodes_.shares(), offset;
  const bool twice = shares[count] == shares[count - 1];
  Eigen::MatrixXd continued = Eigen::MatrixXd::Zero(count + 1, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const double s = offset + nodes_.shares()[i] * step.size() / known_for_;
    if (twice) {
      continued.col(i).head(count) = nodes_.at(s);
    } else {
      continued.col(i) = lagrange_weights(shares, s);
    }
  }
  return continued;
}

void CollocationGuess::continue_polynomials(NodeSystem& system, const MacroStep& step,
                                            const CommunicationPoint& point) {
  const Eigen::Index count = nodes_.count();
  const Eigen::MatrixXd continued = continuation(step);
  for (const std::size_t k : subsystems_.all()) {
    Eigen::MatrixXd slopes(slopes_[k].rows(), count + 1);
    slopes << slopes_[k], slopes_at(k, point);
    system.set_slopes(k, slopes * continued);
  }
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    Eigen::VectorXd values(count + 1);
    values << Eigen::Map<const Eigen::VectorXd>(
        inputs_.data() + j * static_cast<std::size_t>(count), count),
        point.inputs[connected[j]].value;
    system.set_inputs(j, continued.transpose() * values);
  }
}

/// f there, which outputs' slopes have asked for already. A subsystem that cannot tell it stays
/// where it is.
Eigen::VectorXd CollocationGuess::slopes_at(std::size_t k, const CommunicationPoint& point) {
  const IndexRange in = subsystems_.inputs_of(k);
  Eigen::VectorXd f = Eigen::VectorXd::Zero(slopes_[k].rows());
  Outcome outcome = Outcome::failed;
  subsystems_.asking(k, [&] {
    outcome =
        subsystems_.own(k).state_derivatives(std::span(point.inputs).subspan(in.first, in.size()),
                                             {f.data(), static_cast<std::size_t>(f.size())});
  });
  return outcome == Outcome::ok ? f : Eigen::VectorXd::Zero(f.size());
}

void CollocationGuess::go_along_slopes(NodeSystem& system, const MacroStep& step,
                                       const CommunicationPoint& point) {
  const Eigen::VectorXd& shares = nodes_.shares();
  for (const std::size_t k : subsystems_.all()) {
    system.set_slopes(k, slopes_at(k, point).replicate(1, shares.size()));
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
