#include "modelfile/yaml/fmu_reader.hpp"

#include "modelfile/fmu/fmu_entry.hpp"

namespace concord {
namespace {

std::vector<FmuValue> read_values(const std::vector<Field>& fields, const Constants& constants) {
  std::vector<FmuValue> result;
  for (const auto& [name, location, value] : fields) {
    FmuValue entry{name, {}, "", location};
    if (value.is_list())
      for (const NodeReader& item : value.items(value.what()))
        entry.texts.push_back(item.text_of_value(constants));
    else
      entry.texts.push_back(value.text_of_value(constants));
    result.push_back(std::move(entry));
  }
  return result;
}

}  // namespace

SubsystemEntry fmu_entry(const std::string& name, const NodeReader& file,
                         const std::vector<Field>& parameters, const std::vector<Field>& start,
                         bool isolated, ChangesByOwner& changes, const Constants& constants) {
  FmuRequest request;
  request.subsystem = name;
  request.path = file.folder() / file.text();
  request.location = file.location();
  request.parameters = read_values(parameters, constants);
  request.start = read_values(start, constants);
  request.isolation.isolated = isolated;
  return fmu_entry(std::move(request), &changes);
}

}  // namespace concord
