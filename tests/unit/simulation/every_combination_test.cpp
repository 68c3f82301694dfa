#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cstdio>
#include <fstream>
#include <map>
#include <unsupported/Eigen/MatrixFunctions>

#include "concord/errors.hpp"
#include "modelfile/model_file.hpp"
#include "simulation/simulation_core.hpp"
#include "support/petsc.hpp"

// Every combination of schedule, hold, order, solve, step control and first guess, and of what
// explicit methods do to their inputs, either runs and is right, or is refused with a reason that
// names a choice of it.

namespace concord {
namespace every_combination_test {

constexpr double macro_step = 0.02;

/// All capabilities, direct feedthrough one way, no loop.
const char* const pair = R"(name: pair
experiment: {start: 0, stop: 1}
subsystems:
  a:
    equations:
      inputs: {u: 0}
      states: {x: 1}
      derivatives: {x: u - x}
      outputs: {y: x}
  b:
    equations:
      inputs: {u: 0}
      states: {x: 0.5}
      derivatives: {x: -2*u - 0.5*x}
      outputs: {y: 0.5*x + 0.2*u}
connections: [b.y -> a.u, a.y -> b.u]
)";

Eigen::Vector2d exactly(double t) {
  const Eigen::Matrix2d closed{{-1 + 0.2, 0.5}, {-2.0, -0.5}};
  return Eigen::Matrix2d(closed * t).exp() * Eigen::Vector2d(1.0, 0.5);
}

using Choices = std::map<std::string, std::string>;  ///< option, with its dash, and value

std::string written(const Choices& choices) {
  std::string text;
  for (const auto& [option, value] : choices) {
    text += option + " " + value + " ";
  }
  return text;
}

/// Each with one of the values, or, for the empty one, without the option.
std::vector<Choices> each_with(const std::vector<Choices>& before, const std::string& option,
                               const std::vector<std::string>& values) {
  std::vector<Choices> result;
  for (const auto& choices : before) {
    for (const auto& value : values) {
      result.push_back(choices);
      if (!value.empty()) {
        result.back()[option] = value;
      }
    }
  }
  return result;
}

template <class T>
std::vector<std::string> all_words() {
  std::vector<std::string> words;
  for (const auto& one : words_of<T>()) {
    words.emplace_back(one.word);
  }
  return words;
}

/// None at all as well.
template <class T>
std::vector<std::string> all_words_or_none() {
  auto words = all_words<T>();
  words.insert(words.begin(), "");
  return words;
}

std::vector<Choices> every_combination() {
  std::vector<Choices> all = {{}};
  all = each_with(all, "-cosim_schedule", all_words<Schedule>());
  all = each_with(all, "-cosim_adapt", all_words<Adapt>());
  std::vector<Choices> monolithic = each_with(all, "-cosim_type", {"monolithic"});
  all = each_with(all, "-cosim_hold", all_words<Hold>());
  all = each_with(all, "-cosim_hold_order", {"", "0", "1", "2", "3"});
  all = each_with(all, "-cosim_solve", all_words<Solve>());
  all = each_with(all, "-cosim_predictor", all_words_or_none<Predictor>());
  all.insert(all.end(), monolithic.begin(), monolithic.end());
  return all;
}

/// Of corrections, switching and extrapolation, with the choices that they may contradict.
std::vector<Choices> every_shape_of_inputs() {
  std::vector<Choices> all = {{}};
  all = each_with(all, "-cosim_schedule", {"parallel", "sequential"});
  all = each_with(all, "-cosim_adapt", {"none", "iteration", "richardson", "richardson_modified"});
  all = each_with(all, "-cosim_hold", {"zoh", "hermite", "extrapolate", "extripol"});
  all = each_with(all, "-cosim_hold_order", {"", "1", "3"});
  all = each_with(all, "-cosim_solve", {"snes", "none"});
  all = each_with(all, "-cosim_balance", {"none", "constant", "smooth"});
  all = each_with(all, "-cosim_balance_spread", {"", "3"});
  all = each_with(all, "-cosim_smooth_switching", {"false", "true"});
  all = each_with(all, "-cosim_extrapolation", {"lagrange", "hermite"});
  return each_with(all, "-cosim_record", {"", "balance", "polynomials"});
}

/// The options database holds these choices, and nothing else, while it lives.
class GivenOptions {
 public:
  explicit GivenOptions(const Choices& choices) {
    const Choices common = {{"-cosim_step", std::to_string(macro_step)},
                            {"-cosim_adapt_rtol", "1e-4"},
                            {"-cosim_adapt_atol", "1e-4"}};
    for (const auto& list : {common, choices}) {
      for (const auto& [option, value] : list) {
        petsc(PetscOptionsSetValue(nullptr, option.c_str(), value.c_str()));
      }
    }
  }
  ~GivenOptions() { PetscOptionsClear(nullptr); }
  GivenOptions(const GivenOptions&) = delete;
  GivenOptions& operator=(const GivenOptions&) = delete;
};

/// Largest error of the states over the run that this order lets expect.
double bound(const Method& method) {
  const bool first_order = method.hold_order == 0 && method.hold.from_past;
  return first_order ? 2.0 * macro_step : 2.0 * macro_step * macro_step;
}

class EveryCombination : public testing::Test {
 protected:
  static Model read() {
    const std::string path = testing::TempDir() + "every_combination.yaml";
    std::ofstream(path) << pair;
    return read_model_file(path);
  }

  /// Whether it ran; then the error is judged.
  bool runs(const Choices& choices) {
    const GivenOptions options(choices);
    std::unique_ptr<SimulationPlan> plan;
    try {
      plan = std::make_unique<SimulationPlan>(PETSC_COMM_SELF, model_);
    } catch (const InputError& refusal) {
      judge(refusal.what(), choices);
      return false;
    }
    SimulationCore simulation(std::move(plan));
    EXPECT_LT(largest_error(simulation), bound(simulation.plan().settings.method))
        << written(choices);
    return true;
  }

  static double largest_error(SimulationCore& simulation) {
    simulation.start();
    double largest = 0.0;
    while (!simulation.finished()) {
      simulation.advance();
      Eigen::Vector2d states;
      simulation.gather_states({states.data(), 2});
      const double far = (states - exactly(simulation.time())).lpNorm<Eigen::Infinity>();
      largest = far > largest || std::isnan(far) ? far : largest;
    }
    return largest;
  }

  /// How many of them ran.
  int run_all(const std::vector<Choices>& all) {
    int running = 0;
    for (const auto& choices : all) {
      try {
        running += runs(choices) ? 1 : 0;
      } catch (const std::exception& error) {
        ADD_FAILURE() << written(choices) << "passed the checks and then failed: " << error.what();
      }
    }
    std::printf("%zu combinations, %d run\n", all.size(), running);
    for (const auto& [reason, count] : refusals_) {
      std::printf("%5d refused: %s\n", count, reason.c_str());
    }
    return running;
  }

  void judge(const std::string& reason, const Choices& choices) {
    bool names_a_choice = false;
    for (const auto& [option, value] : choices) {
      names_a_choice = names_a_choice || reason.find(option + " ") != std::string::npos;
    }
    EXPECT_TRUE(names_a_choice) << written(choices) << ": " << reason;
    ++refusals_[reason];
  }

  const Model model_ = read();
  std::map<std::string, int> refusals_;
};

TEST_F(EveryCombination, RunsAndIsRightOrIsRefusedWithItsReason) {
  EXPECT_GT(run_all(every_combination()), 150);
}

TEST_F(EveryCombination, InputsAreShapedOrRefusedWithTheReason) {
  EXPECT_GT(run_all(every_shape_of_inputs()), 500);
}

/// What runs, by the four choices of methods 2, so that a refusal too many shows as well.
TEST_F(EveryCombination, WhatMakesSenseRuns) {
  const char* const sensible[] = {
      "snes zoh", "snes foh",         "snes soh",      "snes hermite",
      "none zoh", "none extrapolate", "none extripol",
  };
  for (const std::string words : sensible) {
    const auto space = words.find(' ');
    for (const char* schedule : {"parallel", "sequential", "hierarchical"}) {
      Choices choices = {{"-cosim_schedule", schedule},
                         {"-cosim_solve", words.substr(0, space)},
                         {"-cosim_hold", words.substr(space + 1)}};
      EXPECT_TRUE(runs(choices)) << written(choices);
      choices["-cosim_adapt"] = choices["-cosim_solve"] == "snes" ? "iteration" : "richardson";
      EXPECT_EQ(runs(choices), words != "none extripol") << written(choices);
    }
  }
  EXPECT_TRUE(runs({{"-cosim_type", "missiles"}, {"-cosim_adapt", "predictor"}}));
  EXPECT_TRUE(runs({{"-cosim_schedule", "sequential"}, {"-cosim_adapt", "predictor"}}));
  EXPECT_TRUE(runs({{"-cosim_type", "staggered_grid"}}));
}

}  // namespace every_combination_test
}  // namespace concord
