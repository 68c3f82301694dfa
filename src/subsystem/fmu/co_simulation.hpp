#pragma once

#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "subsystem/fmu/sampled_clock.hpp"
#include "subsystem/fmu/setup.hpp"
#include "subsystem/fmu/stair_watch.hpp"
#include "subsystem/fmu/step_pieces.hpp"
#include "subsystem/fmu/tunable_parameters.hpp"
#include "support/wording.hpp"

namespace concord {

/// An FMU of FMI 2 or 3 that steps by itself.
///
/// It stays in initialisation mode, where outputs may be read for any inputs, until the network has
/// found its start values. Afterwards the standard allows no Get after a Set without a step
/// between: outputs at a communication point are those that were put out, whatever the inputs.
class CoSimulation final : public Subsystem {
 public:
  CoSimulation(std::shared_ptr<const FmuSetup> setup, const SubsystemSettings& settings);

  void note_use(std::span<const char> fed, std::span<const char> looked_at) override;
  void start(const MacroStep& first, double stop) override;
  bool initializing() const override { return instance_->mode() == FmuMode::initializing; }
  Outcome end_initialization(std::span<const Sample> inputs) override;
  Outcome advance(const MacroStep& step, std::span<const Polynomial> inputs,
                  InputContinuity continuity, Wanted wanted, std::span<Sample> outputs) override;
  Outcome point_outputs(std::span<const Sample> inputs, Wanted wanted,
                        std::span<Sample> outputs) override;
  std::span<const double> states() const override { return now_.x; }
  Outcome state_derivatives(std::span<const Sample> inputs, std::span<double> result) override;
  Outcome linearize(std::span<const Sample> inputs, Linearization& result) override;
  double next_time_event() const override { return now_.next_event; }
  double next_event(std::span<const Sample> inputs) override;
  Outcome happen(EventPass pass, std::span<const Sample> inputs, double slack, bool& changed,
                 std::vector<Happening>& what) override;
  Outcome set_parameter(std::size_t parameter, double value) override;
  void save() override;
  void restore() override;
  bool io(Archive& archive) override;
  bool start_from(double t, std::span<const double> x, std::span<const std::byte> memory) override;

 private:
  /// Where the FMU stands, and what of its past is not in its own state.
  struct Point {
    double t = 0.0;
    std::vector<double> x, y;
    std::vector<double> u;  ///< that the FMU has
    double next_event = std::numeric_limits<double>::infinity();
    bool derivatives_set = false;  ///< of inputs, to something else than 0
    int sampled = 0;               ///< ends of pieces since the last event, up to sampled_ends
    bool parameters_due = false;   ///< to be set before the next step
    bool event_due = false;        ///< the FMU wants event mode here

    void io(Archive& archive) {
      archive(t, x, y, u, next_event, derivatives_set, sampled, parameters_due, event_due);
    }
  };

  /// While it lives, events at this end wait until the macro-step is accepted.
  class MacroStepUnderWay {
   public:
    MacroStepUnderWay(CoSimulation& of, double end);
    ~MacroStepUnderWay();
    MacroStepUnderWay(const MacroStepUnderWay&) = delete;
    MacroStepUnderWay& operator=(const MacroStepUnderWay&) = delete;

   private:
    CoSimulation& of_;
  };

  bool failed(const std::string& reason) {
    failure_ = reason + " at t = " + short_number(now_.t) + " s";
    return false;
  }
  bool failed_call() { return failed(instance_->failure()); }
  bool ended() {
    over_ = true;
    return failed("the FMU " + setup_->request.path.string() +
                  " ended the simulation (terminateSimulation)");
  }
  void tell(const std::string& note) const { concord::tell(*setup_, note); }
  void find_out_directional();
  bool leave_initialization();
  bool begin_without_event_mode();
  bool take_events(const EventOutcome& outcome);
  bool reaches_event(double t) const;
  bool meet_event(const StepPiece* piece);
  bool handle_event();
  bool held_differ(std::span<const Sample> inputs) const;
  bool set_parameters_in_event();
  bool set_due_parameters();
  bool remade_without_event_mode();
  bool pass_instance(Archive& archive);
  bool feed_held(std::span<const Polynomial> inputs);
  bool one_step_size(const MacroStep& step);
  bool run(std::span<const Polynomial> inputs, const MacroStep& step, Wanted wanted);
  bool run_again_if_frozen(std::span<const Polynomial> inputs, const MacroStep& step,
                           Wanted wanted);
  bool look_ahead();
  void walk_ahead(StairWatch& stairs);
  bool look_for_stairs(double size);
  void take_internal_step(double size);
  bool run_piece(std::span<const Polynomial> inputs, double begin, const StepPiece& piece);
  double end_of_step(const StepPiece& piece) const;
  bool feed(std::span<const Polynomial> inputs, double begin, const StepPiece& piece, double end);
  bool feed_values(std::span<const Polynomial> inputs, double tau);
  bool feed_derivatives(std::span<const Polynomial> inputs, double tau, double size);
  bool feed_order(int order);
  bool step_once(double end, const StepPiece* piece);
  bool read_outputs();
  bool read_states();
  bool sample(int number);
  bool read_slopes(std::span<const Polynomial> inputs, double h);
  bool slopes_of_fmu();
  bool slopes_by_linearization(std::span<const Polynomial> inputs, double h);
  void slopes_by_differences();
  bool start_slopes(std::span<const Sample> inputs, std::span<Sample> outputs);
  bool try_forward(std::span<const Polynomial> lines);
  bool read_derivatives(std::span<const Sample> inputs, std::span<double> result);
  bool find_jacobians(Linearization& result);
  SlopeSource slope_source() const;

  std::shared_ptr<const FmuSetup> setup_;
  FmuUse use_;
  std::unique_ptr<FmuInstance> instance_;
  std::optional<FmuSnapshot> saved_state_, trial_state_;  ///< freed before the instance
  FmuPorts inputs_, held_;                                ///< that something feeds
  FmuPorts outputs_, all_inputs_;                         ///< outputs that somebody looks at
  TunableParameters parameters_;
  PieceSettings piece_settings_;
  std::vector<StepPiece> pieces_;
  double sample_distance_ = 0.0;
  Point now_, saved_, trial_;
  bool usable_ = true;  ///< until save or restore fails, which advance then reports
  bool over_ = false;   ///< the FMU has asked for the end of the simulation
  double tolerance_ = 0.0;
  double start_ = 0.0, stop_ = 0.0;
  double h_ = 0.0;                                                ///< of the last macro-step
  double end_ = std::numeric_limits<double>::infinity();          ///< of the macro-step under way
  double first_event_ = std::numeric_limits<double>::infinity();  ///< on its way
  bool handled_event_ = false;                                    ///< on its way, before its end
  double slack_ = 0.0;          ///< what is no time between instants, s
  double only_size_ = 0.0;      ///< of FMUs that take one step size
  bool redo_possible_ = false;  ///< save() is in use
  bool known_to_move_ = false;  ///< although it may be restored to before the step
  int looked_for_moves_ = 0;
  bool may_recut_ = false;
  bool recut_ = false;  ///< the macro-step is to be cut into other pieces
  StairWatch stairs_;
  bool looked_ahead_ = false;
  std::vector<Polynomial> lines_;
  std::vector<std::vector<double>> samples_;  ///< outputs at the ends of the last pieces
  std::vector<double> slopes_, change_, correction_, before_, y_before_;
  std::vector<std::array<double, 3>> given_derivatives_;  ///< of inputs, at the last feeding
  std::vector<double> of_order_;
  std::vector<char> fed_;
  bool linearized_ = false;
  Linearization linear_, found_;
  std::vector<Sample> ends_;
  SampledClock clock_;
};

}  // namespace concord
