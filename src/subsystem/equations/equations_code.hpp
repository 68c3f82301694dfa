#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "concord/ode_model.hpp"
#include "expression/expression_list.hpp"
#include "subsystem/equations/equation_events.hpp"
#include "subsystem/equations/equations_description.hpp"
#include "subsystem/equations/time_parts.hpp"
#include "subsystem/sparse_model.hpp"

namespace concord {

/// What all equations that differ in names of subsystems and in start values only have in common:
/// checked and compiled once, and there as long as one of them is. Registers that expressions are
/// evaluated in are among it: whoever evaluates them writes the whole point before.
class EquationsCode {
 public:
  /// Throws InputError as EquationsModel does. `part`: of actual in homotopy(actual, simplified).
  static std::shared_ptr<EquationsCode> of(const EquationsDescription& description,
                                           double part = 1.0);

  explicit EquationsCode(const EquationsDescription& description, double part = 1.0);
  EquationsCode(const EquationsCode&) = delete;
  EquationsCode& operator=(const EquationsCode&) = delete;

  /// With these start values.
  OdeInterface interface(const EquationsDescription& description) const;
  const EquationPlaces& places() const { return places_; }
  bool has_homotopy() const { return has_homotopy_; }
  bool depends_on_time() const { return interface_.time_dependent; }
  ExpressionList& f() { return derivatives_; }
  ExpressionList& g() { return outputs_; }
  /// Null where nothing ever happens, nor has a value that could be set.
  std::unique_ptr<EquationEvents> events(const EquationsDescription& description) const;

  /// Of f_x, and where the entries of f stand in it; those by others than states nowhere. The first
  /// call finds it.
  const std::shared_ptr<const ColumnPattern>& state_pattern();
  std::span<const std::size_t> places_in_pattern() const { return places_in_pattern_; }
  /// Of f and g by states and inputs. The first call finds it.
  const std::shared_ptr<const LinearPattern>& linear_pattern();
  /// y''. The first call derives them.
  Evaluation& curvatures();
  /// What moves with time alone. The first call finds it.
  const std::shared_ptr<TimeParts>& time_parts();
  /// A direction for `slopes`: as long as a point, zero where nobody has written.
  std::span<double> direction() { return direction_; }

 private:
  EquationsCode(const EquationsDescription& description, const SmoothEquations& equations,
                double part);

  struct Events {
    std::vector<Relation> relations;
    std::vector<EquationCondition> conditions;
    EquationEvents::Lists lists;
  };
  static std::optional<Events> events_of(const SmoothEquations& equations);
  bool is_of(const EquationsDescription& description, double part) const;

  EquationsDescription description_;
  double part_;
  bool has_homotopy_;
  OdeInterface interface_;
  EquationPlaces places_;
  ExpressionList derivatives_, outputs_;  ///< of EquationPlaces
  std::optional<Events> events_;
  std::shared_ptr<const ColumnPattern> state_pattern_;
  std::vector<std::size_t> places_in_pattern_;
  std::shared_ptr<const LinearPattern> linear_pattern_;
  std::optional<Evaluation> curvatures_;
  std::shared_ptr<TimeParts> time_parts_;
  std::vector<double> direction_;
};

}  // namespace concord
