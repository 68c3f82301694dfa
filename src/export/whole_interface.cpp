#include "export/whole_interface.hpp"

#include <nlohmann/json.hpp>

#include "concord/errors.hpp"

namespace concord {

NLOHMANN_JSON_SERIALIZE_ENUM(WholeRole, {{WholeRole::time, "time"},
                                         {WholeRole::input, "input"},
                                         {WholeRole::output, "output"},
                                         {WholeRole::state, "state"},
                                         {WholeRole::parameter, "parameter"},
                                         {WholeRole::start, "start"},
                                         {WholeRole::error_estimate, "error_estimate"}})

namespace {

using Json = nlohmann::ordered_json;

/// What the binary needs; the rest stands in modelDescription.xml.
Json json_of(const WholeVariable& variable) {
  Json result = {{"name", variable.name}, {"role", variable.role}, {"source", variable.source}};
  if (variable.start) result["start"] = *variable.start;
  if (variable.tunable) result["tunable"] = true;
  return result;
}

WholeVariable variable_of(const Json& json) {
  WholeVariable result;
  result.name = json.at("name");
  result.role = json.at("role");
  result.source = json.at("source");
  if (json.contains("start")) result.start = json.at("start").get<double>();
  result.tunable = json.contains("tunable");
  return result;
}

}  // namespace

std::string as_json(const WholeInterface& interface) {
  Json variables = Json::array();
  for (const WholeVariable& variable : interface.variables) variables.push_back(json_of(variable));
  const Json all = {{"name", interface.name},
                    {"token", interface.token},
                    {"model", interface.model},
                    {"changes", interface.changes},
                    {"start", interface.start},
                    {"stop", interface.stop},
                    {"tolerance", interface.tolerance},
                    {"step", interface.step},
                    {"keeps_state", interface.keeps_state},
                    {"derives", interface.derives},
                    {"variables", variables}};
  return all.dump(1) + "\n";
}

WholeInterface whole_interface_of(const std::string& json, const std::string& place) {
  try {
    const Json all = Json::parse(json);
    WholeInterface result;
    result.name = all.at("name");
    result.token = all.at("token");
    result.model = all.at("model");
    result.changes = all.at("changes").get<std::vector<std::string>>();
    result.start = all.at("start");
    result.stop = all.at("stop");
    result.tolerance = all.at("tolerance");
    result.step = all.at("step");
    result.keeps_state = all.at("keeps_state");
    result.derives = all.at("derives");
    for (const Json& variable : all.at("variables"))
      result.variables.push_back(variable_of(variable));
    return result;
  } catch (const Json::exception& error) {
    throw InputError(place + ": is not what 'concord export-fmu' has written: " + error.what());
  }
}

}  // namespace concord
