#include "coupling/collocation/node_system.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "signal/smallest_size.hpp"
#include "support/agreement.hpp"

namespace concord {

NodeSystem::NodeSystem(RankNetwork& subsystems, const CollocationNodes& nodes,
                       const SolverOptions& options)
    : subsystems_(subsystems),
      nodes_(nodes),
      constraints_(subsystems),
      system_(subsystems, constraints_, static_cast<int>(nodes.count()), options),
      inputs_(count(), std::vector<Sample>(subsystems.n_inputs())),
      outputs_(count(), std::vector<Sample>(subsystems.n_outputs())),
      to_end_(lagrange_weights(nodes.with_begin(), 1.0)),
      begin_inputs_(subsystems.n_inputs()),
      fed_(subsystems.n_inputs()),
      fed_by_zero_(subsystems.n_inputs()) {
  subsystems.exchange(outputs_[0], fed_by_zero_);
  blocks_.reserve(subsystems.n_own());
  for (const std::size_t k : subsystems.all()) {
    const auto connected = system_.gains().inputs(k);
    std::vector<std::size_t> fed(connected.begin(), connected.end());
    for (std::size_t& input : fed) input -= subsystems.inputs_of(k).first;
    blocks_.emplace_back(subsystems, k, nodes, std::move(fed));
    const IndexRange in = subsystems.inputs_of(k), out = subsystems.outputs_of(k);
    auto& own_inputs = inputs_of_.emplace_back();
    auto& own_outputs = outputs_of_.emplace_back();
    for (std::size_t i = 0; i < count(); ++i) {
      own_inputs.push_back(std::span<const Sample>(inputs_[i]).subspan(in.first, in.size()));
      own_outputs.push_back(std::span(outputs_[i]).subspan(out.first, out.size()));
    }
  }
}

void NodeSystem::begin(const MacroStep& step, const CommunicationPoint& point) {
  h_ = step.size();
  std::ranges::transform(point.inputs, begin_inputs_.begin(), &Sample::value);
  put_begin_inputs();
  for (NodeBlock& block : blocks_) block.begin(step);
}

void NodeSystem::begin_as(const NodeSystem& other) {
  h_ = other.h_;
  begin_inputs_ = other.begin_inputs_;
  put_begin_inputs();
  for (const std::size_t k : subsystems_.all()) blocks_[k].begin_as(other.blocks_[k]);
}

void NodeSystem::put_begin_inputs() {
  for (auto& at_node : inputs_) {
    std::ranges::transform(begin_inputs_, at_node.begin(), [](double u) { return Sample{u}; });
  }
}

void NodeSystem::set_inputs(std::size_t j, const Eigen::VectorXd& values) {
  for (std::size_t i = 0; i < count(); ++i) {
    inputs_[i][subsystems_.connected_inputs()[j]].value = values[static_cast<Eigen::Index>(i)];
  }
}

Eigen::VectorXd NodeSystem::inputs(std::size_t j) const {
  Eigen::VectorXd values(nodes_.count());
  for (std::size_t i = 0; i < count(); ++i) {
    values[static_cast<Eigen::Index>(i)] = inputs_[i][subsystems_.connected_inputs()[j]].value;
  }
  return values;
}

/// Whether all subsystems of all ranks could be evaluated.
template <class Find>
bool NodeSystem::find_defects(const Find& find) {
  bool good = true;
  for (const std::size_t k : subsystems_.all())
    good = find(blocks_[k], NodeBlock::Inputs(inputs_of_[k]), NodeBlock::Outputs(outputs_of_[k])) &&
           good;
  return agree_on_largest(subsystems_.comm(), good ? 0 : 1) == 0;
}

void NodeSystem::assemble() {
  for (NodeBlock& block : blocks_) block.factorize();
  if (assembled_for_ == h_) return;
  assembled_for_ = h_;
  for (const std::size_t k : subsystems_.all()) {
    const Eigen::MatrixXd& gain = blocks_[k].gain();
    for (Eigen::Index r = 0; r < gain.rows(); ++r) {
      for (Eigen::Index c = 0; c < gain.cols(); ++c) {
        system_.gains().at(k, static_cast<std::size_t>(r), static_cast<std::size_t>(c)) =
            gain(r, c);
      }
    }
  }
  system_.assemble();
}

/// Outputs answer to defects before inputs do.
void NodeSystem::fill_right_side() {
  for (const std::size_t k : subsystems_.all()) blocks_[k].correct_outputs(outputs_of_[k]);
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t i = 0; i < count(); ++i) {
    subsystems_.exchange(outputs_[i], fed_);
    for (std::size_t j = 0; j < connected.size(); ++j) {
      system_.right_side()[j * count() + i] =
          fed_[connected[j]].value - inputs_[i][connected[j]].value;
    }
  }
}

bool NodeSystem::solve() {
  const PhaseScope scope(subsystems_.clock(), Phase::solve);
  assemble();
  fill_right_side();
  return system_.solve();
}

/// The largest correction on this rank.
double NodeSystem::correct() {
  const auto& connected = subsystems_.connected_inputs();
  const auto du = system_.solution();
  double largest = 0.0;
  for (std::size_t j = 0; j < connected.size(); ++j) {
    for (std::size_t i = 0; i < count(); ++i) {
      double& u = inputs_[i][connected[j]].value;
      const double by = du[j * count() + i];
      u += by;
      const double size = std::max(std::abs(u), subsystems_.input_sizes()[connected[j]]);
      if (!(by == 0.0)) largest = std::max(largest, std::abs(by) / std::max(size, smallest_size));
      if (!std::isfinite(by)) largest = std::numeric_limits<double>::infinity();
    }
  }
  std::size_t first = 0;
  for (NodeBlock& block : blocks_) {
    const std::size_t own = block.fed_count() * count();
    largest = std::max(largest, block.correct(Eigen::Map<const Eigen::VectorXd>(
                                    du.data() + first, static_cast<Eigen::Index>(own))));
    first += own;
  }
  return largest;
}

NodeSystem::Sweep NodeSystem::sweep(Derivatives derivatives) {
  const bool fresh = derivatives == Derivatives::fresh;
  if (fresh) assembled_for_ = 0.0;
  const bool found = find_defects([&](NodeBlock& block, const auto& inputs, const auto& outputs) {
    return fresh ? block.linearize(inputs, outputs) : block.evaluate(inputs, outputs);
  });
  if (!found || !solve()) return {true, std::numeric_limits<double>::infinity()};
  const double moved = agree_on_largest(subsystems_.comm(), correct());
  return {!std::isfinite(moved), moved};
}

/// Outputs are what they are wrong by, P without the offsets of units.
bool NodeSystem::carry(std::span<CarriedError> errors, std::span<const double> inputs) {
  const auto& connected = subsystems_.connected_inputs();
  for (const std::size_t k : subsystems_.all()) blocks_[k].answer_to(errors[k], outputs_of_[k]);
  for (std::size_t i = 0; i < count(); ++i) {
    subsystems_.exchange(outputs_[i], fed_);
    for (std::size_t j = 0; j < connected.size(); ++j) {
      system_.right_side()[j * count() + i] =
          fed_[connected[j]].value - fed_by_zero_[connected[j]].value + inputs[j];
    }
  }
  const bool solved = system_.solve();
  std::size_t first = 0;
  for (const std::size_t k : subsystems_.all()) {
    const std::size_t own = blocks_[k].fed_count() * count();
    const Eigen::Map<const Eigen::VectorXd> du(system_.solution().data() + first,
                                               static_cast<Eigen::Index>(own));
    errors[k].x = blocks_[k].end_errors(errors[k].x, du);
    first += own;
  }
  return solved;
}

NodeSystem::Sweep NodeSystem::sweep_with(const NodeSystem& other) {
  assembled_for_ = 0.0;
  for (const std::size_t k : subsystems_.all())
    blocks_[k].interpolate_derivatives(other.blocks_[k]);
  return sweep(Derivatives::kept);
}

std::optional<std::string> NodeSystem::failure() const {
  for (const NodeBlock& block : blocks_) {
    if (block.failure()) return block.failure();
  }
  return std::nullopt;
}

void NodeSystem::io(Archive& archive) {
  for (const std::size_t k : subsystems_.all()) {
    archive.within(k, [&] { CONCORD_MEMBERS(archive, blocks_[k]); });
  }
  CONCORD_MEMBERS(archive, system_, assembled_for_);
}

}  // namespace concord
