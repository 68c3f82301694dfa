#include "simulation/linear_system.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <numeric>
#include <utility>

#include "concord/errors.hpp"
#include "coupling/problem/row_major.hpp"
#include "support/agreement.hpp"
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

LinearSystem linear_system(SimulationCore& simulation) {
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
    if (const auto& link = network.links()[i]) {
      fed(Blocks::size(i), Blocks::size(link->output)) = link->factor;
    } else {
      free.push_back(Blocks::size(i));
      system.inputs.push_back(network.input_names()[i]);
    }
  }
  const Eigen::FullPivLU<Dense> loops(Dense::Identity(blocks.d.rows(), blocks.d.rows()) -
                                      blocks.d * fed);
  if (!loops.isInvertible()) {
    throw SimulationError("at t = " + short_number(system.time) +
                          " s an algebraic loop has gain 1: its outputs follow from nothing");
  }
  const auto without_loops = [&](const Dense& right) {
    return right.size() == 0 ? right : Dense(loops.solve(right));
  };
  system.c = without_loops(blocks.c);
  system.d = without_loops(blocks.d(Eigen::all, free));
  system.a = blocks.a + blocks.b * fed * system.c;
  system.b = Dense(blocks.b(Eigen::all, free)) + blocks.b * fed * system.d;
  return system;
}

Modes modes_of(const Eigen::MatrixXd& a) {
  constexpr double nearly_dependent = 1e-12;
  Modes modes;
  const Eigen::Index n = a.rows();
  if (n == 0) {
    return modes;
  }
  const Eigen::EigenSolver<Dense> solver(a);
  std::vector<Eigen::Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  const auto& values = solver.eigenvalues();
  std::stable_sort(order.begin(), order.end(), [&](Eigen::Index i, Eigen::Index j) {
    return values[i].real() > values[j].real();
  });
  modes.eigenvalues = values(order);
  const Eigen::MatrixXcd v = Eigen::MatrixXcd(solver.eigenvectors()(Eigen::all, order));
  const Eigen::FullPivLU<Eigen::MatrixXcd> factors(v);
  if (factors.rcond() > nearly_dependent) {
    modes.participation = factors.inverse().transpose().cwiseProduct(v).cwiseAbs();
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
