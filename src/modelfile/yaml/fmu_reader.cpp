#include "modelfile/yaml/fmu_reader.hpp"

#include "modelfile/fmu/fmu_entry.hpp"

namespace concord {
namespace {

std::vector<FmuValue> read_values(const std::vector<Field>& fields, const char* key,
                                  const char* role, const std::string& owner) {
  std::vector<FmuValue> result;
  const auto section = find_field(fields, key);
  if (!section) return result;
  for (const auto& [name, location, value] : section->fields(role, owner)) {
    FmuValue entry{name, {}, "", location};
    if (value.is_list())
      for (const NodeReader& item : value.items(value.what())) entry.texts.push_back(item.text());
    else
      entry.texts.push_back(value.text());
    result.push_back(std::move(entry));
  }
  return result;
}

}  // namespace

SubsystemEntry fmu_entry(const std::string& name, const NodeReader& node,
                         const std::vector<Field>& fields, const std::filesystem::path& folder) {
  const NodeReader file = *find_field(fields, "fmu");
  FmuRequest request;
  request.subsystem = name;
  request.path = folder / file.text();
  request.location = file.location();
  request.parameters = read_values(fields, "parameters", "parameter", node.what());
  request.start = read_values(fields, "start", "start value", node.what());
  return fmu_entry(std::move(request));
}

}  // namespace concord
