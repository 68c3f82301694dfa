#pragma once

#include <arkode/arkode.h>
#include <nvector/nvector_serial.h>

#include <memory>
#include <string>

#include "subsystem/ode/micro_steps.hpp"
#include "subsystem/ode/one_step_pair.hpp"
#include "support/sundials_handle.hpp"

namespace concord {

/// An embedded Runge-Kutta pair of ARKODE: explicit (ERKStep) or implicit (ARKStep).
class Arkode : public OneStepPair {
 public:
  Arkode(const Arkode&) = delete;
  Arkode& operator=(const Arkode&) = delete;

  /// The first micro-step is what ARKODE guesses where `first_size` is 0.
  void begin(double tau, double first_size, double smallest_size) override = 0;
  virtual void limit_next_size(double size) = 0;

  /// Towards `end`, into x(); ARK_NORMAL or ARK_ONE_STEP. Returns ARKODE's code.
  virtual int evolve(double end, double& tau, int task) = 0;
  int evolve(double end) override {
    double tau = 0.0;
    return evolve(end, tau, ARK_NORMAL);
  }

  /// Of the next micro-step, or of the one that failed.
  virtual double current_size() const = 0;

  std::span<double> x() override { return {NV_DATA_S(x_.get()), rhs_.state_count()}; }

  std::string explain(int code) const override { return explain_arkode(code, current_size()); }

 protected:
  Arkode(RightHandSide& rhs, Driver driver, Roots roots);

  SUNContext context() const { return context_.get(); }
  N_Vector vector() const { return x_.get(); }
  RightHandSide& rhs() const { return rhs_; }
  std::size_t root_count() const { return roots_.count; }
  bool adapts() const { return static_cast<bool>(driver_.adapt); }
  double multiple_of_tolerance() const {
    return driver_.multiple_of_tolerance ? driver_.multiple_of_tolerance() : 1.0;
  }

  // Callbacks; `self` is the Arkode.
  static int evaluate(sunrealtype tau, N_Vector x, N_Vector dxdt, void* self);
  static int weigh(N_Vector x, N_Vector weights, void* self);
  static int find_roots(sunrealtype tau, N_Vector x, sunrealtype* z, void* self);
  static int adapt(N_Vector x, sunrealtype tau, sunrealtype size, sunrealtype, sunrealtype,
                   sunrealtype error, sunrealtype, sunrealtype, int q, int p, sunrealtype* optimal,
                   void* self);
  static int after_step(sunrealtype tau, N_Vector x, void* self);

  static std::span<double> view(const Arkode& self, N_Vector v) {
    return {NV_DATA_S(v), self.rhs_.state_count()};
  }

 private:
  RightHandSide& rhs_;
  Driver driver_;
  Roots roots_;
  sundials_handle::Context context_;
  sundials_handle::Vector x_;
};

/// Dormand and Prince (1980), 5(4), whose micro-steps ARKODE chooses.
std::unique_ptr<Arkode> make_explicit_arkode(RightHandSide& rhs, Roots roots);

/// Kennedy and Carpenter (2019), ESDIRK4(3)6L[2]SA, L-stable, with a direct Newton iteration;
/// a driver without functions leaves the micro-steps to ARKODE.
std::unique_ptr<Arkode> make_implicit_arkode(RightHandSide& rhs, Arkode::Driver driver,
                                             Roots roots);

}  // namespace concord
