#include <arkode/arkode_erkstep.h>
#include <nvector/nvector_serial.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "concord/errors.hpp"
#include "subsystem/ode/hybrid_model.hpp"
#include "subsystem/ode/integrator.hpp"
#include "support/sundials_handle.hpp"

namespace concord {

namespace {

constexpr int most_events = 100'000;  ///< in one macro-step

/// Explicit Runge-Kutta pairs by ARKODE, stopped at events.
///
/// State events are located by ARKODE's root finding on its Hermite interpolant; time events end
/// a micro-step. An indicator whose sign at the macro-step's begin differs from what it was (inputs
/// may jump there) is an event, too.
class EventIntegrator final : public Integrator {
 public:
  EventIntegrator(RightHandSide& rhs, const SubsystemSettings& settings, HybridModel& model);

  Outcome integrate(double h, History history, std::span<const double> x_begin,
                    std::span<double> x_end) override;
  std::string failure() const override;
  double reached() const override { return reached_; }
  void save() override {
    model_.save();
    saved_above_ = above_;
    saved_size_ = size_;
  }
  void restore() override {
    model_.restore();
    rhs_.forget();
    above_ = saved_above_;
    size_ = saved_size_;
  }

 private:
  static int evaluate(realtype tau, N_Vector x, N_Vector dxdt, void* self);
  static int find_roots(realtype tau, N_Vector x, realtype* z, void* self);
  static void ignore_message(int, const char*, const char*, char*, void*) {}
  std::span<double> states() { return {NV_DATA_S(x_.get()), n_}; }
  bool run(double h);
  bool run_to(double end, double h);
  bool handle_event();
  bool evaluate_indicators(std::vector<double>& z);
  std::vector<char> signs(const std::vector<double>& z) const;

  HybridModel& model_;
  sundials_handle::Context context_;
  sundials_handle::Vector x_;
  sundials_handle::ErkStepMemory memory_;
  std::size_t n_;  ///< states; the vector has one entry at least
  std::vector<double> z_;
  std::vector<char> above_, saved_above_;  ///< signs of the indicators at the last point
  double size_ = 0.0, saved_size_ = 0.0;   ///< of the last micro-step that nothing cut short
  double reached_ = 0.0;
  int flag_ = ARK_SUCCESS;
  std::string reason_;
};

EventIntegrator::EventIntegrator(RightHandSide& rhs, const SubsystemSettings& settings,
                                 HybridModel& model)
    : Integrator(rhs),
      model_(model),
      context_(sundials_handle::make_context()),
      n_(rhs.state_count()),
      z_(model.indicator_count()) {
  const auto length = static_cast<sunindextype>(std::max<std::size_t>(n_, 1));
  x_.reset(N_VNew_Serial(length, context_.get()));
  N_VConst(0.0, x_.get());
  memory_.reset(ERKStepCreate(&EventIntegrator::evaluate, 0.0, x_.get(), context_.get()));
  void* const erk = memory_.get();
  ERKStepSetUserData(erk, this);
  ERKStepSetErrHandlerFn(erk, &EventIntegrator::ignore_message, nullptr);
  ERKStepSetTableNum(erk, ARKODE_DORMAND_PRINCE_7_4_5);
  ERKStepSetAdaptivityMethod(erk, ARK_ADAPT_I, 1, 0, nullptr);  // without a memory
  ERKStepSStolerances(erk, settings.rtol, settings.atol);
  ERKStepSetMaxNumSteps(erk, max_micro_steps);
  ERKStepSetMaxErrTestFails(erk, 20);
  ERKStepSetMaxHnilWarns(erk, 0);
  if (z_.empty()) return;
  ERKStepRootInit(erk, static_cast<int>(z_.size()), &EventIntegrator::find_roots);
  ERKStepSetNoInactiveRootWarn(erk);
}

int EventIntegrator::evaluate(realtype tau, N_Vector x, N_Vector dxdt, void* self) {
  auto& integrator = *static_cast<EventIntegrator*>(self);
  N_VConst(0.0, dxdt);
  return integrator.rhs_.evaluate(tau, {NV_DATA_S(x), integrator.n_},
                                  {NV_DATA_S(dxdt), integrator.n_});
}

int EventIntegrator::find_roots(realtype tau, N_Vector x, realtype* z, void* self) {
  auto& integrator = *static_cast<EventIntegrator*>(self);
  return integrator.rhs_.at(tau, [&](double t, std::span<const double> u) {
    integrator.model_.indicators(t, {NV_DATA_S(x), integrator.n_}, u, {z, integrator.z_.size()});
  });
}

std::vector<char> EventIntegrator::signs(const std::vector<double>& z) const {
  std::vector<char> result;
  for (const double value : z) result.push_back(value > 0.0 ? 1 : 0);
  return result;
}

bool EventIntegrator::evaluate_indicators(std::vector<double>& z) {
  return rhs_.at(reached_, [&](double t, std::span<const double> u) {
    model_.indicators(t, states(), u, z);
  }) == RightHandSide::ok;
}

/// Events at the reached point, and where the indicators stand after them.
bool EventIntegrator::handle_event() {
  const int flag = rhs_.at(
      reached_, [&](double t, std::span<const double> u) { model_.handle_event(t, states(), u); });
  rhs_.forget();
  if (flag != RightHandSide::ok || !evaluate_indicators(z_)) return false;
  above_ = signs(z_);
  return true;
}

Outcome EventIntegrator::integrate(double h, History /*history*/, std::span<const double> x_begin,
                                   std::span<double> x_end) {
  std::copy(x_begin.begin(), x_begin.end(), NV_DATA_S(x_.get()));
  reached_ = 0.0;
  reason_.clear();
  const bool good = run(h);
  rhs_.rethrow();
  if (!good) return Outcome::failed;
  std::copy_n(NV_DATA_S(x_.get()), n_, x_end.begin());
  return Outcome::ok;
}

bool EventIntegrator::run(double h) {
  if (!evaluate_indicators(z_)) return false;
  if (above_.empty()) above_ = signs(z_);
  if (signs(z_) != above_ && !handle_event()) return false;
  for (int events = 0; reached_ < h; ++events) {
    if (events > most_events) {
      reason_ = "too many events";
      return false;
    }
    const double event = model_.next_time_event() - rhs_.begin();
    const double end = std::min(h, std::max(event, reached_));
    if (end > reached_ && !run_to(end, h)) return false;
    if (reached_ >= event - smallest_micro_step * h && !handle_event()) return false;
  }
  return true;
}

/// To `end` or to the first state or step event, which is handled.
bool EventIntegrator::run_to(double end, double h) {
  void* const erk = memory_.get();
  ERKStepReset(erk, reached_, x_.get());
  ERKStepSetInitStep(erk, size_ > 0.0 ? std::min(size_, end - reached_) : 0.0);
  ERKStepSetStopTime(erk, end);
  ERKStepSetMinStep(erk, smallest_micro_step * h);
  while (reached_ < end) {
    double tau = reached_;
    flag_ = ERKStepEvolve(erk, end, x_.get(), &tau, ARK_ONE_STEP);
    if (flag_ < 0) return false;
    ++micro_steps_;
    reached_ = tau;
    if (flag_ != ARK_TSTOP_RETURN && flag_ != ARK_ROOT_RETURN) size_ = 0.0;
    double next = 0.0;
    ERKStepGetCurrentStep(erk, &next);
    size_ = std::max(next, size_);
    if (flag_ == ARK_ROOT_RETURN) return handle_event();
    bool step_event = false;
    const int flag = rhs_.at(reached_, [&](double t, std::span<const double> u) {
      step_event = model_.completed_step(t, states(), u);
    });
    if (flag != RightHandSide::ok) return false;
    if (step_event) return handle_event();
  }
  if (!evaluate_indicators(z_)) return false;
  above_ = signs(z_);
  return true;
}

std::string EventIntegrator::failure() const {
  if (rhs_.last_failed()) return rhs_.model().failure();
  const std::string reason = reason_.empty() ? "ARKODE returned " + std::to_string(flag_) : reason_;
  return integration_failure("erk with events", rhs_, reason, reached_);
}

}  // namespace

std::unique_ptr<Integrator> make_event_integrator(RightHandSide& rhs,
                                                  const SubsystemSettings& settings,
                                                  HybridModel& model) {
  return std::make_unique<EventIntegrator>(rhs, settings, model);
}

}  // namespace concord
