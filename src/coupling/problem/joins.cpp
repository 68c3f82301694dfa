#include "coupling/problem/joins.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "signal/misleading_slope.hpp"
#include "support/agreement.hpp"

namespace concord {

Joins::Joins(const RankNetwork& subsystems, const ConstraintRows& constraints, const Hold& hold)
    : subsystems_(subsystems),
      constraints_(constraints),
      hold_(hold),
      afresh_(subsystems.connected_inputs().size(), 0),
      any_layer_(true) {
  begin();
}

void Joins::begin() {
  if (!any_layer_) {
    return;
  }
  for (std::size_t j = 0; j < afresh_.size(); ++j) {
    afresh_[j] = constraints_.begins_afresh(j) ? 1 : 0;
  }
  any_layer_ = false;
}

bool Joins::has_slope(std::size_t j, const CommunicationPoint& point) const {
  const bool anew = point.last_step == 0.0;
  return point.slopes_known &&
         !(anew && std::ranges::binary_search(constraints_.indirect_unknowns(), j));
}

/// At t_N. Cubics don't ask outputs for curvatures: the polynomial of the macro-step before tells.
/// It does not where something has happened since, where it is a line, as behind a layer, or where
/// it has left and come back to its end by a slope that is not resolved: what is left of a stiff
/// signal does so in every macro-step, and its cubics swing as no signal does.
double Joins::curvature(std::size_t i, const CommunicationPoint& point) const {
  if (hold_.ends_with_curvature()) {
    return point.inputs[i].curvature;
  }
  const Polynomial& before = point.polynomials[i];
  const double h = point.last_step;
  const bool bends = before.c[2] != 0.0 || before.c[3] != 0.0;
  const bool resolved = h * std::abs(point.inputs[i].derivative) <=
                        unresolved_slope * std::abs(point.inputs[i].value - before.c[0]);
  return h > 0.0 && bends && resolved ? before.curvature(h)
                                      : std::numeric_limits<double>::quiet_NaN();
}

bool Joins::is_layer(std::size_t j, const CommunicationPoint& point, std::span<const Sample> ends,
                     double h) const {
  const std::size_t i = subsystems_.connected_inputs()[j];
  const Sample begin{point.inputs[i].value, point.inputs[i].derivative, curvature(i, point)};
  return afresh_[j] == 0 &&
         slope_misleads(begin, ends[i], h, subsystems_.input_sizes()[i], hold_.degree);
}

bool Joins::sees_layer(const CommunicationPoint& point, std::span<const Sample> ends,
                       double h) const {
  bool found = false;
  for (std::size_t j = 0; point.slopes_known && !found && j < afresh_.size(); ++j) {
    found = is_layer(j, point, ends, h);
  }
  return found;
}

bool Joins::find_layers(const CommunicationPoint& point, std::span<const Sample> ends, double h) {
  bool found = false;
  for (std::size_t j = 0; point.slopes_known && j < afresh_.size(); ++j) {
    if (is_layer(j, point, ends, h)) {
      afresh_[j] = 1;
      found = true;
    }
  }
  found = agree_on_largest(subsystems_.comm(), found ? 1 : 0) != 0;
  any_layer_ = any_layer_ || found;
  return found;
}

}  // namespace concord
