#pragma once

#include <span>
#include <vector>

#include "subsystem/integrator_settings.hpp"
#include "subsystem/ode/answering_increments.hpp"
#include "subsystem/ode/checked_model.hpp"
#include "subsystem/ode/column_groups.hpp"
#include "support/scratch.hpp"

namespace concord {

/// How large states and inputs are (signal/sizes.hpp): the scale of increments.
struct PointSizes {
  std::span<const double> states, inputs;
};

/// What is learnt from one linearisation for the next ones.
struct LearntDerivatives {
  struct Differences {
    std::vector<AnsweringIncrements> unknown_states, unknown_inputs;  ///< empty: not yet wanted
    ColumnGroups groups;                                              ///< of many states

    void io(Archive& archive) { CONCORD_MEMBERS(archive, unknown_states, unknown_inputs, groups); }
  };
  std::unique_ptr<Differences> made;  ///< null: none yet
  bool has_jacobians = false;         ///< at the last linearisation

  Differences& differences() {
    if (!made) made = std::make_unique<Differences>();
    return *made;
  }
  void io(Archive& archive) {
    bool any = made != nullptr;
    CONCORD_MEMBERS(archive, has_jacobians, any);
    if (!any) made.reset();
    if (any) CONCORD_MEMBERS(archive, differences());
  }
  int memory_version() const { return 2; }
};

/// Derivatives of f and g at one point (t, x, u) of the solution: the model's own where it has them
/// and differences otherwise, which stay between the events before and behind t. Every call returns
/// false where f or g fails, with the reason in the model. `h` is the macro-step size, the time
/// scale of differences. Made for a call: all but what it learns is scratch.
class PointDerivatives {
 public:
  PointDerivatives(CheckedModel& model, LearntDerivatives& learnt);

  /// outputs = y and, if wanted, y' = g_t + g_x f + g_u u' for inputs u, u'.
  ///
  /// Where the model doesn't give it, y' is the slope of g along the line (t, x, u) + s (1, f, u')
  /// at s = 0, by a fourth-order difference with s = h/1000: truncation about 1e-13 h^4 y^(5),
  /// rounding about 3e-13 y/h. With Jacobians only g_t is such a difference.
  bool outputs(double t, double h, std::span<const double> x, std::span<const Sample> inputs,
               Wanted wanted, std::span<Sample> outputs);

  /// result = y'' for inputs u, u' and u''.
  ///
  /// Where the model doesn't give it, y'' is the slope of y'(t, x, u, u') along the line
  /// (t, x, u, u') + s (1, f, u', u'') at s = 0, by a fourth-order difference with s = h/8:
  /// truncation about 1e-5 h^4 y^(6), where the macro-step's own error is as if it were 1e-3;
  /// rounding about 1e-13 y/h^2 where y' is a difference itself, with h/50.
  bool output_curvatures(double t, double h, std::span<const double> x,
                         std::span<const Sample> inputs, std::span<double> result);

  /// All of `result`. Without Jacobians the columns are central differences with the step
  /// cbrt(eps) max(|x_j|, size), or, where both are 0, those that f and g answer to; f_t and g_t
  /// are second-order differences with h/1000. Of many states, those that no equation has together
  /// are moved at once, by the pattern of earlier calls; a difference in another direction tells
  /// whether that still holds.
  bool linearize(double t, double h, std::span<const double> x, std::span<const Sample> inputs,
                 const PointSizes& sizes, Linearization& result);

  /// The same without f_t and g_t. Derivatives that are the same everywhere stay as they are in
  /// `result` while parameters, which have been set so often, are those that it was found for.
  bool linearize_at(double t, std::span<const double> x, std::span<const Sample> inputs,
                    const PointSizes& sizes, std::int64_t parameters, Linearization& result);

  /// All of `result` as entries of the model's `pattern`; by differences where its Jacobians are
  /// not finite.
  bool linearize(double t, double h, std::span<const double> x, std::span<const Sample> inputs,
                 const PointSizes& sizes, const LinearPattern& pattern, Linearization& result);

  /// Whether the partial derivatives at this point are those of `known`. Where the model says that
  /// they are the same everywhere, it costs nothing; where it has no Jacobians, two evaluations of
  /// f and g, at this point and beside it in a direction that has all of t, x and u in it; else
  /// they are to be taken anew.
  bool keeps(const Linearization& known, double t, double h, std::span<const double> x,
             std::span<const Sample> inputs, const PointSizes& sizes);

 private:
  bool is_whole(const Linearization& known) const;
  bool evaluate(double t, std::span<const double> x, std::span<const Sample> inputs,
                Linearization& result);
  bool derive(double t, std::span<const double> x, const PointSizes& sizes, Linearization& result);
  struct Point {
    std::span<double> u, du, f, y, dy, d2u;
  };
  struct Moved {
    std::span<double> x, u, y;
  };
  struct Differences {
    std::span<double> f_high, f_low, g_high, g_low;  ///< the high ones end as the quotients
    std::span<double> quotients;                     ///< of f, then g
  };

  void take_room();
  bool keeps_beside(const Linearization& known, double t, double s, std::span<const double> x,
                    const PointSizes& sizes);
  void take_inputs(std::span<const Sample> inputs);
  bool output_slopes(double t, double h, std::span<const double> x);
  bool slopes_by_jacobians(double t, double h, std::span<const double> x);
  template <class Stencil>
  bool curvatures_by_stencil(const Stencil& stencil, double t, double h, double s,
                             std::span<const double> x, std::span<double> result);
  bool slopes_in_time(double t, double h, std::span<const double> x);
  bool slopes_along_line(double t, double h, std::span<const double> x, double x_speed,
                         double u_speed);
  template <class Stencil>
  bool slopes_by_stencil(const Stencil& stencil, double t, double s, std::span<const double> x,
                         double x_speed, double u_speed, double t_speed);
  bool difference_states(double t, std::span<const double> sizes, Linearization& result);
  bool difference_groups(double t, std::span<const double> sizes, Linearization& result);
  bool pattern_holds(double t, std::span<const double> sizes, const Linearization& result);
  bool difference_columns(double t, std::span<double> moved, std::span<const double> sizes,
                          std::vector<AnsweringIncrements>& unknown, std::vector<double>& f_columns,
                          std::vector<double>& g_columns, const Linearization& at);
  bool derive_by_time(double t, double h, std::span<const double> x, Linearization& result);
  template <class Stencil>
  bool difference_in_time(const Stencil& stencil, double t, double s, std::span<const double> x,
                          Linearization& result);
  template <class Evaluate>
  bool difference(double value, double step, const Linearization& at, Evaluate&& evaluate);

  /// Of differences of y', where they are made.
  struct Bent {
    std::vector<double> x, u, du, f;
  };

  Scratch scratch_;
  CheckedModel& model_;
  LearntDerivatives& learnt_;
  std::size_t n_st_, n_in_, n_out_;
  Point at_;
  bool has_room_ = false;
  Moved moved_;              ///< once there is room
  Differences differences_;  ///< the same
  Bent bent_;
};

}  // namespace concord
