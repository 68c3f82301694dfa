#include "modelfile/yaml/equations_reader.hpp"

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "concord/errors.hpp"
#include "expression/expression_scan.hpp"
#include "expression/user_functions.hpp"
#include "modelfile/yaml/function_reader.hpp"
#include "modelfile/yaml/model_keys.hpp"
#include "modelfile/yaml/repetition.hpp"
#include "modelfile/yaml/vector_reader.hpp"
#include "subsystem/equations/dimension_check.hpp"
#include "subsystem/equations/equations_model.hpp"
#include "subsystem/equations/time_parts.hpp"
#include "subsystem/ode_subsystem.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using NumberEntry = EquationsDescription::Number;
using TextEntry = EquationsDescription::Text;
using Fields = std::vector<Field>;

Fields section(const Fields& fields, const char* key, const char* role, const std::string& owner) {
  const auto node = find_field(fields, key);
  return node ? node->indexed_fields(role, owner) : Fields{};
}

Fields inputs_of(const Fields& fields, const std::string& owner) {
  const auto node = find_field(fields, "inputs");
  return node ? node->fields_or_names("input", owner) : Fields{};
}

/// What stands in a list is put out as it is.
Fields outputs_of(const Fields& fields, const std::string& owner, const VectorReader& vectors) {
  const auto node = find_field(fields, "outputs");
  return node && node->is_list() ? vectors.sized(node->named_items("output", owner))
                                 : section(fields, "outputs", "output", owner);
}

/// Changes of what equations name so.
Fields changes_of_equations(const std::string& name, const NodeReader& node,
                            const std::vector<std::string>& names, const Fields& units,
                            const SubsystemSurroundings& around) {
  ModelChanges changes = around.changes.of(name, names);
  for (ModelChange& change : changes) {
    const auto unit = find_field(units, name_in(change.name));
    convert(change, unit && !unit->is_null() ? unit->text() : "");
  }
  return around.changed.of(changes, node.what());
}

/// Values of the model's parameters that are others for this subsystem leave `changes`.
Fields take_changed_constants(const Constants& constants, const std::vector<std::string>& names,
                              Fields& changes) {
  Fields taken;
  std::erase_if(changes, [&](const Field& change) {
    const bool own = std::ranges::find(names, name_in(change.key)) != names.end();
    const bool of_model = !own && constants.values.contains(change.key);
    if (of_model) taken.push_back(change);
    return of_model;
  });
  return taken;
}

/// Values in the place of those that stand in one of the sections.
void replace(const Fields& changes, std::initializer_list<NumberSection*> sections,
             const std::string& what, const std::string& owner) {
  for (const Field& change : changes) {
    bool found = false;
    std::vector<std::string> candidates;
    for (NumberSection* section : sections) {
      for (Field& entry : section->entries) {
        candidates.push_back(name_in(entry.key));
        if (candidates.back() != name_in(change.key) || found) {
          continue;
        }
        found = true;
        if (entry.key == change.key && entry.key == candidates.back()) {
          entry = change;
        } else {
          section->overrides.push_back(change);
        }
      }
    }
    if (!found) {
      throw InputError(change.key_location + ": " + owner + " has no " + what + " " +
                       in_quotes(change.key) + "; " + known("names", change.key, candidates));
    }
  }
}

/// Names, once each.
std::vector<std::string> names_of_keys(std::initializer_list<const Fields*> lists) {
  std::vector<std::string> result;
  std::unordered_set<std::string> seen;
  for (const std::string& key : keys_of(lists)) {
    if (std::string name = name_in(key); seen.insert(name).second) {
      result.push_back(std::move(name));
    }
  }
  return result;
}

/// Parameters of the model that expressions name are parameters of the subsystem, too.
void take_model_parameters(const Constants& constants, const std::string& location,
                           EquationsDescription& equations) {
  std::set<std::string> own;
  for (const auto* entries :
       {&equations.parameters, &equations.inputs, &equations.states, &equations.discrete}) {
    for (const NumberEntry& entry : *entries) {
      own.insert(entry.name);
    }
  }
  for (const TextEntry& variable : equations.variables) {
    own.insert(variable.name);
  }
  const auto take_one = [&](const std::string& name) {
    const auto found = constants.values.find(name);
    if (found != constants.values.end() && own.insert(name).second) {
      equations.parameters.push_back({name, found->second, location});
    }
  };
  const auto take = [&](const std::string& text) {
    for (const NameUse& use : names_used(text)) {
      const UserFunction* const called =
          use.called ? find_own(equations.functions.get(), use.name) : nullptr;
      if (called != nullptr) {
        std::ranges::for_each(called->parameters, take_one);
      } else {
        take_one(use.name);
      }
    }
  };
  const auto take_all = [&](const SharedList<TextEntry>& texts) {
    for (const TextEntry& text : texts) {
      take(text.text);
    }
  };
  for (const auto* texts : {&equations.derivatives, &equations.outputs, &equations.variables}) {
    take_all(*texts);
  }
  for (const EquationsDescription::When& when : equations.whens) {
    take(when.condition);
    take_all(when.sets);
  }
}

using Whens = std::vector<EquationsDescription::When>;

/// One for each element of a condition of vectors.
Whens read_when(const NodeReader& node, const Constants& constants, VectorReader& vectors) {
  const Fields fields = node.fields_among(when_keys);
  const auto condition = find_field(fields, "condition"), every = find_field(fields, "every");
  const auto offset = find_field(fields, "offset"), set = find_field(fields, "set");
  const auto initially = find_field(fields, "initially");
  if (condition.has_value() == every.has_value()) {
    node.fail("needs either 'condition', an expression, or 'every', the time between ticks in s");
  }
  if (offset && !every) {
    offset->fail("belongs to 'every'; a condition has none");
  }
  if (initially && every) {
    initially->fail("belongs to 'condition'; ticks come at the start where their offset says so");
  }
  const Fields sets = set->indexed_fields("set of", node.what());
  Whens result;
  if (condition) {
    result = vectors.whens(*condition, sets);
  } else {
    result.emplace_back();
    result.back().every = every->number(constants);
    result.back().location = node.location();
    result.back().sets = vectors.assignments(sets);
  }
  for (EquationsDescription::When& when : result) {
    when.offset = offset ? offset->number(constants) : 0.0;
    when.initially = initially && initially->flag();
  }
  return result;
}

/// Conditions and what they set.
Whens read_pairs(const NodeReader& node, VectorReader& vectors) {
  const Fields keys = node.fields("", node.what());
  if (find_field(keys, "condition") || find_field(keys, "every"))
    node.fail(
        "must be a list of these, lines '- {condition: ..., set: ...}', or a map, lines "
        "'condition: "
        "{what it sets}'");
  Whens result;
  for (const auto& [condition, sets] : node.entries("a condition of " + node.what()))
    std::ranges::move(vectors.whens(condition, sets.indexed_fields("set of", sets.what())),
                      std::back_inserter(result));
  return result;
}

Whens read_whens(const NodeReader& node, const Constants& constants, VectorReader& vectors) {
  if (node.is_map()) return read_pairs(node, vectors);
  Whens result;
  for (const NodeReader& item : node.items("when")) {
    const auto repeat = find_field(item.fields_among(when_keys), "repeat");
    if (!repeat) {
      std::ranges::move(read_when(item, constants, vectors), std::back_inserter(result));
      continue;
    }
    for (const Repetition& round : repetitions(*repeat, constants)) {
      vectors.enter(round, *repeat);
      std::ranges::move(read_when(item, constants, vectors), std::back_inserter(result));
    }
    vectors.leave();
  }
  return result;
}

/// What is given in other units, in those of what it is given to.
void convert(NumberSection& section, const Fields& units, ChangedFields& changed) {
  for (Fields* fields : {&section.entries, &section.overrides}) {
    for (Field& field : *fields) {
      const auto own = find_field(units, field.key);
      const auto unit = own ? own : find_field(units, name_in(field.key));
      field = changed.in_unit(field, unit && !unit->is_null() ? unit->text() : "");
    }
  }
}

/// The sections that give numbers, with all that is said in their place.
struct Sections {
  NumberSection parameters, inputs, states, discrete;
  Fields constants = {};  ///< of the model, that are others here
};

Sections read_sections(const std::string& name, const NodeReader& node, const Fields& parts,
                       const Fields& units, const SubsystemParts& given,
                       const SubsystemSurroundings& around) {
  const std::string& of = node.what();
  Sections result{{section(parts, "parameters", "parameter", of)},
                  {inputs_of(parts, of)},
                  {section(parts, "states", "state", of)},
                  {section(parts, "discrete", "discrete variable", of)}};
  auto& [parameters, inputs, states, discrete, constants] = result;
  const std::string last = discrete.entries.empty() ? " or state" : ", state or discrete variable";
  replace(given.parameters, {&parameters}, "parameter", of);
  replace(given.start, {&states, &inputs, &discrete}, "input" + last, of);
  const auto names =
      names_of_keys({&parameters.entries, &states.entries, &inputs.entries, &discrete.entries});
  Fields changes = changes_of_equations(name, node, names, units, around);
  constants = take_changed_constants(given.constants, names, changes);
  replace(changes, {&parameters, &states, &inputs, &discrete}, "parameter, input" + last, of);
  for (NumberSection* numbers : {&parameters, &states, &inputs, &discrete}) {
    convert(*numbers, units, around.changed);
  }
  return result;
}

/// Sizes that are written into the equations are no parameters any more, which could be changed.
void fix(const std::set<std::string>& names, const Constants& constants,
         EquationsDescription& equations) {
  for (const std::string& name : names) {
    std::erase_if(equations.parameters.own(),
                  [&](const NumberEntry& parameter) { return parameter.name == name; });
    std::erase_if(equations.units.own(), [&](const TextEntry& unit) { return unit.name == name; });
    equations.variables.push_back(
        {name, exact_number(constants.values.at(name)), equations.location});
  }
}

/// Of the model's parameters that are to be others here.
void require_used(const Fields& changed, const EquationsDescription& equations,
                  const std::string& owner) {
  const std::vector<std::string> names = names_of(equations.parameters);
  for (const Field& constant : changed) {
    if (std::ranges::find(names, constant.key) == names.end()) {
      throw InputError(constant.key_location + ": the equations of " + owner +
                       " do not name the model's parameter " + in_quotes(constant.key) + "; " +
                       known("parameters", constant.key, names));
    }
  }
}

EquationsDescription read_equations(const std::string& name, const NodeReader& node,
                                    const SubsystemParts& given,
                                    const SubsystemSurroundings& around) {
  const auto entry = *find_field(given.kind, "equations");
  const Fields parts = entry.fields_among(equations_keys);
  const std::string& of = node.what();
  const Fields units = section(parts, "units", "unit", of);
  const auto [parameters, inputs, states, discrete, changed] =
      read_sections(name, node, parts, units, given, around);
  const Fields variables = section(parts, "variables", "variable", of);
  Constants around_it = given.constants;
  for (const Field& constant : changed) {
    around_it.values[constant.key] = constant.value.number(given.constants);
  }
  Constants known = around_it;
  keep_in_functions(names_of_keys({&parameters.entries, &inputs.entries, &states.entries,
                                   &discrete.entries, &variables}),
                    known);
  if (const auto functions = find_field(parts, "functions")) {
    read_functions(functions->fields("function", of), names_of_keys({&parameters.entries}), known);
  }
  Constants constants = resolved(of_single_values(parameters.entries), known);
  VectorReader vectors(constants);
  vectors.declare_parameters(parameters.entries);
  for (const Fields* fields : {&inputs.entries, &states.entries, &discrete.entries, &variables}) {
    vectors.declare(*fields);
  }
  EquationsDescription result;
  result.functions = known.functions;
  result.subsystem = name;
  result.location = node.location();
  result.parameters = vectors.parameters(parameters);
  result.inputs = vectors.numbers(inputs, VectorReader::Lack::allowed);
  result.states = vectors.numbers(states);
  result.discrete = vectors.numbers(discrete);
  if (const auto whens = find_field(parts, "when")) {
    result.whens = read_whens(*whens, constants, vectors);
  }
  result.variables = vectors.variables(variables);
  result.derivatives = vectors.assignments(section(parts, "derivatives", "derivative", of));
  result.outputs = vectors.outputs(outputs_of(parts, of, vectors));
  result.units = vectors.units(units);
  result.display = vectors.units(section(parts, "display", "display unit", of));
  result.nominal = vectors.nominal(section(parts, "nominal", "nominal value", of));
  std::ranges::move(vectors.shared(node.location()), std::back_inserter(result.variables));
  fix(vectors.fixed(), constants, result);
  take_model_parameters(around_it, node.location(), result);
  require_used(changed, result, of);
  return result;
}

/// What sets read is what was before; of a name that is set at the same instant that may surprise.
std::vector<std::string> notes_on(const EquationsDescription& equations) {
  std::vector<std::string> notes;
  for (const EquationsDescription::When& when : equations.whens) {
    const std::vector<std::string> names = names_of(when.sets);
    const std::set<std::string> set(names.begin(), names.end());
    for (const TextEntry& text : when.sets) {
      for (const NameUse& use : names_used(text.text)) {
        const std::string before = text.text.substr(0, use.position);
        const bool says_so = before.ends_with("pre(");
        if (!says_so && set.contains(use.name)) {
          notes.push_back(text.location + ": '" + text.name + "' is set from what '" + use.name +
                          "' was before; pre(" + use.name + ") says so");
        }
      }
    }
  }
  return notes;
}

}  // namespace

namespace {

/// What time alone moves is looked at while it runs (ScannedOutputs); null: nothing else does.
std::shared_ptr<TimeParts> time_parts_of(const EquationsModel& model) {
  const EquationPlaces& places = model.places();
  if ((places.states == 0 && places.inputs == 0) || !model.code()->depends_on_time())
    return nullptr;
  const auto& parts = model.code()->time_parts();
  return parts->any() ? parts : nullptr;
}

void take_numbers(const auto& variables, SharedList<EquationsDescription::Number>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i].value != variables[i].start) numbers.own()[i].value = variables[i].start;
}

/// The same equations with other numbers.
void begin_equations_with(SubsystemEntry& entry, const SubsystemDescription& starts) {
  auto other = std::make_shared<EquationsDescription>(*entry.equations);
  take_numbers(starts.states, other->states);
  take_numbers(starts.inputs, other->inputs);
  describe_anew(entry, std::move(other));
}

}  // namespace

void describe_anew(SubsystemEntry& entry, std::shared_ptr<const EquationsDescription> description) {
  const SubsystemEntry made = equations_entry(std::move(description));
  entry.equations = made.equations;
  entry.description = made.description;
  entry.type.own().create = made.type->create;
  entry.type.own().events = made.type->events;
}

namespace {

SubsystemDescription described(const EquationsDescription& equations, const EquationsModel& model) {
  SubsystemDescription result = describe_ode(equations.subsystem, "equations", model.interface());
  result.events = model.has_events();
  result.remarks = notes_on(equations);
  result.kinks = time_parts_of(model) != nullptr;
  return result;
}

}  // namespace

namespace {

/// Of all equations that have this code and are shown in these units.
SharedValue<SubsystemType> type_of(const EquationsDescription& description,
                                   const EquationsModel& model) {
  SharedValue<SubsystemType> result;
  SubsystemType& type = result.own();
  for (const auto& shown : description.display) type.display.emplace(shown.name, shown.text);
  if (!description.discrete.empty())
    type.identity = "discrete variables " + joined(names_of(description.discrete));
  if (const auto parts = time_parts_of(model)) {
    type.events = [parts](double from, double to, std::size_t among) {
      return parts->changes_of_pace(from, to, among);
    };
  }
  type.create = [compiled = model.code()](const SubsystemEntry& entry,
                                          const SubsystemSettings& settings) {
    auto made = std::make_unique<EquationsModel>(entry.equations);
    SubsystemDescription shown = described(*entry.equations, *made);
    shown.states = entry.description.states;  // the same, and there once
    return make_ode_subsystem(std::move(shown), std::move(made), settings);
  };
  type.take_starts = begin_equations_with;
  return result;
}

SubsystemEntry entry_of(std::shared_ptr<const EquationsDescription> description,
                        const EquationsModel& model, SharedValue<SubsystemType> type) {
  SubsystemEntry entry;
  entry.location = description->location;
  entry.description = described(*description, model);
  entry.equations = std::move(description);
  entry.type = std::move(type);
  return entry;
}

}  // namespace

SubsystemEntry equations_entry(std::shared_ptr<const EquationsDescription> description) {
  const EquationsModel model(description);
  auto type = type_of(*description, model);
  return entry_of(std::move(description), model, std::move(type));
}

SubsystemEntry equations_entry(const std::string& name, const NodeReader& node,
                               const SubsystemParts& parts, const SubsystemSurroundings& around) {
  auto description =
      std::make_shared<const EquationsDescription>(read_equations(name, node, parts, around));
  SubsystemEntry entry = equations_entry(description);
  if (around.checked->insert(find_field(parts.kind, "equations")->location()).second) {
    entry.type.own().notes = check_dimensions(*description);
  }
  return entry;
}

namespace {

bool names(const std::string& text, const std::string& name) {
  return std::ranges::any_of(names_used(text),
                             [&](const NameUse& use) { return use.name == name; });
}

/// Whether it stands in a text below the node, keys among them.
bool stands_in(const NodeReader& node, const std::string& name) {
  if (node.is_null()) return false;
  if (node.is_list())
    return std::ranges::any_of(node.items(node.what()),
                               [&](const NodeReader& item) { return stands_in(item, name); });
  if (!node.is_map()) return names(node.text(), name);
  return std::ranges::any_of(node.fields("", ""), [&](const Field& field) {
    return names(field.key, name) || stands_in(field.value, name);
  });
}

}  // namespace

/// What the index may stand in are numbers; whatever else it is named in is read in every round,
/// and so is what is changed.
RepeatedEquations::RepeatedEquations(const NodeReader& node, const SubsystemParts& parts,
                                     const std::string& index, const SubsystemEntry& first,
                                     const SubsystemSurroundings& around)
    : index_(index) {
  const Fields fields = find_field(parts.kind, "equations")->fields_among(equations_keys);
  if (!around.changes.empty() || parts.constants.functions || find_field(fields, "functions"))
    return;
  for (const Field& field : fields) {
    const bool numbers = field.key == "parameters" || field.key == "inputs" ||
                         field.key == "states" || field.key == "discrete";
    if (!numbers && stands_in(field.value, index)) return;
  }
  const Fields units = section(fields, "units", "unit", node.what());
  const Sections sections =
      read_sections(first.description.name, node, fields, units, parts, around);
  first_ = first.equations;
  constants_ = resolved(of_single_values(sections.parameters.entries), parts.constants);
  const auto may_vary = [&](const Field& field) { return varies(field.value); };
  if (std::ranges::any_of(sections.parameters.entries, may_vary))
    parameters_ = sections.parameters.entries;
  if (!sections.parameters.overrides.empty() || !sections.states.overrides.empty() ||
      !sections.inputs.overrides.empty() || !sections.discrete.overrides.empty() ||
      !take(sections.parameters.entries, &EquationsDescription::parameters) ||
      !take(sections.inputs.entries, &EquationsDescription::inputs) ||
      !take(sections.states.entries, &EquationsDescription::states) ||
      !take(sections.discrete.entries, &EquationsDescription::discrete))
    first_.reset();
}

/// By the index, or by parameters, which vary by it.
bool RepeatedEquations::varies(const NodeReader& value) const {
  if (stands_in(value, index_)) return true;
  return std::ranges::any_of(parameters_,
                             [&](const Field& field) { return stands_in(value, field.key); });
}

/// False where there are vectors, or names that are something else in equations.
bool RepeatedEquations::take(
    const Fields& entries,
    SharedList<EquationsDescription::Number> EquationsDescription::*section) {
  const auto& numbers = (*first_).*section;
  if (numbers.size() < entries.size()) return false;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& [key, location, value] = entries[i];
    if (key != numbers[i].name || key == index_) return false;
    if (varies(value)) varying_.push_back({section, i, value});
  }
  return true;
}

std::optional<SubsystemEntry> RepeatedEquations::in_round(const std::string& name, double value) {
  if (!first_) return std::nullopt;
  auto equations = std::make_shared<EquationsDescription>(*first_);
  equations->subsystem = name;
  constants_.values[index_] = value;
  if (!put_numbers(*equations)) return std::nullopt;
  const EquationsModel model(equations);
  if (model.code() != code_) type_ = type_of(*equations, model);
  code_ = model.code();
  return entry_of(std::move(equations), model, type_);
}

/// False where one is wrong, which is told where it is read by itself.
bool RepeatedEquations::put_numbers(EquationsDescription& equations) {
  try {
    if (!parameters_.empty()) constants_ = resolved(parameters_, constants_);
    for (const auto& [section, place, value] : varying_)
      (equations.*section).own()[place].value = value.number(constants_);
  } catch (const InputError&) {
    return false;
  }
  return true;
}

}  // namespace concord
