#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coupling/collocation/collocation_error.hpp"
#include "coupling/collocation/collocation_guess.hpp"
#include "coupling/collocation/collocation_rows.hpp"
#include "coupling/collocation/collocation_sweeps.hpp"
#include "coupling/collocation/input_curves.hpp"
#include "coupling/collocation/node_choice.hpp"
#include "coupling/collocation/node_rows.hpp"
#include "coupling/coupling.hpp"
#include "coupling/points/consistent_inputs.hpp"

namespace concord {

/// Solves `gauss` and `radau`: a collocation method of k nodes on the coupled system, of order 2k
/// or 2k - 1, made of subsystems that each keep their states to themselves. Nothing is held and
/// nothing is integrated: states and inputs at the nodes come from sweeps of Newton's method, and
/// the subsystems are told where they have been (Subsystem::follow).
class CollocationCoupling : public Coupling, public CarriesErrors {
 public:
  CollocationCoupling(const Method& method, NodeFamily family, RankNetwork& subsystems);
  void start(const MacroStep& first, double stop, CommunicationPoint& point) override;
  CouplingReport solve(const MacroStep& step, const CommunicationPoint& point,
                       Trial& trial) override;
  void judged(const StepJudgement& judgement) override;
  void commit(const CommunicationPoint& point) override { error_.commit(point); }
  void restart(CommunicationPoint& point) override;
  const InsideRows* inside() const override { return &nodes_->rows.all(); }
  bool tells_inside() const override { return true; }
  std::span<const double> tell_inside(std::span<PassedPoint> points) override;
  CarriesErrors* carries_errors() override { return this; }
  bool carry_errors(std::span<CarriedError> errors, std::span<const double> inputs) override {
    return system_->carry(errors, inputs);
  }
  std::string explain(const CouplingReport& report) override;
  void io(Archive& archive) override;
  void view() const override { system_->view(); }
  int memory_version() const { return 2; }

 private:
  /// All that has as many rows as there are nodes.
  struct AtNodes {
    AtNodes(const RankNetwork& subsystems, NodeFamily family, int count);

    CollocationNodes nodes;
    InputCurves curves;
    NodeRows rows;
    std::optional<CollocationRows> between;  ///< made when it is first asked for
    std::vector<double> shares;              ///< on the way
    std::vector<double> values;              ///< scratch
    std::vector<double> ways;  ///< per subsystem its states at these, one after the other
  };

  std::unique_ptr<NodeSystem> system_of(int count);
  void take_nodes(int count);
  CollocationSweeps::End sweep(const MacroStep& step, const CommunicationPoint& point,
                               CouplingReport& report);
  bool complete_steps(const CommunicationPoint& point);
  CollocationSweeps::End sweep_from_guess(const MacroStep& step, const CommunicationPoint& point,
                                          NodeSystem::Derivatives derivatives,
                                          CouplingReport& report);
  std::vector<IntegratedWay> ways();
  void guess_end_inputs(const CommunicationPoint& point, Trial& trial) const;
  void set_curves(const MacroStep& step, const CommunicationPoint& point, Trial& trial);
  Outcome follow(const MacroStep& step, const CommunicationPoint& point, Trial& trial);

  Method method_;
  RankNetwork& subsystems_;
  NodeFamily family_;
  ConsistentInputs consistent_;
  std::unique_ptr<NodeSystem> system_, finer_;  ///< of one node more
  std::optional<AtNodes> nodes_;
  CollocationGuess guess_;
  CollocationSweeps sweeps_;
  CollocationError error_;
  std::optional<NodeChoice> choice_;      ///< where the run chooses how many nodes there are
  NodeChoice::Seen seen_{};               ///< by the last solve
  MacroStep step_;                        ///< of the last solve
  std::optional<std::string> unhandled_;  ///< an event of a subsystem of this rank
};

}  // namespace concord
