#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "subsystem/batch_model.hpp"
#include "subsystem/equations/equations_code.hpp"
#include "subsystem/event_model.hpp"
#include "subsystem/homotopy_model.hpp"
#include "subsystem/sparse_model.hpp"

namespace concord {

/// x' = f(t,x,u), y = g(t,x,u) from expressions in `t`, states, inputs, parameters, variables, and
/// discrete variables. What relations and conditions do are events.
class EquationsModel : public EventModel,
                       public BatchModel,
                       public SparseModel,
                       public HomotopyModel {
 public:
  /// Throws InputError (location, subsystem, variable, what is wrong, what is known) for names that
  /// clash, a state without derivative or the reverse, units of unknown names, and expressions
  /// that cannot be read.
  explicit EquationsModel(std::shared_ptr<const EquationsDescription> description);
  explicit EquationsModel(const EquationsDescription& description)
      : EquationsModel(std::make_shared<const EquationsDescription>(description)) {}
  EquationsModel(const EquationsModel&) = delete;
  EquationsModel& operator=(const EquationsModel&) = delete;

  /// Feedthrough: the inputs that stand in an output's expression.
  OdeInterface interface() const override { return code_->interface(*description_); }

  void derivatives(double t, std::span<const double> x, std::span<const double> u,
                   std::span<double> dxdt) override;
  void outputs(double t, std::span<const double> x, std::span<const double> u,
               std::span<double> y) override;

  /// All parameters are tunable.
  bool set_parameter(std::size_t parameter, double value) override;
  std::optional<double> parameter(std::size_t parameter) override;
  bool go_along_homotopy(double part) override;

  /// All derivatives are exact, by the expressions' form.
  bool jacobians(double t, std::span<const double> x, std::span<const double> u,
                 const Jacobians& result) override;
  bool time_derivatives(double t, std::span<const double> x, std::span<const double> u,
                        const TimeDerivatives& result) override;
  bool output_slopes(double t, std::span<const double> x, std::span<const double> u,
                     const Motion& motion, std::span<double> dydt) override;
  std::shared_ptr<const ColumnPattern> state_pattern() const override {
    return code_->state_pattern();
  }
  void state_entries(double t, std::span<const double> x, std::span<const double> u,
                     std::span<double> entries) override;
  std::shared_ptr<const LinearPattern> linear_pattern() const override {
    return code_->linear_pattern();
  }
  void linear_entries(double t, std::span<const double> x, std::span<const double> u,
                      const Jacobians& entries) override;
  bool output_curvatures(double t, std::span<const double> x, std::span<const double> u,
                         const InputMotion& motion, std::span<double> d2ydt2) override;

  bool has_events() const override { return events_ != nullptr; }
  std::size_t indicator_count() const override { return events_ ? events_->indicator_count() : 0; }
  void indicators(double t, std::span<const double> x, std::span<const double> u,
                  std::span<Indicator> z) override {
    events_->indicators(t, x, u, z);
  }
  void indicator_slopes(double t, std::span<const double> x, std::span<const double> u,
                        const Motion& motion, std::span<double> slopes) override {
    events_->indicator_slopes(t, x, u, motion, slopes);
  }
  bool is_decisive(std::size_t i, bool beyond, double t, std::span<const double> x,
                   std::span<const double> u) override {
    return events_->is_decisive(i, beyond, t, x, u);
  }
  std::string text_of(std::size_t i) const override { return events_->text_of(i); }
  double next_time_event() const override;
  void begin(double t, std::span<const double> x, std::span<const double> u) override;
  bool settle(const EventPoint& point, std::span<const double> x,
              std::vector<Happening>& what) override;
  bool happen(const EventPoint& point, std::span<double> x, std::vector<Happening>& what) override;
  void begin_instant() override { events_->begin_instant(); }
  std::span<const Jump> jumps(double t) const override { return events_->jumps(t); }
  std::string why_not_finite(Part part, std::size_t index, double t, std::span<const double> x,
                             std::span<const double> u) const override;
  std::size_t discrete_count() const override { return places().discrete; }
  void discrete_slopes(double t, std::span<const double> x, std::span<const double> u,
                       std::span<const double> discrete, std::span<double> f,
                       std::span<double> g) override;
  void discrete_indicator_slopes(double t, std::span<const double> x, std::span<const double> u,
                                 std::span<const double> discrete,
                                 std::span<double> slopes) override {
    events_->discrete_slopes(t, x, u, discrete, slopes);
  }
  void pass_events(Archive& archive) override;
  void take_over(Archive& archive) override;

  /// Models with the same programs, each with its own parameters, discrete variables and
  /// relations. Equal texts may have different programs where parameters are special (0, 1, equal
  /// to each other).
  bool fits(const BatchModel& other) const override;
  std::unique_ptr<ModelBatch> batch(std::span<BatchModel* const> members) const override;
  unsigned changes() const override { return changes_; }

  /// f and g; y''; what is held. For evaluations of many at once.
  const EquationPlaces& places() const { return code_->places(); }
  const ExpressionList& f() const { return code_->f(); }
  const ExpressionList& g() const { return code_->g(); }
  const Evaluation& curvatures() const { return code_->curvatures(); }
  std::span<const double> held() const;

  /// What it shares with others; kept where more of them are to be made.
  const std::shared_ptr<EquationsCode>& code() const { return code_; }

 private:
  void compile();
  void move_to(ExpressionList& list, double t, std::span<const double> x,
               std::span<const double> u) const;
  static void write(std::span<double> point, double t, std::span<const double> x,
                    std::span<const double> u);

  std::shared_ptr<const EquationsDescription> description_;  ///< replaced where a parameter is set
  std::shared_ptr<EquationsCode> code_;                      ///< likewise
  std::unique_ptr<EquationEvents> events_;                   ///< null: nothing ever happens
  double part_ = 1.0;                                        ///< along homotopy(...)
  unsigned changes_ = 0;                                     ///< of constants and of what is held
};

}  // namespace concord
