#include "coupling/collocation/collocation_guess.hpp"

#include <algorithm>

namespace concord {

CollocationGuess::CollocationGuess(RankNetwork& subsystems) : subsystems_(subsystems) {
  make_room(0);
}

void CollocationGuess::make_room(std::size_t count) {
  shares_.resize(count);
  slopes_.setZero(static_cast<Eigen::Index>(subsystems_.n_states()),
                  static_cast<Eigen::Index>(count) + 1);
  inputs_.resize(subsystems_.connected_inputs().size() * count);
  values_.resize(count + 1);
}

void CollocationGuess::put_into(NodeSystem& system, const MacroStep& step,
                                const CommunicationPoint& point) {
  if (known_for_ > 0.0) {
    continue_polynomials(system, step, point);
  } else {
    go_along_slopes(system, step, point);
  }
}

/// What polynomials through values at their nodes and at the begin of the macro-step, the last row,
/// are at its nodes.
Eigen::MatrixXd CollocationGuess::continuation(const MacroStep& step,
                                               const Eigen::VectorXd& nodes) const {
  const auto count = static_cast<Eigen::Index>(shares_.size());
  const double offset = begin_ == step.begin ? 0.0 : 1.0;
  Eigen::VectorXd shares(count + 1);
  shares << Eigen::Map<const Eigen::VectorXd>(shares_.data(), count), offset;
  const bool twice = shares[count] == shares[count - 1];
  Eigen::MatrixXd continued = Eigen::MatrixXd::Zero(count + 1, nodes.size());
  for (Eigen::Index i = 0; i < nodes.size(); ++i) {
    const double s = offset + nodes[i] * step.size() / known_for_;
    if (twice) {
      continued.col(i).head(count) = lagrange_weights(shares.head(count), s);
    } else {
      continued.col(i) = lagrange_weights(shares, s);
    }
  }
  return continued;
}

void CollocationGuess::continue_polynomials(NodeSystem& system, const MacroStep& step,
                                            const CommunicationPoint& point) {
  const Eigen::MatrixXd continued = continuation(step, system.shares());
  find_slopes(point);
  system.set_slopes(slopes_, continued);
  const auto& connected = subsystems_.connected_inputs();
  const std::size_t count = shares_.size();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    std::copy_n(inputs_.data() + j * count, count, values_.begin());
    values_.back() = point.inputs[connected[j]].value;
    system.set_input(j, values_, continued);
  }
}

/// f there, which outputs' slopes have asked for already. A subsystem that cannot tell it stays
/// where it is.
void CollocationGuess::find_slopes(const CommunicationPoint& point) {
  auto here = slopes_.rightCols(1);
  for (const std::size_t k : subsystems_.all()) {
    const IndexRange in = subsystems_.inputs_of(k), states = subsystems_.states_of(k);
    const std::span f(here.data() + states.first, states.size());
    Outcome outcome = Outcome::failed;
    subsystems_.asking(k, [&] {
      outcome = subsystems_.own(k).state_derivatives(
          std::span(point.inputs).subspan(in.first, in.size()), f);
    });
    if (outcome != Outcome::ok) std::ranges::fill(f, 0.0);
  }
}

void CollocationGuess::go_along_slopes(NodeSystem& system, const MacroStep& step,
                                       const CommunicationPoint& point) {
  const Eigen::VectorXd& shares = system.shares();
  find_slopes(point);
  Eigen::MatrixXd from_begin = Eigen::MatrixXd::Zero(slopes_.cols(), shares.size());
  from_begin.bottomRows(1).setOnes();
  system.set_slopes(slopes_, from_begin);
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const Sample& input = point.inputs[connected[j]];
    const double slope = point.slopes_known ? input.derivative : 0.0;
    for (std::size_t i = 0; i < system.count(); ++i)
      system.input(j, i) = input.value + slope * step.size() * shares[static_cast<Eigen::Index>(i)];
  }
}

void CollocationGuess::remember(const NodeSystem& system, const MacroStep& step) {
  begin_ = step.begin;
  known_for_ = step.size();
  const std::size_t count = system.count();
  if (shares_.size() != count) make_room(count);
  std::ranges::copy(system.shares(), shares_.begin());
  slopes_.leftCols(system.slopes().cols()) = system.slopes();
  for (std::size_t j = 0; j < subsystems_.connected_inputs().size(); ++j) {
    for (std::size_t i = 0; i < count; ++i) inputs_[j * count + i] = system.input(j, i);
  }
}

/// Those of one subsystem, node after node.
void CollocationGuess::pass_slopes(std::size_t k, Archive& archive) {
  const IndexRange states = subsystems_.states_of(k);
  auto of_all = slopes_.block(static_cast<Eigen::Index>(states.first), 0,
                              static_cast<Eigen::Index>(states.size()), slopes_.cols() - 1);
  Eigen::MatrixXd own = of_all;
  archive.values(std::span(own.data(), static_cast<std::size_t>(own.size())));
  of_all = own;
}

void CollocationGuess::io(Archive& archive) {
  CONCORD_MEMBERS(archive, begin_, known_for_, shares_);
  const std::size_t count = shares_.size();
  if (archive.reading()) make_room(count);
  const auto& connected = subsystems_.connected_inputs();
  std::size_t j = 0;
  for (const std::size_t k : subsystems_.all()) {
    const std::size_t first = j;
    while (j < connected.size() && connected[j] < subsystems_.inputs_of(k).last) ++j;
    archive.within(k, [&] {
      archive.as("slopes", [&] { pass_slopes(k, archive); });
      archive.as("inputs", [&] {
        archive.values(std::span(inputs_).subspan(first * count, (j - first) * count));
      });
    });
  }
}

}  // namespace concord
