#include "simulation/halved_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "concord/errors.hpp"
#include "simulation/simulation_core.hpp"

namespace concord {
namespace {

/// How far the second run's outputs are from those that were passed. A difference counts that is
/// there at two neighbouring points, which are no instant: something that happens a macro-step
/// earlier is elsewhere at one of them, whatever the error. Of signals that jump the instants are
/// off, and what counts is the mean: at some points they are as far off as they ever are. What
/// holds leave inside a macro-step, rows there show, if there are any.
class Differences : public StepObserver {
 public:
  Differences(const PassedOutputs& passed, const CommunicationPoint& start, double own_tolerance)
      : passed_(passed),
        own_tolerance_(own_tolerance),
        time_(start.time),
        compared_(start.time),
        begin_(start.outputs),
        signals_(begin_.size()),
        at_ends_(begin_.size()),
        at_rows_(begin_.size()) {
    for (std::size_t o = 0; o < signals_.size(); ++o) {
      signals_[o].see(begin_[o].value, begin_[o].value);
    }
  }

  void step_accepted(const StepReport& report) override {
    const auto& end = report.left != nullptr ? report.left->outputs : report.point->outputs;
    const auto& after = report.point->outputs;
    const double span = report.step.end - time_;
    const std::span<const double> ends = passed_.ends().times(), rows = passed_.rows().times();
    for (const PassedPoint& point : report.inside) {
      while (next_row_ < rows.size() && rows[next_row_] < point.time) ++next_row_;
      if (next_row_ < rows.size() && rows[next_row_] == point.time)
        compare_row(passed_.rows().at(next_row_++), point.outputs);
    }
    for (; next_ < ends.size() && ends[next_] < report.step.end; ++next_) {
      compare(begin_, end, (ends[next_] - time_) / span);
    }
    if (next_ < ends.size() && ends[next_] == report.step.end) {
      compare(begin_, after, 1.0);
      ++next_;
    }
    for (std::size_t o = 0; o < signals_.size(); ++o) {
      signals_[o].see(begin_[o].value, after[o].value);
    }
    time_ = report.step.end;
    begin_ = after;
  }

  std::vector<double> errors() const {
    std::vector<double> result;
    for (std::size_t o = 0; o < signals_.size(); ++o) {
      const bool jumps = signals_[o].jumps();
      result.push_back(std::max({at_ends_[o].error(jumps), at_rows_[o].error(jumps),
                                 own_tolerance_ * signals_[o].magnitude()}));
    }
    return result;
  }

 private:
  struct Signal {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    double largest_change = 0.0;  ///< within a macro-step

    void see(double begin, double end) {
      low = std::min(low, end);
      high = std::max(high, end);
      largest_change = std::max(largest_change, std::abs(end - begin));
    }
    bool jumps() const { return largest_change >= 0.5 * (high - low); }
    double magnitude() const { return std::max(std::abs(low), std::abs(high)); }
  };
  struct Differing {
    double last = std::numeric_limits<double>::infinity(), largest = 0.0, sum = 0.0;
    std::size_t points = 0;

    void see(double difference, bool at_once = false) {
      if (at_once) {
        last = std::min(last, difference);
        return;
      }
      const double lasting = std::min(difference, std::exchange(last, difference));
      largest = std::max(largest, lasting);
      sum += lasting;
      ++points;
    }
    double error(bool jumps) const {
      return jumps ? sum / static_cast<double>(std::max<std::size_t>(points, 1)) : largest;
    }
  };

  /// What lies between communication points where events have moved them is on a line.
  void compare(const std::vector<Sample>& begin, const std::vector<Sample>& end, double part) {
    const auto passed = passed_.ends().at(next_);
    const double time = passed_.ends().times()[next_];
    const bool at_once = time - compared_ <= passed_.ends().instant();
    if (!at_once) compared_ = time;
    for (std::size_t o = 0; o < at_ends_.size(); ++o) {
      const double value = begin[o].value + part * (end[o].value - begin[o].value);
      at_ends_[o].see(std::abs(value - passed[o]), at_once);
    }
  }

  void compare_row(std::span<const double> passed, std::span<const Sample> outputs) {
    for (std::size_t o = 0; o < at_rows_.size(); ++o)
      at_rows_[o].see(std::abs(outputs[o].value - passed[o]));
  }

  const PassedOutputs& passed_;
  double own_tolerance_;  ///< of what integrates by itself, which no macro-step changes
  std::size_t next_ = 0, next_row_ = 0;
  double time_;
  double compared_;  ///< the last end that was
  std::vector<Sample> begin_;
  std::vector<Signal> signals_;
  std::vector<Differing> at_ends_, at_rows_;
};

/// Of macro-steps that a control has chosen, but for those within an instant. Events are where they
/// are in this run, which may be just behind.
void pass_by_halves(SimulationCore& simulation, const PassedOutputs& passed,
                    const std::function<bool(double)>& go_on) {
  const PassedOutputs::Series& ends = passed.ends();
  const auto parts = static_cast<double>(2 * ends.every());
  double begin = simulation.time();
  for (std::size_t i = 0; i < ends.times().size(); ++i) {
    const double end = ends.times()[i];
    if (end - begin <= ends.instant()) continue;
    for (double part = 1.0; part < parts + (ends.is_event(i) ? 0.0 : 1.0); ++part) {
      const double goal = part < parts ? begin + (end - begin) * part / parts : end;
      if (goal <= simulation.time()) continue;
      simulation.stop_over(goal);
      while (simulation.time() < goal && !simulation.finished()) {
        if (!go_on(simulation.advance())) {
          return;
        }
      }
    }
    begin = end;
  }
}

}  // namespace

void PassedOutputs::step_accepted(const StepReport& report) {
  for (const PassedPoint& row : report.inside) rows_.add(row.time, row.outputs);
  ends_.add(report.step.end, report.point->outputs, report.left != nullptr);
}

void PassedOutputs::Series::add(double time, std::span<const Sample> outputs, bool event) {
  constexpr std::size_t most = 4'000'000;
  longest_ = std::max(longest_, time - std::exchange(last_, time));
  if (++added_ % every_ != 0) return;
  times_.push_back(time);
  events_.push_back(event ? 1 : 0);
  for (const Sample& output : outputs) values_.push_back(output.value);
  if (std::max(times_.size(), values_.size()) > most) keep_half();
}

/// Those whose index is a multiple of twice what it was.
void PassedOutputs::Series::keep_half() {
  const std::size_t width = values_.size() / times_.size(), half = times_.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    times_[i] = times_[2 * i + 1];
    events_[i] = events_[2 * i + 1];
    std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>((2 * i + 1) * width), width,
                values_.begin() + static_cast<std::ptrdiff_t>(i * width));
  }
  times_.resize(half);
  events_.resize(half);
  values_.resize(half * width);
  every_ *= 2;
}

std::vector<double> errors_by_halving(const SimulationPlan& plan, const PassedOutputs& passed,
                                      const std::function<bool(double)>& go_on) {
  constexpr double of_first_order = 2.0;  // e(h) - e(h/2) = e(h)/2; of higher ones it is more
  Model model = plan.model;
  const bool fixed = plan.settings.adapt == Adapt::none;
  model.step_share = fixed ? 0.5 : 1.0;
  auto halved = std::make_unique<SimulationPlan>(plan.comm, std::move(model));
  halved->share = plan.share;
  SimulationCore simulation(std::move(halved));
  simulation.start();
  Differences differences(passed, simulation.stepper().point(),
                          plan.settings.defaults.tolerance.relative);
  simulation.observe(differences);
  if (!fixed) {
    pass_by_halves(simulation, passed, go_on);
  }
  simulation.advance_while(go_on);
  if (!simulation.finished()) {
    simulation.require_sound_subsystems();
    throw SimulationError("it was stopped at t = " + std::to_string(simulation.time()) + " s");
  }
  std::vector<double> errors = differences.errors();
  for (double& error : errors) error *= of_first_order;
  return errors;
}

}  // namespace concord
