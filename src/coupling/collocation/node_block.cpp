#include "coupling/collocation/node_block.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "support/scratch.hpp"

namespace concord {
namespace {

Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }

/// In the order in which they are kept.
constexpr std::array parts{&Linearization::f_x, &Linearization::f_u, &Linearization::g_x,
                           &Linearization::g_u};

double sum_of_magnitudes(const double* row, Eigen::Index count, const double* values) {
  double sum = 0.0;
  for (Eigen::Index i = 0; i < count; ++i) sum += std::abs(row[i]) * std::abs(values[i]);
  return sum;
}

double sum_of_magnitudes(const double* row, Eigen::Index count, const Sample* values) {
  double sum = 0.0;
  for (Eigen::Index i = 0; i < count; ++i) sum += std::abs(row[i]) * std::abs(values[i].value);
  return sum;
}

double sum_of_products(const double* row, Eigen::Index count, const double* values,
                       Eigen::Index stride = 1) {
  double sum = 0.0;
  for (Eigen::Index i = 0; i < count; ++i) sum += row[i] * values[i * stride];
  return sum;
}

}  // namespace

NodeBlock::NodeBlock(const RankNetwork& subsystems, std::size_t k, const CollocationNodes& nodes,
                     std::vector<std::size_t> fed)
    : k_(k),
      first_output_(subsystems.outputs_of(k).first),
      nodes_(nodes.count()),
      n_(index(subsystems.states_of(k).size())),
      m_(index(subsystems.inputs_of(k).size())),
      p_(index(subsystems.outputs_of(k).size())),
      fed_(std::move(fed)),
      derivatives_(std::make_shared<std::vector<double>>(nodes_ * per_node(), 0.0)) {}

double* NodeBlock::own_derivatives() {
  if (derivatives_.use_count() > 1)
    derivatives_ = std::make_shared<std::vector<double>>(*derivatives_);
  return derivatives_->data();
}

void NodeBlock::share_with(const NodeBlock& other) {
  if (*derivatives_ == *other.derivatives_) derivatives_ = other.derivatives_;
}

void NodeBlock::recall(Eigen::Index node, Linearization& known) const {
  known.parameters = parameters_;
  known.f.resize(static_cast<std::size_t>(n_));
  known.g.resize(static_cast<std::size_t>(p_));
  const double* from = at(node);
  const std::array sizes{n_ * n_, n_ * m_, p_ * n_, p_ * m_};
  for (std::size_t i = 0; i < parts.size(); from += sizes[i++])
    (known.*parts[i]).assign(from, from + sizes[i]);
}

bool NodeBlock::learn(Eigen::Index node, const Linearization& here) {
  if (node + 1 == nodes_) parameters_ = here.parameters;
  const double* known = at(node);
  bool others = false;
  for (const auto part : parts) {
    const std::vector<double>& values = here.*part;
    others = others || !std::ranges::equal(values, std::span(known, values.size()));
    known += values.size();
  }
  if (!others) return false;
  double* to = own_derivatives() + node * per_node();
  for (const auto part : parts) to = std::ranges::copy(here.*part, to).out;
  changed();
  return true;
}

bool NodeBlock::interpolate(const NodeBlock& other, const Eigen::MatrixXd& weights) {
  if (std::exchange(taken_, other.version_) == other.version_) return false;
  Scratch scratch;
  const std::span<double> found = scratch.numbers(derivatives_->size());
  auto to = found.begin();
  for (Eigen::Index node = 0; node < nodes_; ++node)
    for (Eigen::Index i = 0; i < per_node(); ++i)
      *to++ = sum_of_products(&weights(0, node), other.nodes_, other.at(0) + i, per_node());
  if (std::ranges::equal(found, *derivatives_)) return false;
  std::ranges::copy(found, own_derivatives());
  changed();
  return true;
}

void NodeBlock::fill_shifted(const Eigen::MatrixXd& inside, Factors& factors) const {
  Scratch scratch;
  const Eigen::Index size = n_ * nodes_;
  Eigen::Map<Eigen::MatrixXd> shifted(scratch.numbers(static_cast<std::size_t>(size * size)).data(),
                                      size, size);
  for (Eigen::Index i = 0; i < nodes_; ++i) {
    const double* const by = at(i);
    for (Eigen::Index j = 0; j < nodes_; ++j) {
      for (Eigen::Index c = 0; c < n_; ++c) {
        for (Eigen::Index r = 0; r < n_; ++r)
          shifted(i * n_ + r, j * n_ + c) = -inside(j, i) * by[r * n_ + c];
      }
    }
  }
  shifted.diagonal().array() += 1.0;
  factors.shifted.compute(shifted);
}

bool NodeBlock::is_like(const NodeBlock& other) const {
  return now_.h == other.now_.h && n_ == other.n_ && m_ == other.m_ && p_ == other.p_ &&
         fed_ == other.fed_ &&
         (derivatives_ == other.derivatives_ || *derivatives_ == *other.derivatives_);
}

std::shared_ptr<const NodeBlock::Factors> NodeBlock::made_factors(
    const Eigen::MatrixXd& inside) const {
  auto result = std::make_shared<Factors>();
  const Eigen::Index size = n_ * nodes_, columns = index(fed_.size()) * nodes_;
  if (size > 0) {
    fill_shifted(inside, *result);
    Eigen::MatrixXd forcing = Eigen::MatrixXd::Zero(size, columns);
    for (Eigen::Index c = 0; c < columns; ++c) {
      const Eigen::Index node = c % nodes_;
      forcing.col(c).segment(node * n_, n_) =
          f_u(node).col(index(fed_[static_cast<std::size_t>(c / nodes_)]));
    }
    result->responses = result->shifted.solve(forcing);
  }
  result->gains.resize(p_ * nodes_, columns);
  for (std::size_t input = 0; input < fed_.size(); ++input)
    for (Eigen::Index node = 0; node < nodes_; ++node) find_gains(inside, {input, node}, *result);
  return result;
}

void NodeBlock::factorize(const Eigen::MatrixXd& inside, double h, bool leaves_usual,
                          std::span<const NodeBlock* const> others, SubsystemGains& gains) {
  if (now_.h == h) return;
  if (leaves_usual && now_.h > 0.0) usual_ = now_;
  now_.h = h;
  if (usual_.h == h) {
    now_ = usual_;
  } else {
    const auto like = std::ranges::find_if(
        others, [this](const NodeBlock* other) { return other != nullptr && is_like(*other); });
    now_.factors = like != others.end() ? (*like)->now_.factors : made_factors(inside);
  }
  const auto same = std::ranges::find_if(others, [this](const NodeBlock* other) {
    return other != nullptr && has_factors_of(*other);
  });
  if (same != others.end()) {
    gains.share(k_, (*same)->k_);
  } else {
    std::ranges::copy(now_.factors->gains.reshaped<Eigen::RowMajor>(), gains.own(k_).begin());
  }
}

/// A column of K.
void NodeBlock::find_gains(const Eigen::MatrixXd& inside, const Column& column,
                           Factors& factors) const {
  Scratch scratch;
  const Eigen::Index c = index(column.input) * nodes_ + column.node;
  const double* const slopes = factors.responses.data() + c * n_ * nodes_;
  double* const state = scratch.numbers(static_cast<std::size_t>(n_)).data();
  for (Eigen::Index i = 0; i < nodes_; ++i) {
    for (Eigen::Index s = 0; s < n_; ++s)
      state[s] = sum_of_products(&inside(0, i), nodes_, slopes + s, n_);
    for (Eigen::Index o = 0; o < p_; ++o) {
      const double direct = i == column.node ? g_u(i)(o, index(fed_[column.input])) : 0.0;
      factors.gains(o * nodes_ + i, c) = direct + sum_of_products(g_x(i).row(o).data(), n_, state);
    }
  }
}

void NodeBlock::solve(Rows<const double> defects, Rows<double> free) const {
  Scratch scratch;
  const auto size = static_cast<std::size_t>(n_ * nodes_);
  if (size == 0) return;
  double *const own = scratch.numbers(size).data(), *const result = scratch.numbers(size).data();
  for (Eigen::Index i = 0; i < nodes_; ++i) std::copy_n(defects.at(i), n_, own + i * n_);
  now_.factors->shifted.solve(Eigen::Map<const Eigen::VectorXd>(own, index(size)),
                              Eigen::Map<Eigen::VectorXd>(result, index(size)));
  for (Eigen::Index i = 0; i < nodes_; ++i) std::copy_n(result + i * n_, n_, free.at(i));
}

void NodeBlock::answer(std::span<const double> du, Rows<double> free) const {
  Scratch scratch;
  const Eigen::Index size = n_ * nodes_;
  double* const sum = scratch.numbers(static_cast<std::size_t>(size)).data();
  std::fill_n(sum, size, 0.0);
  const double* by = now_.factors->responses.data();
  for (const double u : du) {
    for (Eigen::Index r = 0; r < size; ++r) sum[r] += u * by[r];
    by += size;
  }
  for (Eigen::Index i = 0; i < nodes_; ++i)
    for (Eigen::Index s = 0; s < n_; ++s) free.at(i)[s] += sum[i * n_ + s];
}

void NodeBlock::answer(std::span<const double> du, Outputs outputs) const {
  const RowMajor& gains = now_.factors->gains;
  for (Eigen::Index i = 0; i < nodes_; ++i) {
    Sample* const y = outputs[static_cast<std::size_t>(i)].data() + first_output_;
    for (Eigen::Index o = 0; o < p_; ++o)
      y[o].value += sum_of_products(gains.row(o * nodes_ + i).data(), gains.cols(), du.data());
  }
}

void NodeBlock::add_outputs(Rows<const double> states, Outputs outputs) const {
  for (Eigen::Index i = 0; i < nodes_; ++i) {
    Sample* const y = outputs[static_cast<std::size_t>(i)].data() + first_output_;
    const double* row = g_x(i).data();
    for (Eigen::Index o = 0; o < p_; ++o, row += n_)
      y[o].value += sum_of_products(row, n_, states.at(i));
  }
}

void NodeBlock::find_defects(const CarriedError& error, Rows<double> defects,
                             Outputs outputs) const {
  const double *const x = error.x.data(), *const u = error.u.data();
  for (Eigen::Index i = 0; i < nodes_; ++i) {
    Sample* const y = outputs[static_cast<std::size_t>(i)].data() + first_output_;
    for (Eigen::Index s = 0; s < n_; ++s)
      defects.at(i)[s] = sum_of_products(f_x(i).row(s).data(), n_, x) +
                         sum_of_products(f_u(i).row(s).data(), m_, u) + error.f[s];
    for (Eigen::Index o = 0; o < p_; ++o)
      y[o] = {sum_of_products(g_x(i).row(o).data(), n_, x) +
              sum_of_products(g_u(i).row(o).data(), m_, u) + error.g[o]};
  }
}

void NodeBlock::put_outputs_by(const double* states, double* outputs) const {
  for (Eigen::Index o = 0; o < p_; ++o)
    outputs[o] = sum_of_products(g_x(nodes_ - 1).row(o).data(), n_, states);
}

void NodeBlock::put_outputs_by_magnitudes(const double* states, double* outputs) const {
  for (Eigen::Index o = 0; o < p_; ++o)
    outputs[o] = sum_of_magnitudes(g_x(nodes_ - 1).row(o).data(), n_, states);
}

double NodeBlock::terms_of_slope(Eigen::Index state, const double* x, const Sample* u) const {
  return sum_of_magnitudes(f_x(nodes_ - 1).row(state).data(), n_, x) +
         sum_of_magnitudes(f_u(nodes_ - 1).row(state).data(), m_, u);
}

double NodeBlock::terms_of_output(Eigen::Index output, Eigen::Index node, const double* x,
                                  const Sample* u) const {
  return sum_of_magnitudes(g_x(node).row(output).data(), n_, x) +
         sum_of_magnitudes(g_u(node).row(output).data(), m_, u);
}

void NodeBlock::io(Archive& archive) {
  archive.as("derivatives", [&] {
    archive.values(std::span(archive.reading() ? own_derivatives() : derivatives_->data(),
                             derivatives_->size()));
  });
  if (archive.reading()) forget();
}

}  // namespace concord
