#include "subsystem/ode/cvode.hpp"

#include <algorithm>
#include <cmath>

namespace concord {

using sundials_handle::made;
using sundials_handle::require;

Cvode::Cvode(RightHandSide& rhs, int method, const char* name, Roots roots)
    : Integrator(rhs),
      name_(name),
      roots_(std::move(roots)),
      context_(sundials_handle::make_context()) {
  const auto n = static_cast<sunindextype>(rhs.state_count());
  x_.reset(made(N_VNew_Serial(n, context_.get())));
  error_.reset(made(N_VNew_Serial(n, context_.get())));
  weights_.reset(made(N_VNew_Serial(n, context_.get())));
  require(N_VEnableFusedOps_Serial(x_.get(), SUNTRUE));
  N_VConst(0.0, x_.get());
  memory_.reset(made(CVodeCreate(method, context_.get())));
  void* const cvode = memory_.get();
  require(sundials_handle::silence_cvode(cvode));
  require(CVodeInit(cvode, &Cvode::evaluate, 0.0, x_.get()));
  require(CVodeSetUserData(cvode, static_cast<void*>(this)));
  require(CVodeWFtolerances(cvode, &Cvode::weigh));
  require(CVodeSetMaxNumSteps(cvode, max_micro_steps));
  require(CVodeSetMaxErrTestFails(cvode, 20));
  require(CVodeSetMaxConvFails(cvode, 20));
  require(CVodeSetMaxHnilWarns(cvode, -1));
  if (roots_.count == 0) return;
  require(CVodeRootInit(cvode, static_cast<int>(roots_.count), &Cvode::find_roots));
  require(CVodeSetNoInactiveRootWarn(cvode));
}

int Cvode::evaluate(sunrealtype time, N_Vector x, N_Vector dxdt, void* self) {
  const Cvode& cvode = *static_cast<Cvode*>(self);
  const std::size_t n = cvode.rhs_.state_count();
  return cvode.rhs_.evaluate(cvode.tau(time), {NV_DATA_S(x), n}, {NV_DATA_S(dxdt), n});
}

int Cvode::weigh(N_Vector x, N_Vector weights, void* self) {
  const RightHandSide& rhs = static_cast<Cvode*>(self)->rhs_;
  const std::size_t n = rhs.state_count();
  rhs.weights().weigh({NV_DATA_S(x), n}, 1.0, {NV_DATA_S(weights), n});
  return 0;
}

int Cvode::find_roots(sunrealtype time, N_Vector x, sunrealtype* z, void* self) {
  const Cvode& cvode = *static_cast<Cvode*>(self);
  return cvode.roots_.evaluate(cvode.tau(time), {NV_DATA_S(x), cvode.rhs_.state_count()},
                               {z, cvode.roots_.count});
}

Outcome Cvode::integrate(double h, History history, std::span<const double> x_begin,
                         std::span<double> x_end) {
  begin(h, history, x_begin);
  rhs_.path_begins(x_begin);
  long steps_before = 0, steps_after = 0;
  require(CVodeGetNumSteps(native(), &steps_before));
  flag_ = evolve(times_.begin + h);
  require(CVodeGetNumSteps(native(), &steps_after));
  micro_steps_ += steps_after - steps_before;
  times_.reached = times_.cvode - times_.begin;
  rhs_.rethrow();
  if (flag_ < 0) return Outcome::failed;
  std::copy_n(NV_DATA_S(x_.get()), x_end.size(), x_end.begin());
  return Outcome::ok;
}

void Cvode::begin(double h, History history, std::span<const double> x) {
  times_.h = h;
  continued_ = !restarts(h, history);
  if (!continued_) restart(0.0, x);
  times_.begin = times_.cvode;
}

/// CVODE's time must not grow so large beside h that rounding spoils h.
bool Cvode::restarts(double h, History history) const {
  return history == History::discard || !has_history_ || times_.cvode > 1e5 * h;
}

void Cvode::restart(double tau, std::span<const double> x) {
  std::copy(x.begin(), x.end(), NV_DATA_S(x_.get()));
  has_history_ = false;
  times_.begin = 0.0;
  times_.cvode = times_.reached = tau;
  require(CVodeReInit(native(), times_.cvode, x_.get()));
  require(CVodeSetInitStep(native(), std::min(now_.first_size, times_.h - tau)));
}

/// One micro-step after the other.
int Cvode::evolve(double end) {
  const std::span<const double> x(NV_DATA_S(x_.get()), rhs_.state_count());
  errors_.assign(x.size(), 0.0);
  for (long steps = 1;; ++steps) {
    const int flag = one_step(end);
    has_history_ = flag >= 0;
    if (flag < 0) return flag;
    const bool done = flag == CV_TSTOP_RETURN || times_.cvode >= end;
    rhs_.path_reaches(done ? times_.h : tau(times_.cvode), x);
    add_error();
    if (done) return flag;
    if (steps > max_micro_steps) return CV_TOO_MUCH_WORK;
  }
}

void Cvode::add_error() {
  require(CVodeGetEstLocalErrors(native(), error_.get()));
  for (std::size_t i = 0; i < errors_.size(); ++i) errors_[i] += NV_Ith_S(error_.get(), i);
}

/// Smaller micro-steps than the smallest would not move CVODE's time.
int Cvode::one_step(double end) {
  require(CVodeSetStopTime(native(), end));
  require(CVodeSetMinStep(native(), smallest_micro_step * end));
  const int flag = CVode(native(), end, x_.get(), &times_.cvode, CV_ONE_STEP);
  if (flag >= 0 && !has_history_) recommend_first_size();
  return flag;
}

MicroSteps::End Cvode::step(double end, double& tau, std::span<double> x) {
  flag_ = one_step(times_.begin + end);
  has_history_ = flag_ >= 0;
  if (flag_ < 0) return End::failed;
  tau = times_.reached = flag_ == CV_TSTOP_RETURN ? end : times_.cvode - times_.begin;
  std::copy_n(NV_DATA_S(x_.get()), x.size(), x.begin());
  return flag_ == CV_ROOT_RETURN ? End::root : End::usual;
}

/// The size at which the order-1 error of the first micro-step would have been half the tolerance.
void Cvode::recommend_first_size() {
  double size = 0.0;
  require(CVodeGetLastStep(native(), &size));
  require(CVodeGetEstLocalErrors(native(), error_.get()));
  require(CVodeGetErrWeights(native(), weights_.get()));
  const double error = N_VWrmsNorm(error_.get(), weights_.get());
  now_.first_size = size * std::clamp(std::sqrt(0.5 / std::max(error, 1e-300)), 0.1, 10.0);
}

void Cvode::restore() {
  now_ = saved_;
  has_history_ = false;
}

std::string Cvode::failure() const {
  double size = 0.0;
  require(CVodeGetLastStep(native(), &size));
  const std::string after_step = " after a micro-step of " + in_words(size) + " s";
  const auto because = [&](const std::string& reason) {
    return integration_failure(name_, rhs_, reason, times_.reached);
  };
  switch (flag_) {
    case CV_TOO_MUCH_WORK:
      return because("the macro-step needs too many micro-steps");
    case CV_TOO_MUCH_ACC:
      return because("the tolerances are below rounding errors");
    case CV_ERR_FAILURE:
      return because("the error test failed too often" + after_step);
    case CV_CONV_FAILURE:
      return because("the corrector did not converge" + after_step);
    default:
      return because("CVODE returned " + std::to_string(flag_) + after_step);
  }
}

}  // namespace concord
