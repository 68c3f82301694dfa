#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "concord/errors.hpp"
#include "subsystem/fmu/setup.hpp"
#include "support/wording.hpp"
#include "units/units.hpp"
#include "units/value_with_unit.hpp"

namespace concord {

namespace {

/// Whether the whole number stays the same in a double.
bool fits_a_double(const std::string& text) {
  std::int64_t whole = 0;
  const char* end = text.data() + text.size();
  if (std::from_chars(text.data(), end, whole).ptr != end) return true;
  return std::abs(whole) <= std::int64_t{1} << 53 ||
         static_cast<std::int64_t>(static_cast<double>(whole)) == whole;
}

/// What the model file gives the variables of one FMU.
class GivenValues {
 public:
  enum class Kind { parameter, start, either };

  explicit GivenValues(FmuSetup& setup) : setup_(setup) {
    const auto& variables = setup.model->variables;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      places_.emplace(variables[i].name, i);
      for (const std::string& alias : variables[i].aliases) places_.emplace(alias, i);
    }
  }

  void take_sizes();
  void take_values(const std::vector<FmuValue>& values, Kind kind);

 private:
  [[noreturn]] void fail(const std::string& location, const std::string& problem) const {
    refuse_request(setup_.request, location, problem);
  }
  const FmiVariable& settable(const FmuValue& value, Kind kind) const;
  void check_texts(const FmuValue& value, const FmiVariable& variable) const;
  void check_text(const std::string& text, const FmuValue& value,
                  const FmiVariable& variable) const;
  std::vector<std::string> in_unit_of(const FmiVariable& variable, const FmuValue& value) const;
  std::optional<double> converted(const std::optional<double>& number, const std::string& from,
                                  const std::string& to, bool relative) const;
  void take_unit(const FmiVariable& variable, FmuValue& value) const;
  void read_items(const FmiVariable& variable, FmuValue& value) const;

  FmuSetup& setup_;
  std::unordered_map<std::string, std::size_t> places_;  ///< of variables, by name and alias
};

/// Values of structural parameters may be sizes of arrays.
void GivenValues::take_sizes() {
  std::shared_ptr<ModelDescription> own;
  for (const auto* values : {&setup_.request.parameters, &setup_.request.values})
    for (const FmuValue& value : *values) {
      const auto place = places_.find(value.name);
      if (place == places_.end()) continue;
      const FmiVariable& variable = setup_.model->variables[place->second];
      if (variable.causality != FmiCausality::structural_parameter) continue;
      check_texts(value, variable);
      if (!own) own = std::make_shared<ModelDescription>(*setup_.model);
      own->variables[place->second].start = value.texts;
    }
  if (!own) return;
  apply_dimensions(*own, setup_.request.path.string());
  setup_.model = own;
}

bool takes(const FmiVariable& variable, GivenValues::Kind kind) {
  const bool parameter = variable.causality == FmiCausality::parameter ||
                         variable.causality == FmiCausality::structural_parameter;
  const bool has_start = variable.variability != FmiVariability::constant &&
                         (variable.initial == "exact" || variable.initial == "approx") &&
                         !parameter && variable.causality != FmiCausality::independent;
  const bool fitting = kind == GivenValues::Kind::parameter ? parameter : has_start;
  return fitting || (kind == GivenValues::Kind::either && (parameter || has_start));
}

std::vector<std::string> settable_names(const FmuSetup& setup, GivenValues::Kind kind) {
  std::vector<std::string> names;
  for (const FmiVariable& variable : setup.model->variables)
    if (takes(variable, kind)) names.push_back(variable.name);
  return names;
}

const FmiVariable& GivenValues::settable(const FmuValue& value, Kind kind) const {
  const auto place = places_.find(value.name);
  if (place != places_.end()) {
    const FmiVariable& variable = setup_.model->variables[place->second];
    if (takes(variable, kind)) return variable;
    if (kind == Kind::either)
      fail(value.location, in_quotes(value.name) + " cannot be given a value: its causality is " +
                               name_of(variable.causality) + ", its variability " +
                               name_of(variable.variability) +
                               "; parameters and variables with a start value can");
  }
  fail(value.location,
       std::string("the FMU has no ") + (kind == Kind::start ? "start value for " : "parameter ") +
           in_quotes(value.name) + "; " + known("names", value.name, settable_names(setup_, kind)));
}

void GivenValues::check_texts(const FmuValue& value, const FmiVariable& variable) const {
  if (value.texts.size() != variable.size)
    fail(value.location, in_quotes(value.name) + " takes " + std::to_string(variable.size) +
                             " values, found " + std::to_string(value.texts.size()));
  for (const std::string& text : value.texts) check_text(text, value, variable);
}

/// Of an enumeration the value of an item; of a whole number as an input one that a double holds,
/// in which inputs travel.
void GivenValues::check_text(const std::string& text, const FmuValue& value,
                             const FmiVariable& variable) const {
  std::vector<std::string> items;
  for (const auto& [name, number] : variable.items) items.push_back(name);
  if (!fits(text, variable.type))
    fail(value.location, in_quotes(value.name) + " must be of type " + name_of(variable.type) +
                             ", not " + in_quotes(text) +
                             (items.empty() ? "" : "; " + known("items", text, items)));
  const bool is_item = std::any_of(variable.items.begin(), variable.items.end(),
                                   [&](const auto& item) { return item.second == text; });
  if (!items.empty() && !is_item)
    fail(value.location, in_quotes(value.name) + " has no item with the value " + in_quotes(text) +
                             "; " + known("items", text, items));
  const bool wide = variable.type == FmiType::int64 || variable.type == FmiType::uint64;
  if (wide && variable.causality == FmiCausality::input && !fits_a_double(text))
    fail(value.location, in_quotes(value.name) + " is an input, which holds 53 bits, too few for " +
                             text + "; give it a smaller number");
}

/// A difference is converted without offset.
std::optional<double> GivenValues::converted(const std::optional<double>& number,
                                             const std::string& from, const std::string& to,
                                             bool relative) const {
  if (!number) return std::nullopt;
  const auto value = concord::converted(*number, from, to);
  const auto zero = relative ? concord::converted(0.0, from, to) : 0.0;
  return value && zero ? std::optional(*value - *zero) : std::nullopt;
}

std::vector<std::string> GivenValues::in_unit_of(const FmiVariable& variable,
                                                 const FmuValue& value) const {
  const std::string unit = unit_text(variable.unit, variable.base_unit);
  std::vector<std::string> result;
  for (const std::string& text : value.texts) {
    if (value.unit.empty() || unit.empty() || value.unit == unit) {
      result.push_back(text);
      continue;
    }
    const auto number = converted(parse_number(text), value.unit, unit, variable.relative);
    if (!number)
      fail(value.location, in_quotes(value.name) + " is given in " + in_quotes(value.unit) +
                               ", but the FMU takes " + in_quotes(unit) +
                               ", and there is no way from one to the other");
    result.push_back(exact_number(*number));
  }
  return result;
}

/// Of "36 km/h".
void GivenValues::take_unit(const FmiVariable& variable, FmuValue& value) const {
  const bool real = variable.type == FmiType::float64 || variable.type == FmiType::float32;
  const auto given = real && value.unit.empty() && value.texts.size() == 1
                         ? value_with_unit(value.texts.front())
                         : std::nullopt;
  if (!given || !is_known_unit(given->unit)) return;
  if (unit_text(variable.unit, variable.base_unit).empty())
    fail(value.location, in_quotes(value.name) + " is given in " + in_quotes(given->unit) +
                             ", but the FMU says no unit of it; give the number alone");
  value.texts.front() = exact_number(given->number);
  value.unit = given->unit;
}

/// One text may hold all elements of an array. Names of items become their values.
void GivenValues::read_items(const FmiVariable& variable, FmuValue& value) const {
  const bool listed = value.texts.size() == 1 && variable.size > 1;
  if (listed && variable.type != FmiType::string) value.texts = words(value.texts.front());
  for (std::string& text : value.texts)
    for (const auto& [name, number] : variable.items)
      if (text == name) {
        text = number;
        break;
      }
}

/// Text, unit, transformation, in this order (SSP 1.0, 4.5.2.3). A later value replaces an earlier.
void GivenValues::take_values(const std::vector<FmuValue>& values, Kind kind) {
  for (FmuValue value : values) {
    const FmiVariable& variable = settable(value, kind);
    take_unit(variable, value);
    read_items(variable, value);
    if (value.transformation.changes_nothing()) check_texts(value, variable);
    value.texts = in_unit_of(variable, value);
    for (std::string& text : value.texts)
      text = value.transformation.applied(text, value.location + ": " + in_quotes(value.name));
    read_items(variable, value);
    check_texts(value, variable);
    auto& taken = variable.causality == FmiCausality::structural_parameter && variable.size == 1
                      ? setup_.structural
                      : setup_.starts;
    std::erase_if(taken, [&](const FmuStart& start) { return start.variable == &variable; });
    taken.push_back({&variable, value.texts});
  }
}

}  // namespace

std::string LinearTransformation::applied(const std::string& text, const std::string& where) const {
  if (changes_nothing()) return text;
  const auto number = parse_number(text);
  if (!number) throw InputError(where + ": " + in_quotes(text) + " cannot be transformed linearly");
  return exact_number(factor * *number + offset);
}

std::vector<std::string> names_to_give(const FmuSetup& setup) {
  return settable_names(setup, GivenValues::Kind::either);
}

std::vector<FmuNumber> numbers_to_give(const FmuSetup& setup) {
  std::vector<FmuNumber> result;
  for (const FmiVariable& variable : setup.model->variables) {
    const bool real = variable.type == FmiType::float64 || variable.type == FmiType::float32;
    if (!real || variable.size != 1 || !takes(variable, GivenValues::Kind::either)) continue;
    const std::vector<std::string>* texts = &variable.start;
    for (const FmuStart& given : setup.starts)
      if (given.variable == &variable) texts = &given.texts;
    if (texts->empty()) continue;
    if (const auto value = parse_number(texts->front()))
      result.push_back(
          {variable.name, *value, variable.nominal, takes(variable, GivenValues::Kind::parameter)});
  }
  return result;
}

void take_given_values(FmuSetup& setup) {
  GivenValues given(setup);
  given.take_sizes();
  given.take_values(setup.request.parameters, GivenValues::Kind::parameter);
  given.take_values(setup.request.start, GivenValues::Kind::start);
  given.take_values(setup.request.values, GivenValues::Kind::either);
}

}  // namespace concord
