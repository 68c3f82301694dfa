#pragma once

#include <memory>
#include <string>
#include <utility>

#include "coupling/coupling.hpp"

namespace concord {

/// A coupling around another one, which it passes every call on to; whoever derives from it
/// overrides the calls that it changes.
class CouplingDecorator : public Coupling {
 public:
  void start(const MacroStep& first, double stop, CommunicationPoint& point) override {
    inner_->start(first, stop, point);
  }
  CouplingReport solve(const MacroStep& step, const CommunicationPoint& point,
                       Trial& trial) override {
    return inner_->solve(step, point, trial);
  }
  void judged(const StepJudgement& judgement) override { inner_->judged(judgement); }
  void commit(const CommunicationPoint& point) override { inner_->commit(point); }
  void rejected() override { inner_->rejected(); }
  void restart(CommunicationPoint& point) override { inner_->restart(point); }
  const Middle* middle() const override { return inner_->middle(); }
  std::span<const double> error_estimates() const override { return inner_->error_estimates(); }
  std::span<const Sample> fed() const override { return inner_->fed(); }
  bool passed_layer() const override { return inner_->passed_layer(); }
  const InsideRows* inside() const override { return inner_->inside(); }
  const BalanceErrors* balance() const override { return inner_->balance(); }
  CarriesErrors* carries_errors() override { return inner_->carries_errors(); }
  std::string explain(const CouplingReport& report) override { return inner_->explain(report); }
  std::span<const double> states() const override { return inner_->states(); }
  const Counters* counters() const override { return inner_->counters(); }
  Subsystem* whole() override { return inner_->whole(); }
  bool retrace(const MacroStep& step, std::span<double> states,
               std::span<Sample> outputs) override {
    return inner_->retrace(step, states, outputs);
  }
  bool tells_inside() const override { return inner_->tells_inside(); }
  std::span<const double> tell_inside(std::span<PassedPoint> points) override {
    return inner_->tell_inside(points);
  }
  PointEvaluation* evaluation() override { return inner_->evaluation(); }
  std::string describe_start() const override { return inner_->describe_start(); }
  void io(Archive& archive) override { CONCORD_MEMBERS(archive, *inner_); }
  void view() const override { inner_->view(); }

 protected:
  explicit CouplingDecorator(std::unique_ptr<Coupling> inner) : inner_(std::move(inner)) {}
  Coupling& inner() { return *inner_; }

 private:
  std::unique_ptr<Coupling> inner_;
};

}  // namespace concord
