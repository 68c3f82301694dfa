#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "subsystem/fmu/sampled_clock.hpp"
#include "subsystem/fmu/setup.hpp"
#include "subsystem/fmu/step_pieces.hpp"
#include "support/wording.hpp"

namespace concord {

/// An FMU of FMI 2 or 3 that steps by itself.
///
/// It stays in initialisation mode, where outputs may be read for any inputs, until the first call
/// that needs it outside. Afterwards the standard allows no Get after a Set without a step between.
class CoSimulation final : public Subsystem {
 public:
  CoSimulation(std::shared_ptr<const FmuSetup> setup, const SubsystemSettings& settings);
  ~CoSimulation() override { instance_->free_state(saved_state_); }

  void start(const MacroStep& first, double stop) override;
  Outcome advance(const MacroStep& step, std::span<const Polynomial> inputs,
                  InputContinuity continuity, Wanted wanted, std::span<Sample> outputs) override;
  Outcome point_outputs(std::span<const Sample> inputs, Wanted wanted,
                        std::span<Sample> outputs) override;
  std::span<const double> states() const override { return now_.x; }
  Outcome state_derivatives(std::span<const Sample> inputs, std::span<double> result) override;
  Outcome linearize(std::span<const Sample> inputs, Linearization& result) override;
  void save() override;
  void restore() override;

 private:
  struct Point {
    double t = 0.0;
    std::vector<double> x, y;
  };

  bool failed(const std::string& reason) {
    failure_ = reason + " at t = " + short_number(now_.t) + " s";
    return false;
  }
  bool failed_call() { return failed(instance_->failure()); }
  bool ended(const std::string& call) {
    return failed(call + " of the FMU " + setup_->request.path.string() +
                  " asks for the end of the simulation (terminateSimulation)");
  }
  bool leave_initialization();
  bool handle_event();
  bool run(std::span<const Polynomial> inputs, const MacroStep& step, Wanted wanted);
  bool run_piece(std::span<const Polynomial> inputs, double begin, const StepPiece& piece);
  bool feed(std::span<const Polynomial> inputs, double tau);
  bool feed_constant(std::span<const Polynomial> inputs, double tau);
  bool feed_derivatives(std::span<const Polynomial> inputs, double tau);
  bool step_once(double end);
  bool read_outputs();
  bool read_states();
  bool read_slopes(std::span<const Polynomial> inputs, double h, std::span<Sample> outputs);
  bool slopes_by_linearization(std::span<const Polynomial> inputs, double h,
                               std::span<Sample> outputs);
  bool start_slopes(std::span<const Sample> inputs, std::span<Sample> outputs);
  bool try_forward(std::span<const Sample> inputs, std::span<Sample> outputs);
  bool partial(std::span<const FmiReference> unknowns, std::size_t rows,
               std::span<const FmiReference> knowns, std::vector<double>& result);
  SlopeSource slope_source() const;

  std::shared_ptr<const FmuSetup> setup_;
  const FmiInterface& interface_;
  std::unique_ptr<FmuInstance> instance_;
  PieceSettings piece_settings_;
  std::vector<StepPiece> pieces_;
  double sample_distance_ = 0.0;
  Point now_, saved_;
  void* saved_state_ = nullptr;  ///< the FMU's, at saved_
  bool initializing_ = true;
  bool usable_ = true;  ///< until save or restore fails, which advance then reports
  double tolerance_ = 0.0;
  double h_ = 0.0;              ///< of the last macro-step
  bool redo_possible_ = false;  ///< save() is in use
  bool derivatives_set_ = false;
  std::vector<double> u_;
  std::vector<std::vector<double>> samples_;  ///< outputs at the ends of the last pieces
  std::vector<FmiReference> slope_references_;
  std::vector<int> orders_;
  std::vector<double> order_values_, slopes_, seed_;
  Linearization linear_;
  SampledClock clock_;
};

}  // namespace concord
