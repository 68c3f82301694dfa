#pragma once

#include <limits>
#include <span>
#include <vector>

#include "coupling/implicit/network_derivatives.hpp"
#include "coupling/implicit/network_point.hpp"
#include "coupling/implicit/whole_events.hpp"
#include "coupling/points/consistent_inputs.hpp"
#include "subsystem/event_model.hpp"
#include "subsystem/homotopy_model.hpp"

namespace concord {

/// x' = f(t, x, P y, u), y = g(t, x, P y, u) of the whole network, whose subsystems have been
/// started: states and outputs of all subsystems one after the other. Unknowns of direct
/// constraints (index 1) are eliminated with the inputs.
class NetworkEquations : public EventModel, public HomotopyModel {
 public:
  /// `given`: which inputs of the network, that nothing within feeds, are those of this model.
  explicit NetworkEquations(RankNetwork& subsystems, std::vector<std::size_t> given = {});

  OdeInterface interface() const override;
  void derivatives(double t, std::span<const double> x, std::span<const double> u,
                   std::span<double> dxdt) override;
  void outputs(double t, std::span<const double> x, std::span<const double> u,
               std::span<double> y) override;

  /// The network has come to this point for good. Throws SimulationError where that makes an event.
  void complete_step(double t, std::span<const double> x);

  /// All subsystems.
  bool go_along_homotopy(double part) override;

  /// False where a subsystem has no Jacobians.
  bool jacobians(double t, std::span<const double> x, std::span<const double> u,
                 const Jacobians& result) override;
  /// y' = g_t + g_x f + g_u u' with u' = P y'. False where a subsystem doesn't give its part.
  bool output_slopes(double t, std::span<const double> x, std::span<const double> u,
                     const Motion& motion, std::span<double> dydt) override;

  bool has_events() const override { return events_.any(); }
  std::size_t indicator_count() const override { return events_.indicator_count(); }
  void indicators(double t, std::span<const double> x, std::span<const double> u,
                  std::span<Indicator> z) override;
  void indicator_slopes(double t, std::span<const double> x, std::span<const double> u,
                        const Motion& motion, std::span<double> slopes) override;
  bool is_decisive(std::size_t i, bool beyond, double t, std::span<const double> x,
                   std::span<const double> u) override;
  std::string text_of(std::size_t i) const override { return events_.text_of(i); }
  double next_time_event() const override { return events_.next_time(); }
  bool is_told_of_changes() const override { return false; }
  /// The subsystems have begun.
  void begin(double /*t*/, std::span<const double> /*x*/, std::span<const double> /*u*/) override {}
  bool settle(const EventPoint& point, std::span<const double> x,
              std::vector<Happening>& what) override;
  bool happen(const EventPoint& point, std::span<double> x, std::vector<Happening>& what) override;
  void begin_instant() override;
  std::span<const Jump> jumps(double t) const override {
    return t == jumped_at_ ? jumps_ : std::span<const Jump>();
  }
  std::size_t discrete_count() const override { return events_.discrete_count(); }
  void discrete_slopes(double t, std::span<const double> x, std::span<const double> u,
                       std::span<const double> discrete, std::span<double> f,
                       std::span<double> g) override;
  void discrete_indicator_slopes(double t, std::span<const double> x, std::span<const double> u,
                                 std::span<const double> discrete,
                                 std::span<double> slopes) override;
  /// The subsystems' own, which pass it on themselves.
  void pass_events(Archive& /*archive*/) override {}
  void take_over(Archive& /*archive*/) override {}

  /// Guesses from which inputs are found.
  void io(Archive& archive) { CONCORD_MEMBERS(archive, inputs_, outputs_, consistent_); }

  /// Inputs that nothing feeds are these from now on.
  void take_inputs(std::span<const Sample> inputs);

  NetworkPoint& point() { return point_; }
  WholeEvents& events() { return events_; }

 private:
  void note_jumps(const EventPoint& point, std::span<const double> x);
  bool find_inputs_by(double t, std::span<const double> x, std::span<const double> u);
  void pass_on(Jump& jump, std::size_t input, double by) const;
  void give(std::span<const double> u, std::span<const double> dudt);
  void eliminate_inputs(double t, std::span<const double> x, std::span<const double> u);
  Outcome solve_moving(double t, std::span<const double> x, std::span<const double> u,
                       const Motion& motion);
  void move_inputs(double t, std::span<const double> x, std::span<const double> u,
                   const Motion& motion);

  RankNetwork& subsystems_;
  std::vector<std::size_t> given_;
  NetworkPoint point_;
  ConsistentInputs consistent_;
  std::vector<Sample> inputs_, outputs_;
  NetworkDerivatives derivatives_;
  WholeEvents events_;
  double jumped_at_ = std::numeric_limits<double>::quiet_NaN();
  int pass_ = 0;
  std::vector<Jump> jumps_;             ///< of the instant `jumped_at_`
  std::vector<double> states_at_pass_;  ///< when the last one began
  /// Of all inputs by t, states, given inputs, discrete variables, where the last pass began; row
  /// by column of these. Empty: not found.
  std::vector<std::vector<double>> inputs_by_;
};

}  // namespace concord
