#pragma once

#include <memory>

#include "coupling/coupling_decorator.hpp"
#include "coupling/estimation/missiles_system.hpp"
#include "coupling/points/consistent_inputs.hpp"
#include "coupling/problem/output_error_norm.hpp"

namespace concord {

/// A method of lower order with the error estimate of -cosim_adapt predictor: what MISSILES, from
/// the same states, predicts for t_{N+1} with hermite inputs, against what was integrated,
///
///     EST_o = y_o - y^_o   for every output.
///
/// Costs one evaluation and one linearisation of the outputs per macro-step, no integration. The
/// prediction, with the affine remainder, misses O(h^4), so that EST is asymptotically the local
/// error of explicit methods with hold order 0 and 1 and of implicit ones with constant and linear
/// inputs; of higher orders it is an upper bound.
class ComparedCoupling : public CouplingDecorator {
 public:
  ComparedCoupling(std::unique_ptr<Coupling> method, const Method& settings,
                   RankNetwork& subsystems);
  void start(const MacroStep& first, double stop, CommunicationPoint& point) override;
  CouplingReport solve(const MacroStep& step, const CommunicationPoint& point,
                       Trial& trial) override;
  void commit(const CommunicationPoint& point) override;
  void restart(CommunicationPoint& point) override;
  std::span<const double> error_estimates() const override { return estimates_; }
  void io(Archive& archive) override {
    CouplingDecorator::io(archive);
    CONCORD_MEMBERS(archive, consistent_, estimators_, system_, norm_, begin_, predicted_);
    CONCORD_MEMBERS_PER(archive, Per::output, estimates_);
  }
  std::string explain(const CouplingReport& report) override;
  void view() const override;

 private:
  bool predict(const MacroStep& step, const CommunicationPoint& point);
  void give_back(double h);
  void compare(const Trial& trial);

  RankNetwork& subsystems_;
  ConsistentInputs consistent_;
  Estimators estimators_;
  MissilesSystem system_;
  int order_;
  OutputErrorNorm norm_;
  CommunicationPoint begin_;  ///< consistent, with slopes, whatever the method's own inputs are
  Trial predicted_;
  bool predicts_ = true;
  std::vector<double> estimates_;
  std::vector<Sample> terms_;
  std::vector<double> noise_;
};

}  // namespace concord
