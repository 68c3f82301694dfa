#pragma once

#include <memory>
#include <tuple>
#include <vector>

#include "subsystem/grazes.hpp"
#include "subsystem/isolated/remote_model.hpp"
#include "subsystem/isolated/remote_subsystem.hpp"
#include "subsystem/text_ports.hpp"

namespace concord {

/// A subsystem that lives in another process: every call goes there.
class IsolatedSubsystem : public Subsystem, private TextPorts {
 public:
  /// `made`: what it says of itself there.
  IsolatedSubsystem(std::unique_ptr<RemoteSubsystem> remote,
                    const SubsystemDescription& description, SubsystemDescription made);

  void note_use(std::span<const char> fed, std::span<const char> looked_at) override;
  void start(const MacroStep& first, double stop) override;
  bool initializing() const override { return remote_->status().initializing; }
  Outcome end_initialization(std::span<const Sample> inputs) override;
  void enter(const SmoothInterval& interval) override;
  Outcome advance(const MacroStep& step, std::span<const Polynomial> inputs,
                  InputContinuity continuity, Wanted wanted, std::span<Sample> outputs) override;
  Outcome follow(const MacroStep& step, std::span<const Polynomial> inputs,
                 const IntegratedWay& way) override;
  Outcome point_outputs(std::span<const Sample> inputs, Wanted wanted,
                        std::span<Sample> outputs) override;
  Outcome output_curvatures(std::span<const Sample> inputs, std::span<double> result) override;
  std::span<const double> states() const override;
  std::span<const double> integration_errors() const override { return integration_errors_; }
  Outcome state_derivatives(std::span<const Sample> inputs, std::span<double> result) override;
  Outcome linearize(std::span<const Sample> inputs, Linearization& result) override;
  bool keeps(const Linearization& known, std::span<const Sample> inputs) override;
  Outcome derivatives_at(const StatePoint& point, std::span<double> result) override;
  Outcome outputs_at(const StatePoint& point, std::span<Sample> outputs) override;
  Outcome linearize_at(const StatePoint& point, Linearization& result) override;
  Outcome output_curvatures_at(const StatePoint& point, std::span<double> result) override;
  bool retraces() const override { return remote_->status().retraces; }
  Outcome retrace(const MacroStep& step, std::span<const Polynomial> inputs,
                  std::span<double> states, std::span<Sample> outputs) override;
  double next_time_event() const override { return remote_->status().next_time_event; }
  double next_event(std::span<const Sample> inputs) override;
  Outcome happen(EventPass pass, std::span<const Sample> inputs, double slack, EventChange& change,
                 std::vector<Happening>& what) override;
  Outcome set_parameter(std::size_t parameter, double value) override;
  std::optional<double> parameter(std::size_t parameter) override;
  void save() override;
  void restore() override;
  bool io(Archive& archive) override;
  bool start_from(double t, std::span<const double> x, std::span<const std::byte> memory) override;
  OdeModel* equations() override;
  TextPorts* texts() override { return remote_->status().texts ? this : nullptr; }
  bool complete_step(double t, std::span<const double> x, std::span<const double> u) override;

 protected:
  /// A call and its answer, which says what the subsystem is now.
  template <class... Arguments>
  MessageReader ask(RemoteFunction function, const Arguments&... arguments);
  /// One that may fail: what it gives goes into `results`.
  template <class... Results, class... Arguments>
  Outcome attempt(RemoteFunction function, std::tuple<Results&...> results,
                  const Arguments&... arguments);

  std::unique_ptr<RemoteSubsystem> remote_;

 private:
  void put_out(std::span<Texts> texts) override;
  void take(std::span<const Texts> texts) override;
  void take_status();
  void stand_at(double t);

  std::unique_ptr<RemoteModel> model_;
  mutable std::vector<double> states_;
  std::vector<double> integration_errors_;
  mutable bool states_known_ = false;
  double now_ = 0.0, saved_ = 0.0;
  bool is_saved_ = false;  ///< before each macro-step, which may be taken back
};

/// One that finds its own events.
class IsolatedEvents final : public IsolatedSubsystem, public TellsGrazes {
 public:
  using IsolatedSubsystem::IsolatedSubsystem;

  std::vector<Graze> grazes(std::span<const Sample> inputs) override;
  double take_errors(std::span<const Sample> inputs, const Motion& errors,
                     std::span<const double> discrete) override;
  std::span<const Jump> jumps() const override;
  std::size_t discrete_count() const override;
  bool pass_discrete(std::span<const Sample> inputs, std::span<const double> errors,
                     std::span<double> f, std::span<double> g) override;

 private:
  mutable std::vector<Jump> jumps_;
};

}  // namespace concord
