#pragma once

#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "simulation/simulation_plan.hpp"
#include "simulation/step_report.hpp"

namespace concord {

/// This rank's outputs at a run's communication points, and at rows between these (GridRows).
class PassedOutputs : public StepObserver {
 public:
  /// At points in the order of time; where these are too many, at every second, fourth, ... of
  /// them.
  class Series {
   public:
    /// `event`: something happens there.
    void add(double time, std::span<const Sample> outputs, bool event = false);

    std::int64_t every() const { return every_; }
    /// What is no time between two of them.
    double instant() const {
      constexpr double of_longest = 1e-6;
      return of_longest * longest_;
    }
    std::span<const double> times() const { return times_; }
    bool is_event(std::size_t point) const { return events_[point] != 0; }
    std::span<const double> at(std::size_t point) const {
      const std::size_t width = values_.size() / times_.size();
      return std::span(values_).subspan(point * width, width);
    }

   private:
    void keep_half();

    std::int64_t every_ = 1, added_ = 0;
    double last_ = std::numeric_limits<double>::infinity(), longest_ = 0.0;  ///< time between two
    std::vector<double> times_, values_;
    std::vector<char> events_;
  };

  void step_accepted(const StepReport& report) override;

  const Series& ends() const { return ends_; }
  const Series& rows() const { return rows_; }

 private:
  Series ends_, rows_;
};

/// The largest errors of this rank's outputs, in their units, in the run by `plan` that was at
/// `passed`: what a second run in halves of its macro-steps says (step doubling; Hairer, Norsett
/// and Wanner, Solving ODEs I, II.4), which goes on while `go_on(wall time of the last macro-step)`
/// says so. Throws SimulationError or InputError where that does not reach the stop. Collective.
std::vector<double> errors_by_halving(const SimulationPlan& plan, const PassedOutputs& passed,
                                      const std::function<bool(double)>& go_on);

}  // namespace concord
