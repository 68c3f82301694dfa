#include "simulation/signal_weights.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "simulation/simulation_core.hpp"
#include "support/factorizations.hpp"
#include "support/petsc.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

constexpr int longest_trial = 100;  // macro-steps
constexpr double share_of_count = 0.01;

const std::string equal = "every signal counts the same, since ";

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const Matrix> matrix(const std::vector<double>& values, std::size_t rows,
                                std::size_t columns) {
  return {values.data(), static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns)};
}

Model of_all_subsystems(Model model) {
  model.paces.emplace();
  return model;
}

/// Macro-steps that nobody records.
class TrialRun {
 public:
  explicit TrialRun(const Model& model)
      : core_(std::make_unique<SimulationPlan>(PETSC_COMM_SELF, of_all_subsystems(model))) {
    core_.start();
    const std::size_t n = core_.subsystems().n_own();
    linearizations_.resize(n);
    for (std::size_t k = 0; k < n; ++k) {
      linearize(k);
    }
    run();
  }

  SignalWeights weights() const {
    const Network& network = core_.plan().network;
    SignalWeights result{std::vector<double>(network.n_inputs(), 0.0), remark()};
    double sum = 0.0, count = 0.0;
    for (std::size_t i = 0; i < network.n_inputs(); ++i) {
      const auto& link = network.links()[i];
      if (link && linearizations_[network.subsystem_of_input(i)]) {
        result.weights[i] = weight(i, *link);
        sum += result.weights[i];
        count += 1.0;
      }
    }
    if (!(std::isfinite(sum) && sum > 0.0)) {
      return {{}, equal + "the trial run has shown none that moves what a linearization says"};
    }
    for (std::size_t i = 0; i < network.n_inputs(); ++i) {
      const bool known = linearizations_[network.subsystem_of_input(i)].has_value();
      const double mean_one = known ? result.weights[i] * count / sum : 1.0;
      result.weights[i] = share_of_count + (1.0 - share_of_count) * mean_one;
    }
    return result;
  }

 private:
  void linearize(std::size_t k) {
    RankNetwork& subsystems = core_.subsystems();
    Subsystem& subsystem = subsystems.own(k);
    if (!subsystem.description().capabilities.linearization) {
      return;
    }
    const IndexRange inputs = subsystems.inputs_of(k);
    const auto& point = core_.stepper().point();
    Linearization found;
    Outcome outcome = Outcome::ok;
    const auto thrown = subsystems.asking(k, [&] {
      outcome =
          subsystem.linearize(std::span(point.inputs).subspan(inputs.first, inputs.size()), found);
    });
    if (!thrown && outcome == Outcome::ok) {
      linearizations_[k] = std::move(found);
    }
  }

  void run() {
    const auto& outputs = core_.stepper().point().outputs;
    moved_.assign(outputs.size(), 0.0);
    largest_.assign(outputs.size(), 0.0);
    const double start = core_.time();
    int steps = 0;
    for (; steps < longest_trial && !core_.finished(); ++steps) {
      const std::vector<Sample> before = outputs;
      core_.advance();
      for (std::size_t o = 0; o < outputs.size(); ++o) {
        moved_[o] += std::abs(outputs[o].value - before[o].value);
        largest_[o] =
            std::max({largest_[o], std::abs(outputs[o].value), std::abs(before[o].value)});
      }
    }
    h_ = steps > 0 ? (core_.time() - start) / steps : 0.0;
  }

  double weight(std::size_t input, const Link& link) const {
    const RankNetwork& subsystems = core_.subsystems();
    const std::size_t k = core_.plan().network.subsystem_of_input(input);
    const IndexRange inputs = subsystems.inputs_of(k), outputs = subsystems.outputs_of(k);
    const Eigen::VectorXd gain = gains(k, subsystems.local_input(input) - inputs.first);
    double sum = 0.0;
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const double size = largest_[outputs.first + o];
      sum += size > 0.0 ? std::abs(gain[static_cast<Eigen::Index>(o)]) / size : 0.0;
    }
    return sum * std::abs(link.factor) * moved_[subsystems.local_output(link.output)];
  }

  /// K's column of an input of subsystem k.
  Eigen::VectorXd gains(std::size_t k, std::size_t input) const {
    const RankNetwork& subsystems = core_.subsystems();
    const Linearization& at_start = *linearizations_[k];
    const std::size_t n = subsystems.states_of(k).size();
    const std::size_t p = subsystems.outputs_of(k).size(), m = subsystems.inputs_of(k).size();
    const auto column = static_cast<Eigen::Index>(input);
    Eigen::VectorXd gain = matrix(at_start.g_u, p, m).col(column);
    if (n > 0) {
      const auto size = static_cast<Eigen::Index>(n);
      const Eigen::MatrixXd shifted =
          Eigen::MatrixXd::Identity(size, size) - h_ * matrix(at_start.f_x, n, n);
      const Eigen::VectorXd driven = h_ * matrix(at_start.f_u, n, m).col(column);
      gain += matrix(at_start.g_x, p, n) * DenseFactors(shifted).solve(driven);
    }
    return gain;
  }

  std::string remark() const {
    std::vector<std::string> without;
    for (std::size_t k = 0; k < linearizations_.size(); ++k) {
      const auto& description = core_.plan().model.subsystems[k].description;
      if (!linearizations_[k] && !description.inputs.empty()) {
        without.push_back("'" + description.name + "'");
      }
    }
    return without.empty()
               ? ""
               : "what " + joined(without) + " receive" + (without.size() == 1 ? "s" : "") +
                     " counts 1 a signal, the mean, since linearization is missing";
  }

  SimulationCore core_;
  std::vector<std::optional<Linearization>> linearizations_;
  std::vector<double> moved_, largest_;  ///< of outputs: sum of changes, largest value
  double h_ = 0.0;
};

}  // namespace

SignalWeights trial_signal_weights(const Model& model) {
  try {
    return TrialRun(model).weights();
  } catch (const std::exception& error) {
    return {{}, equal + "the trial run has failed: " + error.what()};
  }
}

}  // namespace concord
