#include "modelfile/ssp/ssp_changes.hpp"

#include "modelfile/ssp/ssp_parameters.hpp"

namespace concord {

ModelChanges read_ssv_changes(const std::filesystem::path& path) {
  ModelChanges changes;
  for (FmuValue& value : read_parameter_set(path)) {
    changes.push_back(change_of(value.name, value.texts.front(), value.location));
    changes.back().unit = value.unit;
    if (value.texts.size() > 1) changes.back().items = std::move(value.texts);
  }
  return changes;
}

}  // namespace concord
