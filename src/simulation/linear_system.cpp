#include "simulation/linear_system.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "concord/errors.hpp"
#include "coupling/problem/row_major.hpp"
#include "support/agreement.hpp"
#include "support/dense_decompositions.hpp"
#include "support/factorizations.hpp"
#include "support/name_patterns.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Dense = Eigen::MatrixXd;

/// The subsystems side by side, not yet coupled: all inputs, connected or not.
struct Blocks {
  explicit Blocks(const Network& network)
      : a(Dense::Zero(size(network.n_states()), size(network.n_states()))),
        b(Dense::Zero(size(network.n_states()), size(network.n_inputs()))),
        c(Dense::Zero(size(network.n_outputs()), size(network.n_states()))),
        d(Dense::Zero(size(network.n_outputs()), size(network.n_inputs()))) {}

  static Eigen::Index size(std::size_t count) { return static_cast<Eigen::Index>(count); }

  Dense a, b, c, d;
};

void put(Dense& whole, IndexRange rows, IndexRange columns, const std::vector<double>& block) {
  whole.block(Blocks::size(rows.first), Blocks::size(columns.first), Blocks::size(rows.size()),
              Blocks::size(columns.size())) =
      row_major(block, Blocks::size(rows.size()), Blocks::size(columns.size()));
}

void require_form(const SimulationPlan& plan) {
  const auto refuse = [](const std::string& what) {
    throw InputError("concord linearize: " + what);
  };
  if (plan.replicated) {
    refuse("-cosim_type monolithic has no subsystems of its own; use another type");
  }
  for (const SubsystemEntry& entry : plan.model.subsystems) {
    const SubsystemDescription& description = entry.description;
    if (description.constraint) {
      refuse("constraint '" + description.name +
             "' leaves fewer degrees of freedom than there are states; connect by inputs instead");
    }
    if (description.kind == "delay") {
      refuse(description.stands_for + " has no finite number of states; leave it out");
    }
    if (!(description.capabilities.linearization && description.capabilities.states)) {
      refuse("subsystem '" + description.name + "' offers no states with linearization");
    }
  }
}

/// Of all ranks' subsystems where they stand.
Blocks linearized_blocks(SimulationCore& simulation) {
  RankNetwork& subsystems = simulation.subsystems();
  const Network& network = subsystems.network();
  const auto& inputs = simulation.stepper().point().inputs;
  subsystems.note_all_given();
  Blocks blocks(network);
  std::optional<std::string> failure;
  Linearization linear;
  for (const std::size_t k : subsystems.all()) {
    const IndexRange own = subsystems.inputs_of(k);
    Outcome outcome = Outcome::ok;
    subsystems.at_point(k, [&] {
      outcome =
          subsystems.own(k).linearize(std::span(inputs).subspan(own.first, own.size()), linear);
    });
    if (outcome == Outcome::failed || subsystems.failure()) {
      failure = subsystems.failure().value_or("a subsystem cannot be linearised");
      continue;
    }
    const std::size_t g = subsystems.global(k);
    put(blocks.a, network.states_of(g), network.states_of(g), linear.f_x);
    put(blocks.b, network.states_of(g), network.inputs_of(g), linear.f_u);
    put(blocks.c, network.outputs_of(g), network.states_of(g), linear.g_x);
    put(blocks.d, network.outputs_of(g), network.inputs_of(g), linear.g_u);
  }
  if (const auto agreed = agree_on_text(subsystems.comm(), failure)) {
    throw SimulationError(*agreed);
  }
  for (Dense* matrix : {&blocks.a, &blocks.b, &blocks.c, &blocks.d}) {
    agree_on_sum(subsystems.comm(),
                 std::span(matrix->data(), static_cast<std::size_t>(matrix->size())));
  }
  return blocks;
}

}  // namespace

Connection connection_of(const Network& network, const std::string& output,
                         const std::string& input) {
  const auto place = [](const std::vector<std::string>& names, const std::string& name,
                        const char* kind) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      throw InputError("concord linearize: there is no " + std::string(kind) + " " +
                       in_quotes(name) + " to open a connection at; " + nearest_names(name, names));
    return static_cast<std::size_t>(found - names.begin());
  };
  const std::size_t from = place(network.output_names(), output, "output");
  const std::size_t to = place(network.input_names(), input, "input");
  const auto& link = network.links()[to];
  if (!link || link->output != from)
    throw InputError(
        "concord linearize: " + in_quotes(output) + " does not feed " + in_quotes(input) + ", " +
        (link ? in_quotes(network.output_names()[link->output]) : "nothing") + " does");
  return {to, from, link->factor};
}

LinearSystem linear_system(SimulationCore& simulation, std::span<const Connection> opened) {
  require_form(simulation.plan());
  const Network& network = simulation.subsystems().network();
  const Blocks blocks = linearized_blocks(simulation);
  LinearSystem system;
  system.time = simulation.time();
  system.states = network.state_names();
  system.outputs = network.output_names();
  Dense fed = Dense::Zero(blocks.d.cols(), blocks.d.rows());
  std::vector<Eigen::Index> free;
  for (std::size_t i = 0; i < network.n_inputs(); ++i) {
    const bool open = std::ranges::find(opened, i, &Connection::input) != opened.end();
    if (const auto& link = network.links()[i]; link && !open) {
      fed(Blocks::size(i), Blocks::size(link->output)) = link->factor;
    } else {
      free.push_back(Blocks::size(i));
      system.inputs.push_back(network.input_names()[i]);
    }
  }
  const RankFactors loops(Dense::Identity(blocks.d.rows(), blocks.d.rows()) - blocks.d * fed);
  if (!loops.is_invertible()) {
    throw SimulationError("at t = " + short_number(system.time) +
                          " s an algebraic loop has gain 1: its outputs follow from nothing");
  }
  const auto without_loops = [&](const Dense& right) {
    return right.size() == 0 ? right : loops.solve(right);
  };
  system.c = without_loops(blocks.c);
  system.d = without_loops(blocks.d(Eigen::all, free));
  system.a = blocks.a + blocks.b * fed * system.c;
  system.b = Dense(blocks.b(Eigen::all, free)) + blocks.b * fed * system.d;
  return system;
}

Eigen::VectorXd balancing_sizes(const Eigen::MatrixXd& a) {
  constexpr double enough = 0.95;
  Eigen::VectorXd sizes = Eigen::VectorXd::Ones(a.rows());
  for (bool changed = true; changed;) {
    changed = false;
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
      double column = 0.0, row = 0.0;
      for (Eigen::Index j = 0; j < a.rows(); ++j) {
        if (j == i) continue;
        column += std::abs(a(j, i)) * sizes[i] / sizes[j];
        row += std::abs(a(i, j)) * sizes[j] / sizes[i];
      }
      if (!(column > 0.0) || !(row > 0.0) || !std::isfinite(column + row)) continue;
      const double factor = std::exp2(std::round(0.5 * std::log2(row / column)));
      if (column * factor + row / factor >= enough * (column + row)) continue;
      sizes[i] *= factor;
      changed = true;
    }
  }
  return sizes;
}

Eigen::VectorXcd Modes::shown_eigenvalues() const {
  Eigen::VectorXcd shown = eigenvalues;
  for (Eigen::Index i = 0; i < shown.size(); ++i) {
    const auto part = [&](double value) { return std::abs(value) > rounding[i] ? value : 0.0; };
    shown[i] = {part(shown[i].real()), part(shown[i].imag())};
  }
  return shown;
}

Modes modes_of(const Eigen::MatrixXd& a) {
  constexpr double nearly_dependent = 1e-12;
  Modes modes;
  const Eigen::Index n = a.rows();
  if (n == 0) {
    return modes;
  }
  const Eigen::VectorXd sizes = balancing_sizes(a);
  const Dense sized = sizes.cwiseInverse().asDiagonal() * a * sizes.asDiagonal();
  const EigenPairs pairs = eigen_pairs(sized);
  std::vector<Eigen::Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  const auto& values = pairs.values;
  std::stable_sort(order.begin(), order.end(), [&](Eigen::Index i, Eigen::Index j) {
    return values[i].real() > values[j].real();
  });
  modes.eigenvalues = values(order);
  const Eigen::MatrixXcd v = pairs.vectors(Eigen::all, order);
  Dense real_form(2 * n, 2 * n);
  real_form << v.real(), -v.imag(), v.imag(), v.real();
  const RankFactors factors(real_form);
  const double unit = 8.0 * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  modes.rounding = Eigen::VectorXd::Constant(n, std::sqrt(unit) * sized.norm());
  const Dense both = factors.inverse().leftCols(n);
  Eigen::MatrixXcd inverse(n, n);
  inverse.real() = both.topRows(n);
  inverse.imag() = both.bottomRows(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const double moved = unit * sized.norm() * inverse.row(i).norm() * v.col(i).norm();
    if (moved < modes.rounding[i]) modes.rounding[i] = moved;
  }
  if (factors.rcond() > nearly_dependent) {
    modes.participation = inverse.transpose().cwiseProduct(v).cwiseAbs();
    for (auto column : modes.participation.colwise()) {
      column /= column.sum();
    }
    if (!modes.participation.allFinite()) {
      modes.participation.resize(0, 0);
    }
  }
  return modes;
}

}  // namespace concord
