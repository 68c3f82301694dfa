#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "subsystem/fmu/fmu_slopes.hpp"
#include "subsystem/fmu/move_watch.hpp"
#include "subsystem/fmu/stair_watch.hpp"
#include "subsystem/fmu/stepped_fmu.hpp"

namespace concord {

/// An FMU that steps by itself: its macro-steps, cut into pieces in which it can take
/// the inputs (MacroStepPieces), and what is learnt of it by trials.
class CoSimulation final : public Subsystem, private TextPorts {
 public:
  CoSimulation(std::shared_ptr<const FmuSetup> setup, const SubsystemSettings& settings);

  void note_use(std::span<const char> fed, std::span<const char> looked_at) override;
  void start(const MacroStep& first, double stop) override;
  bool initializing() const override { return fmu_.initializing(); }
  Outcome end_initialization(std::span<const Sample> inputs) override;
  Outcome advance(const MacroStep& step, std::span<const Polynomial> inputs,
                  InputContinuity continuity, Wanted wanted, std::span<Sample> outputs) override;
  Outcome point_outputs(std::span<const Sample> inputs, Wanted wanted,
                        std::span<Sample> outputs) override;
  std::span<const double> states() const override { return fmu_.now().x; }
  Outcome state_derivatives(std::span<const Sample> inputs, std::span<double> result) override;
  Outcome linearize(std::span<const Sample> inputs, Linearization& result) override;
  double next_time_event() const override { return fmu_.now().next_event; }
  double next_event(std::span<const Sample> inputs) override;
  Outcome happen(EventPass pass, std::span<const Sample> inputs, double slack, EventChange& change,
                 std::vector<Happening>& what) override;
  Outcome set_parameter(std::size_t parameter, double value) override;
  std::optional<double> parameter(std::size_t parameter) override {
    return fmu_.parameter(parameter);
  }
  TextPorts* texts() override { return fmu_.setup().texts ? this : nullptr; }
  void save() override;
  void restore() override;
  bool io(Archive& archive) override;
  int memory_version() const override { return 6; }
  bool start_from(double t, std::span<const double> x, std::span<const std::byte> memory) override;

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();

  void put_out(std::span<Texts> texts) override;
  void take(std::span<const Texts> texts) override;
  bool told(bool good);
  Outcome outcome(bool good) { return told(good) ? Outcome::ok : Outcome::failed; }
  Outcome outcome_unless_over(bool good);
  bool go(const MacroStep& step, std::span<const Polynomial> inputs, Wanted wanted);
  bool one_step_size(const MacroStep& step);
  bool run(std::span<const Polynomial> inputs, const MacroStep& step, Wanted wanted);
  bool run_again_if_frozen(std::span<const Polynomial> inputs, const MacroStep& step,
                           Wanted wanted);
  bool run_pieces(std::span<const Polynomial> inputs, double begin);
  bool run_piece(std::span<const Polynomial> inputs, double begin, const StepPiece& piece);
  bool sample(int number);
  bool finds_jumps() const;
  bool knows_events() const { return tells_events(fmu_.use()) || finds_jumps(); }
  bool has_jumped() const;
  bool look_for_jump(std::size_t piece, std::span<const Polynomial> inputs, double begin);
  bool go_again(std::size_t piece, std::span<const Polynomial> inputs, double begin);
  bool enclose_jump(const StepPiece& piece, std::span<const Polynomial> inputs, double begin,
                    double& behind);
  double resolution(double begin) const;
  bool pass_jump(std::vector<Happening>& what);
  PieceSettings settings() const;
  template <class Work>
  bool on_trial(const Work& work);
  bool look_ahead();
  void walk_ahead(StairWatch& stairs);
  bool look_for_stairs(double size);
  bool moved() const;
  void take_internal_step(double size);
  bool start_slopes();
  bool answer_anew(std::span<const std::size_t> outdated, bool slopes);
  bool try_forward(double& distance, bool linear = false);

  SteppedFmu fmu_;
  FmuSlopes slopes_;
  SavedFmu saved_, trial_;  ///< freed before the FMU
  bool usable_ = true;      ///< until save or restore fails, which advance then reports
  double h_ = 0.0;          ///< of the last macro-step
  double longest_ = 0.0;    ///< so far
  double only_size_ = 0.0;  ///< of FMUs that take one step size
  MacroStepPieces pieces_;
  MoveWatch moves_;
  StairWatch stairs_;
  bool looked_ahead_ = false;
  bool told_late_ = false;
  std::vector<Polynomial> lines_, last_lines_;  ///< inputs; those at the end of the macro-step
  std::vector<double> before_, answers_;        ///< outputs; those told at the last point
  double answered_at_ = never;                  ///< its time
  std::vector<double> told_;                    ///< outputs where the macro-step began
  std::vector<double> fed_;                     ///< inputs when stairs were looked for last
  std::vector<char> continuous_;                ///< outputs
  bool taken_back_;                             ///< macro-steps may be, whatever happens in them
  bool seeks_ = false;                          ///< untold jumps, in the macro-step under way
  bool finds_ = true;                           ///< none has refused to be enclosed
  double awaited_ = never;                      ///< one that a trial of this macro-step has come to
};

}  // namespace concord
