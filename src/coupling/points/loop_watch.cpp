#include "coupling/points/loop_watch.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "concord/errors.hpp"
#include "coupling/points/zero_stability.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

/// Change of an entry of D, relative to the largest, that rounding doesn't make.
constexpr double unchanged = 1e-13;
constexpr int longest_wait = 16;

/// Inputs of a loop up to which eigenvalues cost little.
constexpr std::size_t most_inputs_for_eigenvalues = 100;

bool leaves_outputs(const Method& method, const Network& network) {
  return method.solve.from_past && !method.makes_outputs_consistent(network) &&
         method.extrapolation == Extrapolation::lagrange && !method.takes_balance();
}

}  // namespace

std::vector<double> LoopWatch::numbers_of(const Loop& loop) {
  std::vector<double> numbers{loop.known ? 1.0 : 0.0,         loop.time,
                              static_cast<double>(loop.sign), static_cast<double>(loop.wait),
                              static_cast<double>(loop.left), loop.growth};
  if (loop.known) {
    numbers.insert(numbers.end(), loop.jacobian.begin(), loop.jacobian.end());
  }
  return numbers;
}

void LoopWatch::take_numbers(std::span<const double> numbers, Loop& loop) {
  loop.known = numbers[0] != 0.0;
  loop.time = numbers[1];
  loop.sign = static_cast<int>(numbers[2]);
  loop.wait = static_cast<int>(numbers[3]);
  loop.left = static_cast<int>(numbers[4]);
  loop.growth = numbers[5];
  loop.jacobian.assign(numbers.begin() + 6, numbers.end());
}

LoopWatch::LoopWatch(RankNetwork& subsystems, const Method& method)
    : subsystems_(subsystems),
      method_(method),
      at_point_(subsystems),
      explicit_(leaves_outputs(method, subsystems.network())) {
  const Network& network = subsystems.network();
  for (const auto& component : network.components()) {
    if (component.loop) {
      loops_.push_back({LoopEquations(subsystems, component), false, {}, {}});
    }
  }
  if (loops_.empty() || !explicit_) {
    return;
  }
  known_ = known_in_sequence(network, method.groups);
  from_first_.resize(network.n_inputs(), false);
  for (std::size_t i = 0; method.schedule.half_steps_apart && i < known_.size(); ++i) {
    const auto& first = method.groups.front();
    const auto& link = network.coupled_links()[i];
    from_first_[i] = link && std::find(first.begin(), first.end(),
                                       network.subsystem_of_output(link->output)) != first.end();
  }
}

void LoopWatch::restart(PointEvaluation* point, std::span<const Sample> inputs) {
  for (Loop& loop : loops_) {
    if (loop.equations.here()) {
      visit(loop, chosen(point), inputs, true);
    }
  }
  agree();
}

void LoopWatch::look(PointEvaluation* point, std::span<const Sample> inputs, bool last) {
  for (Loop& loop : loops_) {
    if (loop.equations.here() && loop.known && (--loop.left <= 0 || last)) {
      visit(loop, chosen(point), inputs, false);
    }
  }
  agree();
}

void LoopWatch::visit(Loop& loop, PointEvaluation& point, std::span<const Sample> inputs,
                      bool anew) {
  std::swap(loop.before, loop.jacobian);
  loop.known = loop.equations.linearize(point, inputs, loop.jacobian);
  if (!loop.known) {
    return;
  }
  const bool moved = anew || changed(loop);
  loop.wait = moved ? 1 : std::min(2 * loop.wait, longest_wait);
  loop.left = loop.wait;
  if (moved) {
    compare_signs(loop, point, anew);
    check_stability(loop, point);
  }
  loop.time = point.time();
}

/// What the ranks that take part have in common, as numbers.
void LoopWatch::io(Archive& archive) {
  for (Loop& loop : loops_) {
    std::vector<double> numbers;
    if (!archive.reading()) {
      numbers = known_to_some(subsystems_.comm(),
                              loop.equations.here() ? numbers_of(loop) : std::vector<double>());
    }
    CONCORD_MEMBERS(archive, numbers);
    if (archive.reading() && loop.equations.here()) {
      take_numbers(numbers, loop);
    }
  }
}

bool LoopWatch::changed(const Loop& loop) const {
  double largest = 0.0;
  double change = 0.0;
  for (std::size_t e = 0; e < loop.jacobian.size(); ++e) {
    const double size = std::max(std::abs(loop.jacobian[e]), std::abs(loop.before[e]));
    largest = std::max(largest, size);
    if (size > 0.0) {
      change = std::max(change, std::abs(loop.jacobian[e] - loop.before[e]) / size);
    }
  }
  return largest > 0.0 && change > unchanged;
}

void LoopWatch::compare_signs(Loop& loop, PointEvaluation& point, bool anew) {
  const auto& equations = loop.equations;
  const int before = anew ? 0 : loop.sign;
  factors_.compute(equations.row_starts(), equations.columns(), loop.jacobian);
  loop.sign = factors_.sign();
  if (loop.sign == before || (anew && loop.sign != 0)) {
    return;
  }
  std::ostringstream text;
  text.precision(12);
  text << "the algebraic loop " << equations.text() << " becomes singular ";
  if (loop.sign == 0) {
    text << "at t = " << point.time() << " s: det(I - P D) of its direct feedthrough D is 0";
  } else {
    text << "between t = " << loop.time << " and " << point.time()
         << " s: det(I - P D) of its direct feedthrough D changes its sign";
  }
  text << ", so that the solution has a pole there or ends; change the loop's gains, or stop the "
          "run before it (-cosim_stop)";
  failure_ = text.str();
}

double LoopWatch::growth_of(const Loop& loop) const {
  const auto& equations = loop.equations;
  const auto n = static_cast<Eigen::Index>(equations.size());
  Eigen::MatrixXd gains = Eigen::MatrixXd::Identity(n, n);
  std::vector<bool> known, from_first;
  for (std::size_t row = 0; row < equations.size(); ++row) {
    for (auto e = equations.row_starts()[row]; e < equations.row_starts()[row + 1]; ++e) {
      gains(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(equations.columns()[e])) -=
          loop.jacobian[e];
    }
    known.push_back(known_[equations.input(row)]);
    from_first.push_back(from_first_[equations.input(row)]);
  }
  return method_.schedule.half_steps_apart
             ? growth_factor(staggered_product(gains, from_first), 0)
             : growth_factor(loop_product(gains, known), method_.hold_order);
}

void LoopWatch::check_stability(Loop& loop, PointEvaluation& point) {
  if (!explicit_ || failure_ || loop.equations.size() > most_inputs_for_eigenvalues) {
    return;
  }
  loop.growth = growth_of(loop);
  if (loop.growth < 1.0) {
    return;
  }
  std::ostringstream text;
  text.precision(4);
  text << "-cosim_type " << method_.type << " is unstable on the algebraic loop "
       << loop.equations.text() << ": from t = " << point.time()
       << " s on, with inputs extrapolated with order " << method_.hold_order
       << ", errors of its outputs grow " << loop.growth
       << " times in every macro-step, however small; use an implicit method (-cosim_type jfm or "
          "missiles), or -cosim_consistent_outputs true where all its subsystems give outputs for "
          "given inputs"
       << (method_.hold_order > 0 ? ", or a lower -cosim_hold_order" : "");
  failure_ = text.str();
}

/// No messages without loops.
void LoopWatch::agree() {
  if (loops_.empty()) {
    return;
  }
  if (agree_on_largest(subsystems_.comm(), failure_ ? 1 : 0) != 0) {
    throw SimulationError(*agree_on_text(subsystems_.comm(), failure_));
  }
}

std::string LoopWatch::describe() const {
  std::ostringstream text;
  text.precision(4);
  for (const Loop& loop : loops_) {
    const double known =
        agree_on_largest(subsystems_.comm(), loop.equations.here() && loop.known ? 1.0 : 0.0);
    const double growth =
        agree_on_largest(subsystems_.comm(), loop.equations.here() ? loop.growth : 0.0);
    text << "algebraic loop " << loop.equations.text() << ": ";
    if (known == 0.0) {
      text << "a subsystem gives no linearisation, so that poles";
      text << (method_.solve.from_past && !method_.consistent_outputs
                   ? " and the stability of the explicit method are"
                   : " are")
           << " not watched\n";
    } else if (explicit_ && growth > 0.0) {
      text << "errors shrink to " << growth << " in a macro-step (zero-stable)\n";
    } else {
      text << "watched for poles\n";
    }
  }
  return text.str();
}

}  // namespace concord
