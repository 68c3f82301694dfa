#include <cmath>

#include "subsystem/fmu/setup.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

bool fits(const std::string& text, FmiType type) {
  if (type == FmiType::string) return true;
  if (type == FmiType::boolean)
    return text == "true" || text == "false" || text == "0" || text == "1";
  const auto number = parse_number(text);
  if (!number) return false;
  if (type == FmiType::float32 || type == FmiType::float64) return true;
  const auto whole_within = [&](double least, double most) {
    return *number == std::floor(*number) && *number >= least && *number <= most;
  };
  switch (type) {
    case FmiType::int8:
      return whole_within(-128, 127);
    case FmiType::uint8:
      return whole_within(0, 255);
    case FmiType::int16:
      return whole_within(-32768, 32767);
    case FmiType::uint16:
      return whole_within(0, 65535);
    case FmiType::int32:
      return whole_within(-2147483648.0, 2147483647.0);
    case FmiType::uint32:
      return whole_within(0, 4294967295.0);
    case FmiType::uint64:
      return whole_within(0, 0x1p64);
    case FmiType::binary:
      return false;
    default:
      return whole_within(-0x1p63, 0x1p63);
  }
}

/// What the model file gives the variables of one FMU.
class GivenValues {
 public:
  enum class Kind { parameter, start, either };

  GivenValues(FmuSetup& setup, const UnitRules& units) : setup_(setup), units_(units) {}

  void take_sizes();
  void take_values(const std::vector<FmuValue>& values, Kind kind);

 private:
  [[noreturn]] void fail(const std::string& location, const std::string& problem) const {
    refuse_request(setup_.request, location, problem);
  }
  const FmiVariable& settable(const FmuValue& value, Kind kind) const;
  void check_texts(const FmuValue& value, const FmiVariable& variable) const;
  std::vector<std::string> in_unit_of(const FmiVariable& variable, const FmuValue& value) const;

  FmuSetup& setup_;
  const UnitRules& units_;
};

/// Values of structural parameters may be sizes of arrays.
void GivenValues::take_sizes() {
  std::shared_ptr<ModelDescription> own;
  for (const auto* values : {&setup_.request.parameters, &setup_.request.values})
    for (const FmuValue& value : *values)
      for (std::size_t i = 0; i < setup_.model->variables.size(); ++i) {
        const FmiVariable& variable = setup_.model->variables[i];
        if (variable.name != value.name || variable.causality != FmiCausality::structural_parameter)
          continue;
        check_texts(value, variable);
        if (!own) own = std::make_shared<ModelDescription>(*setup_.model);
        own->variables[i].start = value.texts;
      }
  if (!own) return;
  apply_dimensions(*own, setup_.request.path.string());
  setup_.model = own;
}

const FmiVariable& GivenValues::settable(const FmuValue& value, Kind kind) const {
  std::vector<std::string> names;
  for (const FmiVariable& variable : setup_.model->variables) {
    const bool parameter = variable.causality == FmiCausality::parameter ||
                           variable.causality == FmiCausality::structural_parameter;
    const bool has_start = variable.variability != FmiVariability::constant &&
                           (variable.initial == "exact" || variable.initial == "approx") &&
                           !parameter && variable.causality != FmiCausality::independent;
    const bool fitting = kind == Kind::parameter ? parameter : has_start;
    if (!fitting && !(kind == Kind::either && (parameter || has_start))) continue;
    if (variable.name == value.name) return variable;
    names.push_back(variable.name);
  }
  fail(value.location, std::string("the FMU has no ") +
                           (kind == Kind::start ? "start value for " : "parameter ") +
                           in_quotes(value.name) + "; " + known("names", value.name, names));
}

void GivenValues::check_texts(const FmuValue& value, const FmiVariable& variable) const {
  if (value.texts.size() != variable.size)
    fail(value.location, in_quotes(value.name) + " takes " + std::to_string(variable.size) +
                             " values, found " + std::to_string(value.texts.size()));
  std::vector<std::string> items;
  for (const auto& [name, number] : variable.items) items.push_back(name);
  for (const std::string& text : value.texts)
    if (!fits(text, variable.type))
      fail(value.location, in_quotes(value.name) + " must be of type " + name_of(variable.type) +
                               ", not " + in_quotes(text) +
                               (items.empty() ? "" : "; " + known("items", text, items)));
}

std::vector<std::string> GivenValues::in_unit_of(const FmiVariable& variable,
                                                 const FmuValue& value) const {
  const std::string unit = units_.text(variable.unit, variable.base_unit);
  if (value.unit.empty() || unit.empty() || value.unit == unit) return value.texts;
  std::vector<std::string> result;
  for (const std::string& text : value.texts) {
    const auto number = units_.convert(parse_number(text).value_or(0.0), value.unit, unit);
    if (!number)
      fail(value.location, in_quotes(value.name) + " is given in " + in_quotes(value.unit) +
                               ", but the FMU takes " + in_quotes(unit) +
                               ", and there is no way from one to the other");
    result.push_back(exact_number(*number));
  }
  return result;
}

void GivenValues::take_values(const std::vector<FmuValue>& values, Kind kind) {
  for (FmuValue value : values) {
    const FmiVariable& variable = settable(value, kind);
    for (std::string& text : value.texts)
      for (const auto& [name, number] : variable.items)
        if (text == name) text = number;
    check_texts(value, variable);
    const std::vector<std::string> texts = in_unit_of(variable, value);
    if (variable.causality == FmiCausality::structural_parameter && variable.size == 1)
      setup_.structural.push_back({&variable, texts});
    else
      setup_.starts.push_back({&variable, texts});
  }
}

}  // namespace

void take_given_values(FmuSetup& setup, const UnitRules& units) {
  GivenValues given(setup, units);
  given.take_sizes();
  given.take_values(setup.request.parameters, GivenValues::Kind::parameter);
  given.take_values(setup.request.start, GivenValues::Kind::start);
  given.take_values(setup.request.values, GivenValues::Kind::either);
}

}  // namespace concord
