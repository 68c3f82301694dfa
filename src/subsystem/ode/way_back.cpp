#include "subsystem/ode/way_back.hpp"

#include <algorithm>
#include <typeinfo>

namespace concord {
namespace {

std::vector<std::byte> course_of(Integrator& integrator) {
  Archive course;
  integrator.pass_course(course);
  return course.bytes();
}

}  // namespace

WayBack::WayBack(CheckedModel& model, IntegratorKind kind)
    : rhs_(model, {}), x_end_(model.state_count()), end_inputs_(model.input_count()) {
  if (model.state_count() == 0) return;
  integrator_ = make_integrator(rhs_, kind);
  fresh_ = course_of(*integrator_);
}

void WayBack::begin(Integrator* other) {
  if (!integrator_) return;
  const bool alike = other != nullptr && typeid(*other) == typeid(*integrator_);
  Archive course(alike ? course_of(*other) : fresh_);
  integrator_->pass_course(course);
}

bool WayBack::follow(const MacroStep& step, std::span<const Polynomial> inputs,
                     const ErrorWeights& weights, std::span<double> x) {
  for (std::size_t i = 0; i < inputs.size(); ++i) end_inputs_[i] = inputs[i].at(step.size());
  if (!integrator_) return true;
  rhs_.weights() = weights;
  rhs_.begin_step(step, inputs);
  if (integrator_->integrate(step.size(), History::discard, x, x_end_) == Outcome::failed)
    return false;
  std::copy(x_end_.begin(), x_end_.end(), x.begin());
  return true;
}

}  // namespace concord
