#include <string>
#include <unordered_map>
#include <unordered_set>

#include "subsystem/fmu/setup.hpp"
#include "support/wording.hpp"
#include "units/units.hpp"

namespace concord {

namespace {

/// What references stand for; of several variables that one whose derivative has a name.
std::unordered_map<FmiReference, const FmiVariable*> reals_by_reference(
    const ModelDescription& model) {
  std::unordered_set<std::string> names;
  for (const FmiVariable& variable : model.variables) names.insert(variable.name);
  const auto has_slope = [&](const FmiVariable& variable) {
    return names.contains("der(" + variable.name + ")");
  };
  std::unordered_map<FmiReference, const FmiVariable*> result;
  for (const FmiVariable& variable : model.variables) {
    if (variable.type != FmiType::float64 || variable.negated) continue;
    const auto [known, is_new] = result.try_emplace(variable.reference, &variable);
    if (!is_new && has_slope(variable) && !has_slope(*known->second)) known->second = &variable;
  }
  return result;
}

double start_of(const FmuSetup& setup, const FmiVariable& variable) {
  const std::vector<std::string>* texts = &variable.start;
  for (const FmuStart& given : setup.starts)
    if (given.variable == &variable) texts = &given.texts;
  return texts->empty() ? 0.0 : parse_number(texts->front()).value_or(0.0);
}

}  // namespace

std::vector<StateVariable> unnamed_states(const FmuSetup& setup) {
  const std::size_t count = setup.interface().unnamed_states;
  if (count == 0) return {};
  const std::vector<FmiReference>& references = setup.request.state_references;
  const auto variables = reals_by_reference(*setup.model);
  std::vector<StateVariable> states;
  for (std::size_t k = 0; k < count; ++k) {
    const auto found = k < references.size() ? variables.find(references[k]) : variables.end();
    if (found == variables.end()) {
      states.push_back({"state[" + std::to_string(k + 1) + "]", "", 0.0, 0.0});
      continue;
    }
    const FmiVariable& variable = *found->second;
    states.push_back({variable.name, unit_text(variable.unit, variable.base_unit),
                      start_of(setup, variable), variable.nominal});
  }
  return states;
}

}  // namespace concord
