#pragma once

#include <memory>
#include <string>

#include "subsystem/subsystem.hpp"

namespace concord {

/// y(t) = u(t - T), T > 0 and constant, as a subsystem without states or direct feedthrough: what
/// stands in a connection with `delay: T`. Before the start u was what it is at the start.
///
/// It keeps the polynomials that u was given, so that y between communication points is what the
/// hold made of u; where T is smaller than the macro-step, y at its end answers to u's polynomial
/// on the same macro-step.
struct DelayDescription {
  std::string name;
  double delay = 0.0;     ///< T, s
  std::string from, to;   ///< the connection's ends
  OutputVariable source;  ///< what is delayed
};

inline constexpr const char* delay_input_name = "u";
inline constexpr const char* delay_output_name = "y";
inline constexpr const char* delay_parameter_name = "delay";  ///< of exported ones, s
/// In SSP: that a component is a delay, which readers who know this may put in its place.
inline constexpr const char* delay_annotation = "concord.delay";

SubsystemDescription describe_delay(const DelayDescription& delay);

std::unique_ptr<Subsystem> make_delay(const DelayDescription& delay);

}  // namespace concord
