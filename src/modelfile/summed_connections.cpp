#include "modelfile/summed_connections.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "concord/errors.hpp"
#include "expression/expression_list.hpp"
#include "expression/expression_scan.hpp"
#include "modelfile/yaml/equations_reader.hpp"
#include "subsystem/equations/equations_description.hpp"
#include "support/name_patterns.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"
#include "units/units.hpp"

namespace concord {
namespace {

/// What sums ask about the model, by names.
struct Signals {
  std::vector<std::string> subsystems, outputs;  ///< outputs by their whole names
  std::map<std::string, std::string> units;      ///< of outputs, inputs and parameters
  std::map<std::string, double> parameters;      ///< of subsystems of equations
  std::set<std::string> known_outputs;
};

Signals signals_of(const Model& model) {
  Signals result;
  for (const SubsystemEntry& entry : model.subsystems) {
    const SubsystemDescription& d = entry.description;
    result.subsystems.push_back(d.name);
    for (const auto& output : d.outputs) {
      result.outputs.push_back(d.name + "." + output.name);
      result.units[result.outputs.back()] = output.unit;
    }
    for (const auto& input : d.inputs) result.units[d.name + "." + input.name] = input.unit;
    if (!entry.equations) continue;
    for (const auto& parameter : entry.equations->parameters)
      result.parameters[d.name + "." + parameter.name] = *parameter.value;
    for (const auto& unit : entry.equations->units)
      result.units.emplace(d.name + "." + unit.name, unit.text);
  }
  for (const SystemEntry& system : model.systems) {
    result.subsystems.push_back(system.name);
    for (const auto* terminals : {&system.inputs, &system.outputs})
      for (const SystemTerminal& terminal : *terminals) {
        const std::string name = system.name + "." + terminal.name;
        result.units[name] = result.units[terminal.inner.front()];
        if (terminals == &system.outputs) result.outputs.push_back(name);
      }
  }
  result.known_outputs.insert(result.outputs.begin(), result.outputs.end());
  return result;
}

/// A part of a term with dots or brackets in it: room[i].q.
struct Path {
  std::size_t begin, end;
  std::string text;
};

std::size_t after_brackets(const std::string& text, std::size_t at) {
  const std::size_t close = text.find(']', at);
  return close == std::string::npos ? text.size() : close + 1;
}

std::vector<Path> paths_in(const std::string& text) {
  std::vector<Path> result;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = std::isalpha(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_';
    std::size_t end = at + 1;
    const auto belongs = [&](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '[';
    };
    while (begins && end < text.size() && belongs(text[end]))
      end = text[end] == '[' ? after_brackets(text, end) : end + 1;
    const std::string path = text.substr(at, end - at);
    if (begins && path.find('.') != std::string::npos) result.push_back({at, end, path});
    at = end;
  }
  return result;
}

/// "3]"
bool is_index(const std::string& text) {
  const std::size_t digits = text.find_first_not_of("-0123456789");
  return digits != 0 && digits + 1 == text.size() && text.back() == ']';
}

/// An output and what it is multiplied by.
struct WeightedOutput {
  std::string output;
  double weight;
};

class Sum {
 public:
  Sum(const SumEntry& entry, const Signals& signals)
      : entry_(entry), signals_(signals), paths_(paths_in(entry.terms)) {
    if (paths_.empty()) fail("names no output");
    for (Path& path : paths_)
      if (is_array(entry.prefix + path.text)) path.text += "[*]";
  }

  std::vector<WeightedOutput> terms() {
    const std::string index = free_index();
    std::vector<WeightedOutput> result;
    if (!index.empty()) {
      for (const long value : values_of(index)) add_term(index, value, result);
    } else if (const Path* const pattern = single_pattern()) {
      for (const std::string& output : signals_.outputs)
        if (matches(entry_.prefix + pattern->text, output)) add_term(*pattern, output, result);
      if (result.empty())
        fail(in_quotes(entry_.prefix + pattern->text) + " stands for no output; " +
             nearest_names(entry_.prefix + pattern->text, signals_.outputs));
    } else {
      add_term("", 0, result);
    }
    return result;
  }

  /// Of the input that is fed, else of the first output.
  const std::string& unit() const { return unit_; }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(entry_.connection.location + ": sum(" + entry_.terms + ") " + problem);
  }

  /// The name in brackets that is no number, no pattern and no name that is known: room[i].q.
  std::string free_index() const {
    std::string index;
    for (const Path& path : paths_) {
      const std::size_t open = path.text.find('['), close = path.text.find(']');
      if (open == std::string::npos || close == std::string::npos) continue;
      const std::string inside = path.text.substr(open + 1, close - open - 1);
      if (!is_name(inside)) continue;
      if (!index.empty() && index != inside)
        fail("has two indices, '" + index + "' and '" + inside + "'; a sum goes over one");
      index = inside;
    }
    return index;
  }

  /// Of outputs: its name alone stands for all elements.
  bool is_array(const std::string& name) const {
    const auto has_elements = [&](const std::string& output) {
      return output.size() > name.size() && output[name.size()] == '[' && output.starts_with(name);
    };
    return !signals_.known_outputs.contains(name) && !signals_.parameters.contains(name) &&
           std::ranges::any_of(signals_.outputs, has_elements);
  }

  const Path* single_pattern() const {
    const Path* result = nullptr;
    for (const Path& path : paths_) {
      if (!is_pattern(path.text)) continue;
      if (result != nullptr)
        fail("has two patterns; give them an index: sum(room[i].area*room[i].q)");
      result = &path;
    }
    return result;
  }

  /// What the index is where it first stands: those of room[1], room[2] ... for room[i].
  std::vector<long> values_of(const std::string& index) const {
    const auto first = std::ranges::find_if(paths_, [&](const Path& path) {
      return path.text.find("[" + index + "]") != path.text.npos;
    });
    const std::string begin =
        entry_.prefix + first->text.substr(0, first->text.find("[" + index + "]") + 1);
    std::vector<long> result;
    for (const std::string& name : signals_.subsystems)
      if (name.starts_with(begin) && is_index(name.substr(begin.size())))
        result.push_back(std::stol(name.substr(begin.size())));
    if (result.empty())
      fail("goes over no subsystems: there is no " + begin + "1]; " +
           known("subsystems", begin, signals_.subsystems));
    return result;
  }

  /// With the index as a number.
  void add_term(const std::string& index, long value, std::vector<WeightedOutput>& result) {
    std::vector<std::string> names;
    for (const Path& path : paths_) {
      names.push_back(entry_.prefix + path.text);
      const std::size_t at = index.empty() ? path.text.npos : path.text.find("[" + index + "]");
      if (at != path.text.npos)
        names.back().replace(entry_.prefix.size() + at + 1, index.size(), std::to_string(value));
    }
    ExpressionNames known;
    known.constants = entry_.constants;
    if (!index.empty()) known.constants[index] = static_cast<double>(value);
    add_term(names, std::move(known), result);
  }

  void add_term(const Path& pattern, const std::string& output,
                std::vector<WeightedOutput>& result) {
    std::vector<std::string> names;
    for (const Path& path : paths_)
      names.push_back(&path == &pattern ? output : entry_.prefix + path.text);
    ExpressionNames known;
    known.constants = entry_.constants;
    add_term(names, std::move(known), result);
  }

  /// `names`: of the paths.
  void add_term(const std::vector<std::string>& names, ExpressionNames known,
                std::vector<WeightedOutput>& result) {
    std::string text;
    std::size_t at = 0;
    std::vector<std::string> outputs;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      const std::string place = "the.part" + std::to_string(i + 1);
      text += entry_.terms.substr(at, paths_[i].begin - at) + place;
      at = paths_[i].end;
      if (const auto parameter = weight(names, i)) {
        known.constants[place] = *parameter;
      } else {
        known.variables[place] = static_cast<std::uint32_t>(outputs.size());
        outputs.push_back(names[i]);
      }
    }
    known.functions = entry_.functions;
    try {
      result.push_back(term(text + entry_.terms.substr(at), known, outputs, unit_of(names)));
    } catch (const InputError& error) {
      throw InputError(in_names(error.what(), names));
    }
  }

  /// A message, with the names that places stand for.
  static std::string in_names(std::string message, const std::vector<std::string>& names) {
    for (std::size_t i = names.size(); i-- > 0;) {
      const std::string place = "the.part" + std::to_string(i + 1);
      for (std::size_t at = message.find(place); at != message.npos; at = message.find(place, at))
        message.replace(at, place.size(), names[i]);
    }
    return message;
  }

  /// A parameter; nothing where it is an output. What is both is a parameter beside an output.
  std::optional<double> weight(const std::vector<std::string>& names, std::size_t i) const {
    const auto parameter = signals_.parameters.find(names[i]);
    const bool output = signals_.known_outputs.contains(names[i]);
    if (!output && parameter == signals_.parameters.end()) {
      std::vector<std::string> all = signals_.outputs;
      for (const auto& [name, value] : signals_.parameters) all.push_back(name);
      fail("names what is no output and no parameter of equations: " + in_quotes(names[i]) + "; " +
           nearest_names(names[i], all));
    }
    const bool alone = std::ranges::all_of(names, [&](const std::string& name) {
      return name == names[i] || !signals_.known_outputs.contains(name);
    });
    return output && (alone || parameter == signals_.parameters.end())
               ? std::nullopt
               : std::optional(parameter->second);
  }

  WeightedOutput term(const std::string& text, const ExpressionNames& known,
                      const std::vector<std::string>& outputs, const std::string& unit) {
    const PlacedExpression expression{
        text, entry_.connection.location + ": sum(" + entry_.terms + "), term"};
    ExpressionList list({&expression, 1}, known, outputs.size());
    double constant = 0.0;
    std::ranges::fill(list.point(), 0.0);
    list.evaluate({&constant, 1});
    const std::span<const double> slopes = list.differentiate();
    if (outputs.size() != 1 || slopes.size() != 1 || !list.affine() || constant != 0.0)
      fail(
          "has a term that is not a weight times one output: sum(room[i].area*room[i].q); weights "
          "are numbers and parameters");
    return {outputs.front(), slopes.front() * factor_to_unit(unit)};
  }

  /// Of a product; empty where it is none, or some part has no unit.
  std::string unit_of(const std::vector<std::string>& names) const {
    if (entry_.terms.find_first_of("+-(/^?") != std::string::npos) return "";
    std::string result;
    for (const std::string& name : names) {
      const auto unit = signals_.units.find(name);
      if (unit == signals_.units.end() || unit->second.empty()) return "";
      result += (result.empty() ? "(" : ".(") + unit->second + ")";
    }
    return names.size() == 1 ? result.substr(1, result.size() - 2) : result;
  }

  double factor_to_unit(const std::string& unit) {
    if (unit_.empty()) {
      const auto wanted = signals_.units.find(entry_.connection.to);
      unit_ = wanted != signals_.units.end() && !wanted->second.empty() ? wanted->second : unit;
    }
    const auto conversion = unit_conversion(unit, unit_);
    const auto* const factors = std::get_if<UnitConversion>(&conversion);
    if (factors == nullptr)
      fail("has a term in " + in_quotes(unit) + ", where " + in_quotes(unit_) +
           " is wanted, and there is no way from one to the other");
    if (factors->offset != 0.0)
      fail("adds " + in_quotes(unit) + " up to " + in_quotes(unit_) +
           ", which begin at different zeros; sum differences, or put both ends in one unit");
    return factors->factor;
  }

  const SumEntry& entry_;
  const Signals& signals_;
  std::vector<Path> paths_;
  std::string unit_;
};

/// "sum_boiler_q" of what leads to boiler.q; a name for "room[1].q": "room_1_q".
std::string sum_name(std::string name, std::set<std::string>& taken) {
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  while (name.find("__") != std::string::npos) name.erase(name.find("__"), 1);
  while (!taken.insert(name).second) name += '_';
  return name;
}

EquationsDescription equations_of(const std::string& name, const SumEntry& entry,
                                  const std::vector<WeightedOutput>& terms,
                                  const std::string& unit) {
  EquationsDescription result;
  result.subsystem = name;
  result.location = entry.connection.location;
  std::set<std::string> taken = {"value", "t", "time"};
  std::string sum;
  for (const auto& [output, weight] : terms) {
    const std::string input = sum_name(output, taken);
    result.inputs.push_back({input, 0.0, result.location});
    const std::string sign = sum.empty() ? "" : weight < 0.0 ? " - " : " + ";
    const double size = sum.empty() ? weight : std::abs(weight);
    sum += sign + (size == 1.0 ? "" : exact_number(size) + "*") + input;
  }
  result.outputs.push_back({"value", sum, result.location});
  if (!unit.empty()) result.units.push_back({"value", unit, result.location});
  return result;
}

}  // namespace

void connect_sums(Model& model) {
  if (model.sums.empty()) return;
  const Signals signals = signals_of(model);
  std::set<std::string> taken(signals.subsystems.begin(), signals.subsystems.end());
  for (const SumEntry& entry : model.sums) {
    Sum sum(entry, signals);
    const std::vector<WeightedOutput> terms = sum.terms();
    const std::string name = sum_name("sum_" + entry.connection.to, taken);
    auto description =
        std::make_shared<const EquationsDescription>(equations_of(name, entry, terms, sum.unit()));
    for (std::size_t i = 0; i < terms.size(); ++i)
      model.connections.push_back(
          {terms[i].output, name + "." + description->inputs[i].name, entry.connection.location});
    ConnectionEntry leads = entry.connection;
    leads.from = name + ".value";
    model.connections.push_back(leads);
    SubsystemEntry added = equations_entry(description);
    added.written = false;
    model.subsystems.push_back(std::move(added));
  }
}

}  // namespace concord
