#include "coupling/collocation/node_system.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "coupling/problem/error_norm.hpp"
#include "signal/smallest_size.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

Eigen::Index signed_index(std::size_t i) { return static_cast<Eigen::Index>(i); }

/// Of some own subsystem's states.
NodeBlock::Rows<double> rows(Eigen::MatrixXd& of_all, const IndexRange& states) {
  return {of_all.data() + states.first, of_all.rows()};
}
NodeBlock::Rows<const double> rows(const Eigen::MatrixXd& of_all, const IndexRange& states) {
  return {of_all.data() + states.first, of_all.rows()};
}

/// result = by weights, a column at a time: there are few of them and many rows, whose bits do not
/// depend on how many others this rank has.
void multiply(const Eigen::MatrixXd& by, const Eigen::MatrixXd& weights, Eigen::MatrixXd& result) {
  result.resize(by.rows(), weights.cols());
  for (Eigen::Index i = 0; i < weights.cols(); ++i) {
    result.col(i) = weights(0, i) * by.col(0);
    for (Eigen::Index j = 1; j < weights.rows(); ++j) result.col(i) += weights(j, i) * by.col(j);
  }
}

}  // namespace

NodeSystem::NodeSystem(RankNetwork& subsystems, const CollocationNodes& nodes,
                       const SolverOptions& options)
    : subsystems_(subsystems),
      shares_(nodes.shares()),
      weights_(nodes.weights()),
      coefficients_(nodes.coefficients()),
      constraints_(subsystems),
      system_(subsystems, constraints_, static_cast<int>(nodes.count()), options),
      begin_(signed_index(subsystems.n_states())),
      slopes_(Eigen::MatrixXd::Zero(begin_.size(), nodes.count())),
      states_(slopes_),
      defects_(slopes_),
      free_(slopes_),
      moved_(slopes_),
      most_moved_(begin_.size()),
      inputs_(static_cast<std::size_t>(nodes.count()), std::vector<Sample>(subsystems.n_inputs())),
      outputs_(inputs_.size(), std::vector<Sample>(subsystems.n_outputs())),
      to_end_(lagrange_weights(nodes.with_begin(), 1.0)),
      begin_inputs_(subsystems.n_inputs()),
      fed_(subsystems.n_inputs()),
      offsets_(subsystems) {
  blocks_.reserve(subsystems.n_own());
  for (const std::size_t k : subsystems.all()) {
    const auto connected = system_.gains().inputs(k);
    std::vector<std::size_t> fed(connected.begin(), connected.end());
    for (std::size_t& input : fed) input -= subsystems.inputs_of(k).first;
    blocks_.emplace_back(subsystems, k, nodes, std::move(fed));
    share_derivatives(k);
  }
  std::vector<char> together(subsystems.n_own(), 0);
  for (const SubsystemBatch& batch : subsystems.batches()) {
    batches_.emplace_back(subsystems, batch);
    for (const std::size_t k : batch.members) together[k] = 1;
  }
  std::ranges::copy_if(subsystems.all(), std::back_inserter(alone_),
                       [&](std::size_t k) { return together[k] == 0; });
}

/// With the neighbour before: subsystems of one type come one behind the other.
void NodeSystem::share_derivatives(std::size_t k) {
  if (k > 0) blocks_[k].share_with(blocks_[k - 1]);
}

/// A subsystem that has failed stays where it was, until it is asked at the nodes.
void NodeSystem::begin(const MacroStep& step, const CommunicationPoint& point) {
  set_step(step);
  std::ranges::transform(point.inputs, begin_inputs_.begin(), &Sample::value);
  put_begin_inputs();
  for (const std::size_t k : subsystems_.all()) {
    subsystems_.asking(k, [&] {
      std::ranges::copy(subsystems_.own(k).states(),
                        begin_.data() + subsystems_.states_of(k).first);
    });
  }
}

void NodeSystem::begin_as(const NodeSystem& other) {
  set_step(other.step_);
  begin_inputs_ = other.begin_inputs_;
  put_begin_inputs();
  begin_ = other.begin_;
}

/// A macro-step that is repeated up to an instant which is better known by now is so nearly the
/// same that its matrices serve, too.
void NodeSystem::set_step(const MacroStep& step) {
  constexpr double nearly_the_same = 1e-4;
  const bool goes_on = step.begin != step_.begin;
  const double change = std::abs(step.size() - solved_for_);
  if (goes_on || change > nearly_the_same * step.size()) solved_for_ = step.size();
  if (step.size() != step_.size()) leaves_usual_ = std::exchange(of_size_, 0) > 1;
  if (goes_on || of_size_ == 0) ++of_size_;
  step_ = step;
  failure_.reset();
  inside_ = step.size() * coefficients_.transpose();
}

void NodeSystem::put_begin_inputs() {
  for (auto& at_node : inputs_) {
    std::ranges::transform(begin_inputs_, at_node.begin(), [](double u) { return Sample{u}; });
  }
}

void NodeSystem::set_slopes(const Eigen::MatrixXd& by, const Eigen::MatrixXd& weights) {
  multiply(by, weights, slopes_);
  find_states();
}

void NodeSystem::set_input(std::size_t j, std::span<const double> by,
                           const Eigen::MatrixXd& weights) {
  for (std::size_t i = 0; i < count(); ++i) {
    double value = 0.0;
    for (std::size_t v = 0; v < by.size(); ++v)
      value += weights(signed_index(v), signed_index(i)) * by[v];
    input(j, i) = value;
  }
}

void NodeSystem::find_states() {
  multiply(slopes_, inside_, states_);
  states_.colwise() += begin_;
}

Eigen::VectorXd NodeSystem::over_step(const Eigen::MatrixXd& slopes,
                                      const Eigen::VectorXd& weights) const {
  Eigen::MatrixXd result;
  multiply(slopes, step_.size() * weights, result);
  return result;
}

double NodeSystem::end_input(std::size_t j) const {
  double end = to_end_[0] * begin_input(j);
  for (std::size_t i = 0; i < count(); ++i) end += to_end_[signed_index(i + 1)] * input(j, i);
  return end;
}

double NodeSystem::time_of(std::size_t node) const {
  const double share = shares_[signed_index(node)];
  return share == 1.0 ? step_.end : step_.begin + share * step_.size();
}

StatePoint NodeSystem::point_at(std::size_t k, std::size_t node) const {
  const IndexRange states = subsystems_.states_of(k), in = subsystems_.inputs_of(k);
  StatePoint point;
  point.t = time_of(node);
  point.h = step_.size();
  point.x = {states_.col(signed_index(node)).data() + states.first, states.size()};
  point.inputs = std::span<const Sample>(inputs_[node]).subspan(in.first, in.size());
  point.wanted = Wanted::values;
  return point;
}

std::span<double> NodeSystem::defects(std::size_t k, std::size_t node) {
  const IndexRange states = subsystems_.states_of(k);
  return {defects_.col(signed_index(node)).data() + states.first, states.size()};
}

std::span<Sample> NodeSystem::outputs(std::size_t k, std::size_t node) {
  const IndexRange out = subsystems_.outputs_of(k);
  return std::span(outputs_[node]).subspan(out.first, out.size());
}

/// A failure there is one of this rank, for which the others must not wait.
template <class Ask>
bool NodeSystem::at_nodes(std::size_t k, Work work, const Ask& ask) {
  bool good = true;
  const WorkScope timed(subsystems_.clock(), k, work);
  Subsystem& subsystem = subsystems_.own(k);
  const auto thrown = subsystems_.asking(k, [&] {
    for (std::size_t node = 0; node < count() && good; ++node) good = ask(subsystem, node);
  });
  if (good && !thrown) return true;
  if (!failure_) {
    failure_ = thrown ? *thrown
                      : "subsystem '" + subsystem.description().name + "': " + subsystem.failure();
  }
  return false;
}

/// False where they are to be asked one by one.
bool NodeSystem::evaluate(NodeBatch& batch) {
  bool good = true;
  const WorkScope timed(subsystems_.clock(), batch.members(), Work::outputs);
  const auto thrown = subsystems_.asking(batch.members().front(), [&] {
    for (std::size_t node = 0; node < count() && good; ++node) {
      const Eigen::Index column = signed_index(node);
      good = batch.evaluate(time_of(node), states_.col(column).data(), inputs_[node],
                            defects_.col(column).data(), outputs_[node]);
    }
  });
  return good && !thrown;
}

bool NodeSystem::find_defects(NodeBatch& batch, Derivatives derivatives) {
  const bool fresh = derivatives == Derivatives::fresh;
  const bool fits = batch.refresh();
  if (fits && (!fresh || batch.knows_derivatives()) && evaluate(batch)) return true;
  bool good = true;
  for (const std::size_t k : batch.members()) good = (fresh ? linearize(k) : evaluate(k)) && good;
  if (fresh && good) batch.note_derivatives();
  return good;
}

bool NodeSystem::evaluate(std::size_t k) {
  return at_nodes(k, Work::outputs, [&](Subsystem& subsystem, std::size_t node) {
    const StatePoint point = point_at(k, node);
    return subsystem.derivatives_at(point, defects(k, node)) == Outcome::ok &&
           subsystem.outputs_at(point, outputs(k, node)) == Outcome::ok;
  });
}

bool NodeSystem::linearize(std::size_t k) {
  const bool good = at_nodes(k, Work::linearize, [&](Subsystem& subsystem, std::size_t node) {
    blocks_[k].recall(signed_index(node), here_);
    if (subsystem.linearize_at(point_at(k, node), here_) != Outcome::ok) return false;
    changed_ = blocks_[k].learn(signed_index(node), here_) || changed_;
    std::ranges::copy(here_.f, defects(k, node).begin());
    std::ranges::transform(here_.g, outputs(k, node).begin(), [](double y) { return Sample{y}; });
    return true;
  });
  share_derivatives(k);
  return good;
}

/// Whether all subsystems of all ranks could be evaluated, and derivatives of any are others.
NodeSystem::Found NodeSystem::find_defects(Derivatives derivatives) {
  bool good = true;
  for (NodeBatch& batch : batches_) good = find_defects(batch, derivatives) && good;
  for (const std::size_t k : alone_)
    good = (derivatives == Derivatives::fresh ? linearize(k) : evaluate(k)) && good;
  defects_ -= slopes_;
  good = good && defects_.allFinite();
  return static_cast<Found>(
      agree_on_largest(subsystems_.comm(), static_cast<int>(!good      ? failed
                                                            : changed_ ? others
                                                                       : same)));
}

void NodeSystem::assemble(bool anew, const InputSystem* scaled_as) {
  if (anew) solved_for_ = step_.size();
  std::array<const NodeBlock*, 8> last_few{};
  std::size_t next = 0;
  for (NodeBlock& block : blocks_) {
    block.factorize(inside_, solved_for_, leaves_usual_, last_few, system_.gains());
    const auto has_same = [&](const NodeBlock* other) {
      return other != nullptr && block.has_factors_of(*other);
    };
    if (std::ranges::none_of(last_few, has_same)) last_few[next++ % last_few.size()] = &block;
  }
  changed_ = false;
  if (!anew && assembled_for_ == solved_for_) return;
  assembled_for_ = solved_for_;
  if (scaled_as != nullptr) {
    system_.assemble_as(*scaled_as);
  } else {
    system_.assemble();
  }
}

/// Outputs answer to defects before inputs do.
void NodeSystem::correct_outputs() {
  for (const std::size_t k : subsystems_.all()) {
    const IndexRange states = subsystems_.states_of(k);
    blocks_[k].solve(rows(std::as_const(defects_), states), rows(free_, states));
  }
  multiply(free_, inside_, moved_);
  for (const std::size_t k : subsystems_.all())
    blocks_[k].add_outputs(rows(std::as_const(moved_), subsystems_.states_of(k)), outputs_);
}

NodeSystem::Sweep NodeSystem::sweep(Derivatives derivatives, const InputSystem* scaled_as) {
  constexpr Sweep nothing{true, std::numeric_limits<double>::infinity()};
  const Found found = find_defects(derivatives);
  if (found == failed) return nothing;
  {
    const PhaseScope scope(subsystems_.clock(), Phase::solve);
    assemble(found == others, scaled_as);
    correct_outputs();
    const auto& connected = subsystems_.connected_inputs();
    for (std::size_t i = 0; i < count(); ++i) {
      subsystems_.exchange(outputs_[i], fed_);
      for (std::size_t j = 0; j < connected.size(); ++j)
        system_.right_side()[j * count() + i] = fed_[connected[j]].value - input(j, i);
    }
    if (!system_.solve()) return nothing;
  }
  double largest[2] = {correct(), 0.0};
  subsystems_.deadline().corrected();
  largest[1] = subsystems_.deadline().is_near() ? 1.0 : 0.0;
  agree_on_largest(subsystems_.comm(), largest);
  return {!std::isfinite(largest[0]), largest[0], largest[1] != 0.0};
}

NodeSystem::Sweep NodeSystem::sweep_with(const NodeSystem& other, const Eigen::MatrixXd& weights) {
  for (const std::size_t k : subsystems_.all()) {
    changed_ = blocks_[k].interpolate(other.blocks_[k], weights) || changed_;
    share_derivatives(k);
  }
  changed_ = changed_ || !system_.is_scaled_as(other.system_);
  return sweep(Derivatives::kept, &other.system_);
}

/// What slopes are corrected by, with those of inputs.
void NodeSystem::answer_to_inputs() {
  std::size_t first = 0;
  for (const std::size_t k : subsystems_.all()) {
    const std::size_t own = blocks_[k].fed_count() * count();
    blocks_[k].answer(system_.solution().subspan(first, own),
                      rows(free_, subsystems_.states_of(k)));
    first += own;
  }
}

void NodeSystem::complete_outputs() {
  std::size_t first = 0;
  for (const NodeBlock& block : blocks_) {
    const std::size_t own = block.fed_count() * count();
    block.answer(system_.solution().subspan(first, own), outputs_);
    first += own;
  }
}

/// The largest correction on this rank.
double NodeSystem::correct() {
  answer_to_inputs();
  return std::max(correct_inputs(), correct_states());
}

double NodeSystem::correct_inputs() {
  const auto& connected = subsystems_.connected_inputs();
  const auto du = system_.solution();
  double largest = 0.0;
  for (std::size_t j = 0; j < connected.size(); ++j) {
    for (std::size_t i = 0; i < count(); ++i) {
      double& u = input(j, i);
      const double by = du[j * count() + i];
      u += by;
      const double size = std::max(std::abs(u), subsystems_.input_sizes()[connected[j]]);
      if (!(by == 0.0)) largest = std::max(largest, std::abs(by) / std::max(size, smallest_size));
      if (!std::isfinite(by)) largest = std::numeric_limits<double>::infinity();
    }
  }
  return largest;
}

/// What it is at the nodes, and how far it gets.
double NodeSystem::size_of(Eigen::Index state) const {
  double most = std::abs(begin_[state]), steepest = 0.0;
  for (Eigen::Index i = 0; i < states_.cols(); ++i) {
    most = std::max(most, std::abs(states_(state, i)));
    steepest = std::max(steepest, std::abs(slopes_(state, i)));
  }
  return most + step_.size() * steepest + smallest_size;
}

double NodeSystem::correct_states() {
  constexpr double of_terms = 1e-15;  // what rounding leaves of what the macro-step adds
  slopes_ += free_;
  find_states();
  multiply(free_, inside_, moved_);
  most_moved_ = moved_.cwiseAbs().rowwise().maxCoeff();
  if (!moved_.allFinite()) return std::numeric_limits<double>::infinity();
  double largest = 0.0;
  for (const std::size_t k : subsystems_.all()) {
    const IndexRange states = subsystems_.states_of(k);
    const Sample* const u = inputs_.back().data() + subsystems_.inputs_of(k).first;
    const double* const x = states_.col(states_.cols() - 1).data() + states.first;
    for (std::size_t s = states.first; s < states.last; ++s) {
      const double by = most_moved_[signed_index(s)], size = size_of(signed_index(s));
      if (by <= largest * size) continue;
      const double terms = blocks_[k].terms_of_slope(signed_index(s - states.first), x, u);
      if (!(by <= of_terms * step_.size() * terms)) largest = by / size;
    }
  }
  return largest;
}

/// Outputs are what they are wrong by, P without the offsets of units.
bool NodeSystem::carry(std::span<CarriedError> errors, std::span<const double> inputs) {
  for (const std::size_t k : subsystems_.all())
    blocks_[k].find_defects(errors[k], rows(defects_, subsystems_.states_of(k)), outputs_);
  correct_outputs();
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t i = 0; i < count(); ++i) {
    subsystems_.exchange(outputs_[i], fed_);
    for (std::size_t j = 0; j < connected.size(); ++j) {
      system_.right_side()[j * count() + i] =
          fed_[connected[j]].value - offsets_[connected[j]] + inputs[j];
    }
  }
  const bool solved = system_.solve();
  answer_to_inputs();
  const Eigen::VectorXd ends = over_step(free_, weights_);
  for (const std::size_t k : subsystems_.all()) {
    const IndexRange states = subsystems_.states_of(k);
    errors[k].x += ends.segment(signed_index(states.first), signed_index(states.size()));
  }
  return solved;
}

void NodeSystem::find_rounding(std::span<CarriedError> errors) const {
  const Eigen::Index last = states_.cols() - 1;
  for (const std::size_t k : subsystems_.all()) {
    const IndexRange states = subsystems_.states_of(k), in = subsystems_.inputs_of(k);
    const Sample* const u = inputs_.back().data() + in.first;
    const double* const x = states_.col(last).data() + states.first;
    CarriedError& error = errors[k];
    error.x.setZero(signed_index(states.size()));
    error.u.setZero(signed_index(in.size()));
    error.f.resize(error.x.size());
    error.g.resize(signed_index(subsystems_.outputs_of(k).size()));
    for (Eigen::Index s = 0; s < error.f.size(); ++s)
      error.f[s] = ErrorNorm::rounding(blocks_[k].terms_of_slope(s, x, u));
    for (Eigen::Index o = 0; o < error.g.size(); ++o)
      error.g[o] = ErrorNorm::rounding(blocks_[k].terms_of_output(o, last, x, u));
  }
}

void NodeSystem::forget() {
  for (NodeBlock& block : blocks_) block.forget();
  for (NodeBatch& batch : batches_) batch.forget_derivatives();
  assembled_for_ = 0.0;
}

void NodeSystem::io(Archive& archive) {
  for (const std::size_t k : subsystems_.all()) {
    archive.within(k, [&] { CONCORD_MEMBERS(archive, blocks_[k]); });
    if (archive.reading()) share_derivatives(k);
  }
  CONCORD_MEMBERS(archive, system_, assembled_for_);
  if (!archive.reading()) return;
  changed_ = false;
  for (NodeBatch& batch : batches_) batch.forget_derivatives();
}

}  // namespace concord
