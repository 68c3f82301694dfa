#include "coupling/collocation/node_block.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "coupling/problem/error_norm.hpp"
#include "coupling/problem/row_major.hpp"
#include "signal/smallest_size.hpp"

namespace concord {
namespace {

Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }

void add(double weight, const std::vector<double>& values, std::vector<double>& sum) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weight * values[i];
}

}  // namespace

NodeBlock::NodeBlock(RankNetwork& subsystems, std::size_t k, const CollocationNodes& nodes,
                     std::vector<std::size_t> fed)
    : subsystems_(subsystems),
      k_(k),
      nodes_(nodes),
      fed_(std::move(fed)),
      begin_(index(subsystems.states_of(k).size())),
      slopes_(Eigen::MatrixXd::Zero(begin_.size(), nodes.count())),
      defects_(slopes_),
      free_(slopes_),
      derivatives_(static_cast<std::size_t>(nodes.count())) {}

/// A subsystem that has failed stays where it was, until it is asked at the nodes.
void NodeBlock::begin(const MacroStep& step) {
  set_step(step);
  subsystems_.asking(k_, [&] { std::ranges::copy(subsystems_.own(k_).states(), begin_.begin()); });
}

void NodeBlock::begin_as(const NodeBlock& other) {
  set_step(other.step_);
  begin_ = other.begin_;
}

void NodeBlock::set_step(const MacroStep& step) {
  step_ = step;
  failure_.reset();
  inside_ = step.size() * nodes_.coefficients().transpose();
}

void NodeBlock::set_slopes(const Eigen::MatrixXd& slopes) {
  slopes_ = slopes;
  find_states();
}

StatePoint NodeBlock::point_at(Eigen::Index node, const Inputs& inputs) const {
  StatePoint point;
  const double share = nodes_.shares()[node];
  point.t = share == 1.0 ? step_.end : step_.begin + share * step_.size();
  point.h = step_.size();
  point.x = {states_.col(node).data(), static_cast<std::size_t>(states_.rows())};
  point.inputs = inputs[static_cast<std::size_t>(node)];
  point.wanted = Wanted::values;
  return point;
}

/// A failure there is one of this rank, for which the others must not wait.
template <class Ask>
bool NodeBlock::at_nodes(Work work, const Ask& ask) {
  bool good = true;
  const WorkScope timed(subsystems_.clock(), k_, work);
  const auto thrown = subsystems_.asking(k_, [&] {
    for (Eigen::Index node = 0; node < count() && good; ++node) good = ask(node);
  });
  if (thrown) failure_ = thrown;
  if (!good) {
    const Subsystem& subsystem = subsystems_.own(k_);
    failure_ = "subsystem '" + subsystem.description().name + "': " + subsystem.failure();
  }
  return good && !thrown;
}

bool NodeBlock::ask(Eigen::Index node, const Inputs& inputs, const Outputs& outputs) {
  Subsystem& subsystem = subsystems_.own(k_);
  const StatePoint point = point_at(node, inputs);
  const std::span<double> f(defects_.col(node).data(), static_cast<std::size_t>(begin_.size()));
  if (subsystem.derivatives_at(point, f) != Outcome::ok) return false;
  return subsystem.outputs_at(point, outputs[static_cast<std::size_t>(node)]) == Outcome::ok;
}

bool NodeBlock::evaluate(const Inputs& inputs, const Outputs& outputs) {
  see_inputs(inputs);
  const bool good =
      at_nodes(Work::outputs, [&](Eigen::Index node) { return ask(node, inputs, outputs); });
  defects_ -= slopes_;
  return good && defects_.allFinite();
}

bool NodeBlock::linearize(const Inputs& inputs, const Outputs& outputs) {
  see_inputs(inputs);
  const bool good = at_nodes(Work::linearize, [&](Eigen::Index node) {
    const auto i = static_cast<std::size_t>(node);
    Linearization& here = derivatives_[i];
    if (subsystems_.own(k_).linearize_at(point_at(node, inputs), here) != Outcome::ok) return false;
    std::ranges::copy(here.f, defects_.col(node).begin());
    std::ranges::transform(here.g, outputs[i].begin(), [](double y) { return Sample{y}; });
    return true;
  });
  defects_ -= slopes_;
  factorized_for_ = 0.0;
  return good && defects_.allFinite();
}

void NodeBlock::interpolate_derivatives(const NodeBlock& other) {
  for (Eigen::Index node = 0; node < count(); ++node) {
    const Eigen::VectorXd weights = other.nodes_.at(nodes_.shares()[node]);
    Linearization& here = derivatives_[static_cast<std::size_t>(node)];
    for (const auto part :
         {&Linearization::f_x, &Linearization::f_u, &Linearization::g_x, &Linearization::g_u}) {
      (here.*part).assign((other.derivatives_[0].*part).size(), 0.0);
      for (std::size_t j = 0; j < other.derivatives_.size(); ++j) {
        add(weights[index(j)], other.derivatives_[j].*part, here.*part);
      }
    }
  }
  factorized_for_ = 0.0;
}

void NodeBlock::fill_shifted(Eigen::MatrixXd& shifted) const {
  const Eigen::Index n = begin_.size();
  shifted.setIdentity(n * count(), n * count());
  for (Eigen::Index i = 0; i < count(); ++i) {
    const auto f_x = row_major(derivatives_[static_cast<std::size_t>(i)].f_x, n, n);
    for (Eigen::Index j = 0; j < count(); ++j) {
      shifted.block(i * n, j * n, n, n) -= inside_(j, i) * f_x;
    }
  }
}

void NodeBlock::factorize() {
  if (factorized_for_ == step_.size()) return;
  factorized_for_ = step_.size();
  Eigen::MatrixXd shifted;
  fill_shifted(shifted);
  if (shifted.size() > 0) factors_.compute(shifted);
  fill_responses();
}

/// Of states (node, state) to inputs (input, node), of outputs (output, node) to both.
void NodeBlock::fill_responses() {
  const Eigen::Index n = begin_.size(), nodes = count();
  const Eigen::Index m = index(fed_.size()), m_all = index(subsystems_.inputs_of(k_).size());
  const Eigen::Index p = index(subsystems_.outputs_of(k_).size());
  response_.setZero(n * nodes, m * nodes);
  by_slopes_.setZero(p * nodes, n * nodes);
  gain_.setZero(p * nodes, m * nodes);
  for (Eigen::Index i = 0; i < nodes; ++i) {
    const Linearization& at = derivatives_[static_cast<std::size_t>(i)];
    const auto f_u = row_major(at.f_u, n, m_all), g_u = row_major(at.g_u, p, m_all);
    const auto g_x = row_major(at.g_x, p, n);
    for (Eigen::Index c = 0; c < m; ++c) {
      const Eigen::Index input = index(fed_[static_cast<std::size_t>(c)]);
      response_.col(c * nodes + i).segment(i * n, n) = f_u.col(input);
      for (Eigen::Index o = 0; o < p; ++o) gain_(o * nodes + i, c * nodes + i) = g_u(o, input);
    }
    for (Eigen::Index o = 0; o < p; ++o) {
      for (Eigen::Index j = 0; j < nodes; ++j) {
        by_slopes_.row(o * nodes + i).segment(j * n, n) = inside_(j, i) * g_x.row(o);
      }
    }
  }
  if (response_.size() > 0) response_ = factors_.solve(response_).eval();
  if (n > 0) gain_.noalias() += by_slopes_ * response_;
}

void NodeBlock::correct_outputs(const Outputs& outputs) {
  if (begin_.size() == 0) return;
  free_.reshaped() = factors_.solve(defects_.reshaped());
  const Eigen::VectorXd by_defects = by_slopes_ * free_.reshaped();
  for (Eigen::Index r = 0; r < by_defects.size(); ++r) {
    outputs[static_cast<std::size_t>(r % count())][static_cast<std::size_t>(r / count())].value +=
        by_defects[r];
  }
}

/// What it is at the nodes, and how far it gets.
double NodeBlock::size_of(Eigen::Index state) const {
  return std::max(states_.row(state).cwiseAbs().maxCoeff(), std::abs(begin_[state])) +
         step_.size() * slopes_.row(state).cwiseAbs().maxCoeff() + smallest_size;
}

/// Of f at the last node: |f_x| |x| + |f_u| |u|.
double NodeBlock::terms_of_slope(Eigen::Index state) const {
  const Linearization& last = derivatives_.back();
  const auto f_x = row_major(last.f_x, begin_.size(), begin_.size());
  const auto f_u = row_major(last.f_u, begin_.size(), input_sizes_.size());
  const auto x = states_.col(count() - 1);
  return f_x.row(state).cwiseAbs().transpose().dot(x.cwiseAbs()) +
         f_u.row(state).cwiseAbs().transpose().dot(input_sizes_);
}

void NodeBlock::see_inputs(const Inputs& inputs) {
  const std::span<const Sample> last = inputs.back();
  input_sizes_.resize(index(last.size()));
  std::ranges::transform(last, input_sizes_.begin(),
                         [](const Sample& input) { return std::abs(input.value); });
}

double NodeBlock::correct(const Eigen::VectorXd& du) {
  if (begin_.size() == 0) return 0.0;
  if (du.size() > 0) free_.reshaped() += response_ * du;
  slopes_ += free_;
  find_states();
  const Eigen::MatrixXd moved = free_ * inside_;
  double largest = 0.0;
  for (Eigen::Index s = 0; s < moved.rows(); ++s) {
    const double by = moved.row(s).cwiseAbs().maxCoeff();
    constexpr double of_terms = 1e-15;  // what rounding leaves of what the macro-step adds
    if (!(by <= largest * size_of(s)) && !(by <= of_terms * step_.size() * terms_of_slope(s)))
      largest = by / size_of(s);
  }
  return moved.allFinite() ? largest : std::numeric_limits<double>::infinity();
}

void NodeBlock::answer_to(const CarriedError& error, const Outputs& outputs) {
  const Eigen::Index n = begin_.size(), m = error.u.size(), p = error.g.size();
  for (Eigen::Index i = 0; i < count(); ++i) {
    const Linearization& at = derivatives_[static_cast<std::size_t>(i)];
    defects_.col(i) =
        row_major(at.f_x, n, n) * error.x + row_major(at.f_u, n, m) * error.u + error.f;
    const Eigen::VectorXd y =
        row_major(at.g_x, p, n) * error.x + row_major(at.g_u, p, m) * error.u + error.g;
    std::ranges::transform(y, outputs[static_cast<std::size_t>(i)].begin(),
                           [](double by) { return Sample{by}; });
  }
  correct_outputs(outputs);
}

Eigen::VectorXd NodeBlock::end_errors(const Eigen::VectorXd& begin, const Eigen::VectorXd& du) {
  if (begin.size() > 0 && du.size() > 0) free_.reshaped() += response_ * du;
  return begin + step_.size() * (free_ * nodes_.weights());
}

Eigen::VectorXd NodeBlock::moved() const {
  if (begin_.size() == 0) return begin_;
  return (free_ * inside_).cwiseAbs().rowwise().maxCoeff();
}

Eigen::VectorXd NodeBlock::outputs_by(const Eigen::VectorXd& states) const {
  const Linearization& last = derivatives_.back();
  return row_major(last.g_x, index(subsystems_.outputs_of(k_).size()), states.size()) * states;
}

CarriedError NodeBlock::rounding() const {
  const Linearization& last = derivatives_.back();
  const Eigen::Index n = begin_.size(), m = input_sizes_.size();
  const Eigen::Index p = index(subsystems_.outputs_of(k_).size());
  const Eigen::VectorXd x = states_.col(count() - 1).cwiseAbs();
  CarriedError result;
  result.x.setZero(n);
  result.u.setZero(m);
  result.f.resize(n);
  for (Eigen::Index s = 0; s < n; ++s) result.f[s] = ErrorNorm::rounding(terms_of_slope(s));
  result.g = (row_major(last.g_x, p, n).cwiseAbs() * x +
              row_major(last.g_u, p, m).cwiseAbs() * input_sizes_)
                 .unaryExpr(&ErrorNorm::rounding);
  return result;
}

Eigen::VectorXd NodeBlock::outputs_by_magnitudes(const Eigen::VectorXd& states) const {
  const Linearization& last = derivatives_.back();
  const Eigen::Index outputs = index(subsystems_.outputs_of(k_).size());
  return row_major(last.g_x, outputs, states.size()).cwiseAbs() * states;
}

void NodeBlock::io(Archive& archive) {
  for (Linearization& at : derivatives_) {
    CONCORD_MEMBERS(archive, at.f_x, at.f_u, at.g_x, at.g_u);
  }
  if (archive.reading()) factorized_for_ = 0.0;
}

}  // namespace concord
