#include "coupling/problem/joins.hpp"

#include <algorithm>

#include "signal/misleading_slope.hpp"
#include "support/agreement.hpp"

namespace concord {

Joins::Joins(const RankNetwork& subsystems, const ConstraintRows& constraints)
    : subsystems_(subsystems),
      constraints_(constraints),
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

bool Joins::is_layer(std::size_t j, const CommunicationPoint& point, std::span<const Sample> ends,
                     double h) const {
  const std::size_t i = subsystems_.connected_inputs()[j];
  return afresh_[j] == 0 &&
         slope_misleads(point.inputs[i], ends[i], h, subsystems_.input_sizes()[i]);
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
