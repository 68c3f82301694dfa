#include "modelfile/yaml/vector_reader.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_set>
#include <utility>

#include "concord/errors.hpp"
#include "expression/expression_list.hpp"
#include "expression/expression_scan.hpp"
#include "modelfile/yaml/constants.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Fields = std::vector<Field>;

bool has_brackets(const Field& field) { return field.key.find('[') != field.key.npos; }

PlacedExpression placed_text(const NodeReader& value) {
  return {value.text(), value.location() + ": " + value.what()};
}

PlacedExpression placed_key(const Field& field) {
  return {field.key, field.key_location + ": " + field.value.what()};
}

[[noreturn]] void refuse_key(const Field& field, const std::string& problem) {
  throw InputError(field.key_location + ": " + field.value.what() + " " + problem);
}

/// The values of a list of lists, row by row, as deep as there are dimensions.
void add_items(const NodeReader& value, std::span<const long> shape,
               std::vector<NodeReader>& result) {
  const std::vector<NodeReader> items = value.items(value.what());
  const auto wanted = static_cast<std::size_t>(shape.front());
  if (items.size() != wanted) {
    value.fail("has " + std::to_string(items.size()) + " values in a list, where " +
               std::to_string(wanted) + " are wanted");
  }
  for (const NodeReader& item : items) {
    if (shape.size() == 1) {
      result.push_back(item);
    } else {
      add_items(item, shape.subspan(1), result);
    }
  }
}

}  // namespace

std::string name_in(const std::string& key) { return key.substr(0, key.find('[')); }

Fields of_single_values(const Fields& fields) {
  Fields result;
  std::ranges::copy_if(fields, std::back_inserter(result), std::not_fn(has_brackets));
  return result;
}

/// "3", "2:n", "i in 2:n".
struct VectorReader::Dimension {
  enum class Kind { index, range };

  Kind kind;
  long first, last;
  std::string variable;  ///< empty: none
};

/// The elements that a key is about.
struct VectorReader::Target {
  std::string name;
  std::vector<Dimension> dimensions = {};  ///< none: one value

  VectorShape counts() const {
    VectorShape result;
    for (const Dimension& each : dimensions)
      result.push_back(std::max(each.last - each.first + 1, 0L));
    return result;
  }
  /// As what stands for them whole must be.
  VectorShape shape() const {
    VectorShape result;
    for (const Dimension& each : dimensions)
      if (each.kind == Dimension::Kind::range) result.push_back(each.last - each.first + 1);
    return result;
  }
  std::vector<std::string> variables() const {
    std::vector<std::string> result;
    for (const Dimension& each : dimensions)
      if (!each.variable.empty()) result.push_back(each.variable);
    return result;
  }
  std::vector<long> indices(std::size_t place, const VectorShape& counts) const {
    std::vector<long> result = indices_at(place, counts);
    for (std::size_t d = 0; d < result.size(); ++d) result[d] += dimensions[d].first;
    return result;
  }
  std::string element(std::size_t place, const VectorShape& counts) const {
    return dimensions.empty() ? name : element_name(name, indices(place, counts));
  }
};

VectorReader::VectorReader(Constants& constants) : constants_(constants) {
  scope_.numbers = &constants.values;
  scope_.functions = constants.functions;
}

std::vector<VectorReader::Dimension> VectorReader::dimensions_of(const Field& field,
                                                                 Meaning meaning) {
  const PlacedExpression key = placed_key(field);
  std::vector<Dimension> result;
  const auto value = [&](std::size_t position, const std::string& text) {
    return IndexExpression(key, position, text, rounds_, scope_).at(round_values_);
  };
  const TextPart inside{field.key.find('[') + 1, field.key.size() - 1};
  for (const TextPart& index : split_outside_brackets(field.key, inside, ',')) {
    std::size_t position = index.begin;
    std::string text = field.key.substr(index.begin, index.end - index.begin);
    Dimension dimension{Dimension::Kind::range, 1, 1, ""};
    if (const std::size_t in = text.find(" in "); in != text.npos) {
      dimension.variable = text.substr(0, in);
      std::erase(dimension.variable, ' ');
      if (!is_name(dimension.variable) || scope_.taken.contains(dimension.variable)) {
        refuse_key(field,
                   "has the index " + in_quotes(dimension.variable) +
                       (is_name(dimension.variable) ? ", which is a name already; choose another"
                                                    : ", which is no name"));
      }
      refuse_taken_name({dimension.variable, field.key_location, field.value});
      text = text.substr(in + 4);
      position += in + 4;
    }
    const std::size_t colon = text.find(':');
    if (colon == text.npos && !dimension.variable.empty()) {
      refuse_key(field, "lacks a range: " + dimension.variable + " in 1:n");
    }
    dimension.last = value(position, colon == text.npos ? text : text.substr(colon + 1));
    dimension.first = colon != text.npos         ? value(position, text.substr(0, colon))
                      : meaning == Meaning::size ? 1
                                                 : dimension.last;
    if (colon == text.npos && meaning == Meaning::elements) dimension.kind = Dimension::Kind::index;
    result.push_back(std::move(dimension));
  }
  return result;
}

namespace {

/// How many keys are about each name.
std::unordered_map<std::string, std::size_t> keys_by_name(const Fields& section) {
  std::unordered_map<std::string, std::size_t> result;
  for (const Field& field : section) ++result[name_in(field.key)];
  return result;
}

/// "T[n]" alone says how many there are.
bool says_size(const Field& field, std::size_t keys_of_name) {
  return keys_of_name == 1 && field.key.find(':') == field.key.npos;
}

}  // namespace

void VectorReader::add_shapes(const Fields& section, Shapes& shapes) {
  constexpr long most = 10'000'000;
  const auto keys = keys_by_name(section);
  std::unordered_set<std::string> own;
  for (const Field& field : section) {
    if (!has_brackets(field)) continue;
    const std::string name = name_in(field.key);
    if (own.insert(name).second && shapes.contains(name)) {
      refuse_key(field, "has the name of what another section declares; choose another name");
    }
    const auto meaning = says_size(field, keys.at(name)) ? Meaning::size : Meaning::elements;
    const std::vector<Dimension> dimensions = dimensions_of(field, meaning);
    VectorShape& shape = shapes.try_emplace(name, dimensions.size(), 1).first->second;
    if (shape.size() != dimensions.size()) {
      refuse_key(field, "has " + std::to_string(dimensions.size()) + " indices, but " +
                            in_quotes(name) + " is " + in_words(shape));
    }
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (meaning == Meaning::size && (dimensions[d].last < 1 || dimensions[d].last > most)) {
        refuse_key(field, "has the size " + std::to_string(dimensions[d].last) +
                              "; a size is a whole number from 1 to 1e7");
      }
      shape[d] = std::max(shape[d], dimensions[d].last);
    }
    double count = 1.0;
    for (const long each : shape) count *= static_cast<double>(each);
    if (count > static_cast<double>(most)) {
      refuse_key(field, "makes " + in_quotes(name) + " " + in_words(shape) + "; there may be 1e7");
    }
  }
}

void VectorReader::declare_parameters(const Fields& section) {
  for (const Field& field : section) scope_.taken.insert(name_in(field.key));
  add_shapes(section, scope_.shapes);
}

void VectorReader::declare(const Fields& section) {
  for (const Field& field : section) {
    scope_.taken.insert(name_in(field.key));
    scope_.moving.insert(name_in(field.key));
  }
  add_shapes(section, scope_.shapes);
}

void VectorReader::enter(const Repetition& round, const NodeReader& repeat) {
  if (scope_.taken.contains(round.index))
    repeat.fail("has the index " + in_quotes(round.index) +
                ", which is a name already; choose another");
  rounds_ = {round.index};
  round_values_ = {static_cast<double>(round.value)};
}

VectorReader::Target VectorReader::whole(const std::string& name, const VectorShape& shape) {
  Target target{name};
  for (const long count : shape)
    target.dimensions.push_back({Dimension::Kind::range, 1, count, ""});
  return target;
}

VectorReader::Target VectorReader::target_of(const Field& field, Meaning meaning,
                                             const Shapes& shapes) {
  Target target{name_in(field.key)};
  const auto found = shapes.find(target.name);
  if (found == shapes.end()) {
    if (has_brackets(field))
      refuse_key(field, "names an element, but " + in_quotes(target.name) + " has no size");
    return target;
  }
  const VectorShape& shape = found->second;
  if (!has_brackets(field)) return whole(target.name, shape);
  target.dimensions = dimensions_of(field, meaning);
  if (shape.size() != target.dimensions.size()) {
    refuse_key(field, "has " + std::to_string(target.dimensions.size()) + " indices, but " +
                          in_quotes(target.name) + " is " + in_words(shape));
  }
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto& [kind, first, last, variable] = target.dimensions[d];
    if (last >= first && (first < 1 || last > shape[d])) {
      refuse_key(field, "names the element " + std::to_string(first < 1 ? first : last) + " of " +
                            in_quotes(target.name) + ", whose elements are 1 to " +
                            std::to_string(shape[d]));
    }
  }
  return target;
}

/// Into the slots of a vector, each once.
template <class Element>
void VectorReader::place(std::vector<Element> elements, const Target& target, const Field& field,
                         const VectorShape& shape, std::span<Element> slots) {
  const VectorShape counts = target.counts();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::size_t slot = 0;
    const std::vector<long> indices = target.indices(i, counts);
    for (std::size_t d = 0; d < shape.size(); ++d)
      slot = slot * static_cast<std::size_t>(shape[d]) + static_cast<std::size_t>(indices[d] - 1);
    if (!slots[slot].name.empty()) {
      refuse_key(field, "says " + in_quotes(elements[i].name) + ", which is there already, at " +
                            slots[slot].location + "; each element stands once");
    }
    slots[slot] = std::move(elements[i]);
  }
}

template <class Element, class Make>
std::vector<Element> VectorReader::declared(const Fields& section, const Shapes& shapes,
                                            const Make& make) {
  const auto keys = keys_by_name(section);
  std::unordered_map<std::string, std::size_t> begins;  // of vectors, among the result
  std::vector<Element> result;
  for (const Field& field : section) {
    const std::string name = name_in(field.key);
    const auto shape = shapes.find(name);
    if (shape == shapes.end()) {
      result.push_back(std::move(make(field, Target{name}).front()));
      continue;
    }
    if (!has_brackets(field))
      refuse_key(field, "stands with a size, too; give one of them another name");
    const auto [begin, is_new] = begins.emplace(name, result.size());
    const std::size_t count = element_count(shape->second);
    if (is_new) result.resize(result.size() + count);
    const auto meaning = says_size(field, keys.at(name)) ? Meaning::size : Meaning::elements;
    const Target target = target_of(field, meaning, shapes);
    place(make(field, target), target, field, shape->second,
          std::span(result).subspan(begin->second, count));
  }
  for (const auto& [name, begin] : begins) {
    const VectorShape& shape = shapes.at(name);
    for (std::size_t i = 0; i < element_count(shape); ++i) {
      if (!result[begin + i].name.empty()) continue;
      const Field& field = *std::ranges::find_if(
          section, [&](const Field& each) { return name_in(each.key) == name; });
      std::vector<long> indices = indices_at(i, shape);
      for (long& index : indices) ++index;
      refuse_key(field, "leaves out " + in_quotes(element_name(name, indices)) + "; " +
                            in_quotes(name) + " is " + in_words(shape) +
                            ", each of which must be there");
    }
  }
  return result;
}

/// For each element of the target.
std::vector<std::string> VectorReader::texts_of(const NodeReader& value, const Target& target,
                                                VectorText::Use use) {
  const VectorShape counts = target.counts();
  std::vector<std::string> result;
  if (value.is_list() && !target.dimensions.empty()) {
    std::vector<NodeReader> items;
    add_items(value, counts, items);
    for (const NodeReader& item : items) result.push_back(single(item));
    return result;
  }
  const std::size_t count = element_count(counts);
  const auto variables = target.variables();
  std::vector<std::string> names = rounds_;
  names.insert(names.end(), variables.begin(), variables.end());
  const VectorText text(placed_text(value), std::move(names),
                        count > 1 ? use : VectorText::Use::once, scope_);
  if (text.is_plain()) return std::vector<std::string>(count, value.text());
  std::vector<double> indices;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<long> element;
    indices = round_values_;
    const std::vector<long> here = target.indices(i, counts);
    for (std::size_t d = 0; d < here.size(); ++d) {
      const Dimension& dimension = target.dimensions[d];
      if (!dimension.variable.empty()) indices.push_back(static_cast<double>(here[d]));
      if (dimension.kind == Dimension::Kind::range)
        element.push_back(here[d] - dimension.first + 1);
    }
    const VectorShape shape = text.shape(indices);
    const bool fits = shape.empty() || (variables.empty() && shape == target.shape());
    if (!fits) {
      value.fail("is one value" + std::string(target.shape().empty() ? "" : " for each element") +
                 ", but " + in_quotes(value.text()) + " is " + in_words(shape) +
                 (variables.empty() && !target.shape().empty()
                      ? "; element by element both must have the same size"
                      : "; name an element, or write sum, min, max or dot over them"));
    }
    result.push_back(text.written(indices, element));
  }
  return result;
}

std::string VectorReader::single(const NodeReader& value) {
  return texts_of(value, {}, VectorText::Use::once).front();
}

VectorShape VectorReader::shape_of(const NodeReader& value) {
  return VectorText(placed_text(value), rounds_, VectorText::Use::once, scope_)
      .shape(round_values_);
}

/// What is set at each element of a condition of that shape: the element at its place, or the same
/// variable.
std::vector<VectorReader::Text> VectorReader::sets_of(const Field& field, const VectorShape& shape,
                                                      const NodeReader& condition) {
  const Target target = target_of(field, Meaning::elements, scope_.shapes);
  const VectorShape own = target.shape();
  if (own == shape) return texts(field, target);
  if (!own.empty()) {
    refuse_key(field, "is " + in_words(own) + ", but the condition " + in_quotes(condition.text()) +
                          " is " + in_words(shape) +
                          ", each of which acts by itself; both must have the same size, or name "
                          "elements");
  }
  std::vector<Text> result;
  const std::string name = target.element(0, target.counts());
  for (std::string& text : texts_of(field.value, whole("", shape), VectorText::Use::often))
    result.push_back({name, std::move(text), field.value.location()});
  return result;
}

std::vector<VectorReader::When> VectorReader::whens(const NodeReader& condition,
                                                    const Fields& sets) {
  const VectorShape shape = shape_of(condition);
  std::vector<When> result;
  if (shape.empty()) {
    result.emplace_back().condition = single(condition);
    result.back().sets = assignments(sets);
    result.back().location = condition.location();
    return result;
  }
  for (std::string& text : texts_of(condition, whole("", shape), VectorText::Use::once)) {
    result.emplace_back().condition = std::move(text);
    result.back().location = condition.location();
  }
  for (const Field& field : sets) {
    std::vector<Text> each = sets_of(field, shape, condition);
    for (std::size_t i = 0; i < result.size(); ++i) result[i].sets.push_back(std::move(each[i]));
  }
  return result;
}

std::vector<double> VectorReader::values_of(const NodeReader& value, const Target& target) {
  if (value.is_list() && !target.dimensions.empty()) {
    std::vector<NodeReader> items;
    add_items(value, target.counts(), items);
    std::vector<double> result;
    for (const NodeReader& item : items) result.push_back(item.number(constants_));
    return result;
  }
  const std::size_t count = element_count(target.counts());
  const bool number =
      value.is_null() || value.is_list() || value.is_map() ||
      VectorText(placed_text(value), target.variables(), VectorText::Use::once, scope_).is_plain();
  return number ? std::vector<double>(count, value.number(constants_))
                : computed(texts_of(value, target, VectorText::Use::once), value);
}

std::vector<double> VectorReader::computed(const std::vector<std::string>& texts,
                                           const NodeReader& value) {
  ExpressionNames names;
  names.constants = constants_.values;
  names.functions = constants_.functions;
  std::vector<PlacedExpression> expressions;
  for (const std::string& text : texts)
    expressions.push_back({text, value.location() + ": " + value.what()});
  std::vector<double> result(texts.size());
  ExpressionList(expressions, names, 0).evaluate(result);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (!std::isfinite(result[i]))
      value.fail("must be finite numbers; " + in_quotes(texts[i]) + " is " +
                 short_number(result[i]));
  }
  return result;
}

std::vector<VectorReader::Text> VectorReader::texts(const Field& field, const Target& target) {
  const VectorShape counts = target.counts();
  std::vector<Text> result;
  for (std::string& text : texts_of(field.value, target, VectorText::Use::often))
    result.push_back(
        {target.element(result.size(), counts), std::move(text), field.value.location()});
  return result;
}

std::vector<VectorReader::Number> VectorReader::numbers(const Field& field, const Target& target,
                                                        Lack lack) {
  const VectorShape counts = target.counts();
  std::vector<Number> result;
  if (field.value.is_null() && lack == Lack::allowed) {
    for (std::size_t i = 0; i < element_count(counts); ++i)
      result.push_back({target.element(i, counts), std::nullopt, field.key_location});
    return result;
  }
  for (const double value : values_of(field.value, target))
    result.push_back({target.element(result.size(), counts), value, field.key_location});
  return result;
}

void VectorReader::override(const Fields& overrides, std::vector<Number>& numbers) {
  if (overrides.empty()) return;
  std::unordered_map<std::string, Number*> by_name;
  for (Number& number : numbers) by_name.emplace(number.name, &number);
  for (const Field& field : overrides) {
    const Target target = target_of(field, Meaning::elements, scope_.shapes);
    for (const Number& changed : this->numbers(field, target, Lack::refused))
      *by_name.at(changed.name) = changed;
  }
}

std::vector<VectorReader::Number> VectorReader::parameters(const NumberSection& section) {
  const Fields& entries = section.entries;
  std::vector<Number> result;
  std::unordered_set<std::string> done;
  for (const Field& field : entries) {
    const std::string name = name_in(field.key);
    if (!has_brackets(field) && !scope_.shapes.contains(name)) {
      result.push_back({name, constants_.values.at(name), field.key_location});
      continue;
    }
    if (!done.insert(name).second) continue;
    const auto is_same = [&](const Field& other) { return name_in(other.key) == name; };
    NumberSection own;
    std::ranges::copy_if(entries, std::back_inserter(own.entries), is_same);
    std::ranges::copy_if(section.overrides, std::back_inserter(own.overrides), is_same);
    for (Number& element : numbers(own)) {
      constants_.values[element.name] = *element.value;
      result.push_back(std::move(element));
    }
  }
  return result;
}

std::vector<VectorReader::Number> VectorReader::numbers(const NumberSection& section, Lack lack) {
  auto result = declared<Number>(
      section.entries, scope_.shapes,
      [&](const Field& field, const Target& target) { return numbers(field, target, lack); });
  override(section.overrides, result);
  return result;
}

std::vector<VectorReader::Text> VectorReader::variables(const Fields& section) {
  return declared<Text>(section, scope_.shapes, [&](const Field& field, const Target& target) {
    return texts(field, target);
  });
}

Fields VectorReader::sized(Fields names) const {
  for (Field& field : names) {
    if (has_brackets(field))
      refuse_key(field, "names elements; write " + name_in(field.key) +
                            " for all of them, or a map with a name for it: {end: \"" + field.key +
                            "\"}");
    const auto shape = scope_.shapes.find(field.key);
    if (shape != scope_.shapes.end()) field.key = element_name(field.key, shape->second);
  }
  return names;
}

std::vector<VectorReader::Text> VectorReader::outputs(const Fields& section) {
  add_shapes(section, output_shapes_);
  return declared<Text>(section, output_shapes_, [&](const Field& field, const Target& target) {
    return texts(field, target);
  });
}

std::vector<VectorReader::Text> VectorReader::assignments(const Fields& section) {
  std::vector<Text> result;
  for (const Field& field : section)
    std::ranges::move(texts(field, target_of(field, Meaning::elements, scope_.shapes)),
                      std::back_inserter(result));
  return result;
}

/// As a variable and as an output, which may have other elements.
std::vector<VectorReader::Target> VectorReader::targets_of_name(const Field& field) {
  const std::string name = name_in(field.key);
  std::vector<Target> result;
  const bool variable = scope_.shapes.contains(name), output = output_shapes_.contains(name);
  if (variable || !output) result.push_back(target_of(field, Meaning::elements, scope_.shapes));
  if (output && !(variable && scope_.shapes.at(name) == output_shapes_.at(name)))
    result.push_back(target_of(field, Meaning::elements, output_shapes_));
  return result;
}

std::vector<VectorReader::Number> VectorReader::nominal(const Fields& section) {
  std::vector<Number> result;
  std::unordered_set<std::string> seen;
  for (const Field& field : section)
    for (const Target& target : targets_of_name(field))
      for (Number& number : numbers(field, target, Lack::refused))
        if (seen.insert(number.name).second) result.push_back(std::move(number));
  return result;
}

std::vector<VectorReader::Text> VectorReader::units(const Fields& section) {
  std::vector<Text> result;
  std::unordered_set<std::string> seen;
  for (const Field& field : section) {
    const std::string unit = field.value.is_null() ? "" : field.value.text();
    for (const Target& target : targets_of_name(field)) {
      const VectorShape counts = target.counts();
      for (std::size_t i = 0; i < element_count(counts); ++i)
        if (std::string name = target.element(i, counts); seen.insert(name).second)
          result.push_back({std::move(name), unit, field.value.location()});
    }
  }
  return result;
}

std::vector<VectorReader::Text> VectorReader::shared(const std::string& location) const {
  std::vector<Text> result;
  for (const std::string& text : scope_.shared_texts)
    result.push_back({scope_.shared.at(text), text, location});
  return result;
}

}  // namespace concord
