#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "concord/api.hpp"
#include "concord/shared_list.hpp"

namespace concord CONCORD_API {

/// What a variable does between events: a continuous one moves and has slopes; a held one
/// (integers, Booleans, enumerations, discrete and sampled reals) keeps its value, and is never
/// interpolated.
enum class SignalKind { continuous, held };

/// An input u_i of a subsystem. `unit` may be empty (matches anything); an input without a start
/// value must be fed by a connection or a constraint. `nominal`, here and below: the variable's
/// usual magnitude in its unit, greater than 0; 0: not known, what it has been so far counts.
struct InputVariable {
  std::string name;
  std::string unit;
  std::optional<double> start;
  double nominal = 0.0;
  SignalKind kind = SignalKind::continuous;
  bool whole = false;  ///< takes whole numbers: what feeds it is rounded
};

/// A continuous state x_j with its value at the start of the simulation.
struct StateVariable {
  std::string name;
  std::string unit;
  double start = 0.0;
  double nominal = 0.0;
};

/// An output y_i.
struct OutputVariable {
  std::string name;
  std::string unit;
  double nominal = 0.0;
  SignalKind kind = SignalKind::continuous;
};

/// One entry of the structure of g_u: `output` depends directly on `input` (indices into the
/// subsystem's own lists).
struct Feedthrough {
  std::size_t output;
  std::size_t input;
};

/// Everything about a subsystem's boundary that is known without simulating it.
struct OdeInterface {
  SharedList<InputVariable> inputs;
  SharedList<StateVariable> states;
  SharedList<OutputVariable> outputs;
  /// Structure of g_u; absent means that every output depends on every input.
  std::optional<SharedList<Feedthrough>> feedthrough;
  /// Whether f or g depend on t explicitly. Saying that they don't saves evaluations.
  bool time_dependent = true;
  /// Whether the Jacobians are the same at every (t, x, u). Saying so saves taking them anew.
  bool constant_jacobians = false;
  /// Names of what `set_parameter` sets between macro-steps.
  SharedList<std::string> parameters = {};
  bool output_curvatures = false;  ///< `output_curvatures` gives y''
};

/// Partial derivatives of f and g at one point (t, x, u); row-major, sizes as noted.
struct Jacobians {
  std::span<double> f_x;  ///< n_st x n_st
  std::span<double> f_u;  ///< n_st x n_in
  std::span<double> g_x;  ///< n_out x n_st
  std::span<double> g_u;  ///< n_out x n_in
};

/// Partial derivatives of f and g by t at one point (t, x, u): how they change while x and u rest.
struct TimeDerivatives {
  std::span<double> f_t;  ///< n_st
  std::span<double> g_t;  ///< n_out
};

/// How a point (t, x, u) moves: dx/dt and du/dt.
struct Motion {
  std::span<const double> dxdt;  ///< n_st
  std::span<const double> dudt;  ///< n_in
};

/// How inputs move at a point: du/dt and d2u/dt2.
struct InputMotion {
  std::span<const double> dudt;    ///< n_in
  std::span<const double> d2udt2;  ///< n_in
};

/// A subsystem as the ordinary differential equation x' = f(t,x,u), y = g(t,x,u).
///
/// Derive from it to write a subsystem in C++; Concord integrates it with SUNDIALS and provides
/// everything else (rollback, output derivatives, linearisation by differences where `jacobians`,
/// `time_derivatives` and `output_slopes` are not given). Throwing `RecoverableFailure` from f or g
/// asks for a smaller step; any other exception ends the run. `t` is in seconds.
class OdeModel {
 public:
  virtual ~OdeModel() = default;

  virtual OdeInterface interface() const = 0;

  /// dxdt = f(t,x,u); sizes n_st, n_in, n_st.
  virtual void derivatives(double t, std::span<const double> x, std::span<const double> u,
                           std::span<double> dxdt) = 0;

  /// y = g(t,x,u); sizes n_st, n_in, n_out.
  virtual void outputs(double t, std::span<const double> x, std::span<const double> u,
                       std::span<double> y) = 0;

  /// Sets a tunable parameter, by its position in the interface: before the start, or between
  /// macro-steps. False where the value is refused.
  virtual bool set_parameter(std::size_t /*parameter*/, double /*value*/) { return false; }

  /// The value that this parameter has; none: only what it was set to is known.
  virtual std::optional<double> parameter(std::size_t /*parameter*/) { return std::nullopt; }

  /// Fills the partial derivatives and returns true, or returns false: differences are used.
  virtual bool jacobians(double /*t*/, std::span<const double> /*x*/, std::span<const double> /*u*/,
                         const Jacobians& /*result*/) {
    return false;
  }

  /// Fills f_t and g_t and returns true, or returns false: differences are used, unless the
  /// interface says that nothing depends on t explicitly.
  virtual bool time_derivatives(double /*t*/, std::span<const double> /*x*/,
                                std::span<const double> /*u*/, const TimeDerivatives& /*result*/) {
    return false;
  }

  /// Fills dydt = g_t + g_x dx/dt + g_u du/dt and returns true, or returns false: Jacobians or
  /// differences are used. One direction costs much less than Jacobians where there are many
  /// states.
  virtual bool output_slopes(double /*t*/, std::span<const double> /*x*/,
                             std::span<const double> /*u*/, const Motion& /*motion*/,
                             std::span<double> /*dydt*/) {
    return false;
  }

  /// Fills d2ydt2 = y'', the second derivative of y = g(t,x,u) by time where x' = f(t,x,u) and
  /// inputs move so, and returns true. Asked for where the interface says that it is given;
  /// elsewhere y'' is a difference of y'.
  virtual bool output_curvatures(double /*t*/, std::span<const double> /*x*/,
                                 std::span<const double> /*u*/, const InputMotion& /*motion*/,
                                 std::span<double> /*d2ydt2*/) {
    return false;
  }
};

}  // namespace CONCORD_API
