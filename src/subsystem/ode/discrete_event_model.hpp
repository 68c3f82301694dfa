#pragma once

#include "subsystem/ode/hybrid_model.hpp"

namespace concord {

/// A HybridModel in which nothing moves but at events, whose times are known before or which come
/// with inputs: it has neither derivatives nor indicators, and micro-steps are nothing to it.
class DiscreteEventModel : public HybridModel {
 public:
  void derivatives(double /*t*/, std::span<const double> /*x*/, std::span<const double> /*u*/,
                   std::span<double> /*dxdt*/) final {}
  std::size_t indicator_count() const final { return 0; }
  bool has_events() const final { return true; }
  void indicators(double /*t*/, std::span<const double> /*x*/, std::span<const double> /*u*/,
                  std::span<double> /*z*/) final {}
  bool wants_completed_steps() const final { return false; }
  bool takes_back_completed_steps() const final { return false; }
  bool completed_step(double /*t*/, std::span<const double> /*x*/,
                      std::span<const double> /*u*/) final {
    return false;
  }
  void handle_event(double t, std::span<double> /*x*/, std::span<const double> u) override {
    run(t, u);
  }
  void handle_accepted_event(double t, double /*from*/, std::span<double> /*x*/,
                             std::span<const double> u) final {
    run(t, u);
  }
  void change_parameters(double /*t*/, std::span<double> /*x*/,
                         std::span<const double> /*u*/) final {}

 protected:
  /// All that happens at t, with these inputs.
  virtual void run(double t, std::span<const double> u) = 0;
};

}  // namespace concord
