#pragma once

#include <arkode/arkode.h>
#include <nvector/nvector_serial.h>

#include <functional>
#include <memory>
#include <string>

#include "subsystem/ode/micro_steps.hpp"
#include "subsystem/ode/right_hand_side.hpp"
#include "support/sundials_handle.hpp"

namespace concord {

/// An embedded Runge-Kutta pair of ARKODE: explicit (ERKStep) or implicit (ARKStep). Nothing is
/// remembered from before `begin`, so that equal calls give equal bits.
class Arkode {
 public:
  /// What drives the pair may choose the micro-steps.
  struct Driver {
    /// The size after an attempt of `size` whose error is `error` in units of the tolerance and
    /// grows with size^(p+1).
    std::function<double(double size, double error, int p)> adapt;
    std::function<void(double tau)> accepted;
    std::function<double()> multiple_of_tolerance;
  };

  virtual ~Arkode() = default;
  Arkode(const Arkode&) = delete;
  Arkode& operator=(const Arkode&) = delete;

  /// As in messages and options.
  virtual const char* name() const = 0;

  /// At (tau, x()); the first micro-step has `first_size`, or what ARKODE guesses where that is 0.
  virtual void begin(double tau, double first_size, double smallest_size) = 0;
  virtual void limit_next_size(double size) = 0;

  /// Towards `end`, into x(); ARK_NORMAL or ARK_ONE_STEP. Returns ARKODE's code.
  virtual int evolve(double end, double& tau, int task) = 0;

  /// Of the next micro-step, or of the one that failed.
  virtual double current_size() const = 0;

  std::span<double> x() const { return {NV_DATA_S(x_.get()), rhs_.state_count()}; }

  /// One sentence on what a code of `evolve` says.
  std::string explain(int code) const;

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

/// ARKODE's safety factor: its micro-steps are this fraction of what the controller proposes.
inline constexpr double arkode_safety = 0.96;
inline constexpr double largest_growth = 20.0;

enum class Pair { explicit_pair, implicit_pair };

/// Explicit: Dormand and Prince (1980), 5(4); for rtol below 1e-9, and where nothing has to be
/// found, Verner (1978), 6(5). Implicit: Kennedy and Carpenter (2019), ESDIRK4(3)6L[2]SA,
/// L-stable, with a dense direct Newton iteration.
std::unique_ptr<Arkode> make_arkode(Pair pair, RightHandSide& rhs, Arkode::Driver driver,
                                    Roots roots);

}  // namespace concord
