#include "subsystem/fmu/tunable_parameters.hpp"

#include <algorithm>
#include <cmath>

#include "support/wording.hpp"

namespace concord {

TunableParameters::TunableParameters(const FmuSetup& setup)
    : setup_(&setup), values_(setup.parameter_starts), given_(values_.size(), 0) {}

bool TunableParameters::take(std::size_t parameter, double value, std::string& failure) {
  std::size_t first = 0;
  const auto variable =
      std::find_if(setup_->parameter_variables.begin(), setup_->parameter_variables.end(),
                   [&](const FmiVariable* each) { return parameter < (first += each->size); });
  if (takes_whole_numbers(**variable) && value != std::nearbyint(value)) {
    failure = "parameter " + in_quotes(setup_->description.parameters[parameter]) +
              " takes whole numbers (" + name_of((*variable)->type) + "), not " +
              short_number(value);
    return false;
  }
  values_[parameter] = value;
  given_[parameter] = 1;
  collect();
  return true;
}

void TunableParameters::collect() {
  const bool any = std::find(given_.begin(), given_.end(), 1) != given_.end();
  given_ports_ = any ? setup_->ports(setup_->parameter_variables, given_) : FmuPorts();
}

void TunableParameters::io(Archive& archive) {
  CONCORD_MEMBERS(archive, values_, given_);
  collect();
}

}  // namespace concord
