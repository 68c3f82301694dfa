#include "record/step_sums.hpp"

#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "simulation/step_report.hpp"

namespace concord {
namespace {

constexpr StepDataset datasets[] = {
    {"/steps/size", Number::f64, 0.0,
     [](double& sum, const StepReport& step) { sum += step.step.size(); }},
    {"/steps/iterations", Number::i32, 0.0,
     [](double& sum, const StepReport& step) { sum += step.coupling.iterations; }},
    {"/steps/coupling_evaluations", Number::i32, 0.0,
     [](double& sum, const StepReport& step) { sum += step.coupling.evaluations; }},
    {"/steps/linear_iterations", Number::i32, 0.0,
     [](double& sum, const StepReport& step) { sum += step.coupling.linear_iterations; }},
    {"/steps/rejections", Number::i32, 0.0,
     [](double& sum, const StepReport& step) { sum += step.rejections; }},
    {"/steps/residual", Number::f64, 0.0,
     [](double& sum, const StepReport& step) { sum = std::fmax(sum, step.coupling.residual); }},
    {"/steps/error_estimate", Number::f64, std::numeric_limits<double>::quiet_NaN(),
     [](double& sum, const StepReport& step) { sum = std::fmax(sum, step.error_estimate); }},
    {"/steps/wall_time", Number::f64, 0.0,
     [](double& sum, const StepReport& step) { sum += step.wall_time; }},
    {"/steps/time", Number::f64, 0.0,
     [](double& sum, const StepReport& step) { sum = step.step.end; }, true},
};

/// Calls that the compiler sees through: every macro-step pays for them.
template <std::size_t... i>
void add_each(double* sums, const StepReport& step, std::index_sequence<i...> /*each*/) {
  (datasets[i].add(sums[i], step), ...);
}

}  // namespace

std::span<const StepDataset> step_datasets() { return datasets; }

StepSums::StepSums() : values_(std::size(datasets)) { clear(); }

void StepSums::add(const StepReport& step) {
  add_each(values_.data(), step, std::make_index_sequence<std::size(datasets)>());
}

void StepSums::io(Archive& archive) {
  constexpr auto wall_time = [] {
    std::size_t i = 0;
    while (std::string_view(datasets[i].path) != "/steps/wall_time") ++i;
    return i;
  }();
  const double own = std::exchange(values_[wall_time], 0.0);
  CONCORD_MEMBERS(archive, values_);
  if (!archive.reading()) values_[wall_time] = own;
}

void StepSums::clear() {
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = datasets[i].before;
}

}  // namespace concord
