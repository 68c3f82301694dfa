#pragma once

#include <nvector/nvector_serial.h>

#include "subsystem/ode/integrator.hpp"
#include "subsystem/ode/micro_steps.hpp"
#include "support/sundials_handle.hpp"

namespace concord {

/// What CVODE's two multistep families share: restarting, continuing, the first micro-step.
///
/// After a restart CVODE begins at order 1 with the step size that the error of the last restart's
/// first micro-step recommends. Continuing keeps order, history and step size: CVODE's own time
/// then runs on from the last restart.
class Cvode : public Integrator, public MicroSteps {
 public:
  Outcome integrate(double h, History history, std::span<const double> x_begin,
                    std::span<double> x_end) final;
  void begin(double h, History history, std::span<const double> x) final;
  void restart(double tau, std::span<const double> x) final;
  End step(double end, double& tau, std::span<double> x) final;
  std::string failure() const final;
  double reached() const final { return times_.reached; }
  std::span<const double> local_errors() const final { return errors_; }
  bool continued() const final { return continued_; }
  void save() final { saved_ = now_; }
  void restore() final;
  void pass_course(Archive& archive) final {
    CONCORD_MEMBERS(archive, now_.first_size, micro_steps_);
    if (archive.reading()) has_history_ = false;
  }

 protected:
  /// `method` is CV_BDF or CV_ADAMS; the derived class attaches the nonlinear or linear solver.
  Cvode(RightHandSide& rhs, int method, const char* name, Roots roots);

  SUNContext context() const { return context_.get(); }
  N_Vector states() const { return x_.get(); }
  void* native() const { return memory_.get(); }

  /// Seconds since the macro-step's begin, for CVODE's time.
  double tau(double cvode_time) const { return cvode_time - times_.begin; }

 private:
  /// Beside CVODE's own history, which is dropped wherever bits must repeat.
  struct Memory {
    double first_size = 0.0;  ///< for the next restart; 0: CVODE's own guess
  };
  struct MacroStepTimes {
    double begin = 0.0;    ///< in CVODE's time
    double cvode = 0.0;    ///< CVODE's time so far
    double h = 0.0;        ///< size of the macro-step
    double reached = 0.0;  ///< since its begin
  };

  static int evaluate(sunrealtype time, N_Vector x, N_Vector dxdt, void* self);
  static int weigh(N_Vector x, N_Vector weights, void* self);
  static int find_roots(sunrealtype time, N_Vector x, sunrealtype* z, void* self);
  bool restarts(double h, History history) const;
  int evolve(double end);
  int one_step(double end);
  void add_error();
  void recommend_first_size();

  const char* name_;
  Roots roots_;
  sundials_handle::Context context_;
  sundials_handle::Vector x_, error_, weights_;
  sundials_handle::CvodeMemory memory_;
  Memory now_, saved_;
  MacroStepTimes times_;
  std::vector<double> errors_;  ///< that micro-steps of the last macro-step have left
  bool has_history_ = false;
  bool continued_ = false;
  int flag_ = CV_SUCCESS;
};

}  // namespace concord
