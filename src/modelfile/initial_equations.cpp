#include "modelfile/initial_equations.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "concord/errors.hpp"
#include "expression/expression_list.hpp"
#include "expression/expression_scan.hpp"
#include "expression/vector_text.hpp"
#include "modelfile/start_names.hpp"
#include "subsystem/equations/dimension_check.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"
#include "units/units.hpp"

namespace concord {
namespace {

using Kind = StartQuantity::Kind;

/// A name in an expression, and what it stands for in the model: a variable or a vector of them.
struct Meaning {
  std::string name;  ///< whole
  bool rate = false;

  bool operator==(const Meaning&) const = default;
};

/// Where the one '=' stands that is no part of ==, <=, >=, !=; the text's end where there is none
/// or more than one.
std::size_t equals_sign(const std::string& text) {
  std::size_t found = text.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '=') continue;
    const char before = i > 0 ? text[i - 1] : ' ', after = i + 1 < text.size() ? text[i + 1] : ' ';
    if (after == '=' || std::string("=<>!").find(before) != std::string::npos) continue;
    if (found < text.size()) return text.size();
    found = i;
  }
  return found;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

std::string without_indices(const std::string& name) {
  return name.ends_with(']') ? name.substr(0, name.rfind('[')) : name;
}

/// One entry of `initial:`, with its names looked up.
class InitialEquation {
 public:
  InitialEquation(const InitialEntry& entry, const StartNames& names)
      : entry_(entry),
        names_(names),
        place_(entry.location + ": initial equation " + in_quotes(entry.equation)) {
    scope_.numbers = &entry.constants;
    scope_.functions = entry.functions;
  }

  void add_to(StartProblem& problem) {
    const std::size_t sign = equals_sign(entry_.equation);
    if (sign == entry_.equation.size()) fail("must read 'A = B', with one =: der(rod.T) = 0");
    const VectorText left(read(entry_.equation.substr(0, sign)), {}, VectorText::Use::once, scope_);
    const VectorText right(read(entry_.equation.substr(sign + 1)), {}, VectorText::Use::once,
                           scope_);
    const VectorShape of_left = left.shape({}), of_right = right.shape({});
    if (!of_left.empty() && !of_right.empty() && of_left != of_right)
      fail("has " + in_words(of_left) + " on its left and " + in_words(of_right) +
           " on its right; both must have the same");
    const VectorShape& shape = of_left.empty() ? of_right : of_left;
    const std::size_t count = shape.empty() ? 1 : element_count(shape);
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<long> element = shape.empty() ? std::vector<long>() : indices_at(i, shape);
      for (long& index : element) ++index;
      add(trimmed(left.written({}, element)), trimmed(right.written({}, element)), problem);
    }
    if (entry_.free) add_free(problem);
  }

  /// For whoever wrote it; may be empty.
  const std::string& note() const { return note_; }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw InputError(place_ + " " + what); }

  /// A side of the equation, in which every name is one that expressions may have.
  PlacedExpression read(const std::string& side) {
    std::string result;
    std::size_t at = 0;
    for (auto use = next_name(side, 0); use; use = next_name(side, at)) {
      const std::size_t begin = use->position;
      std::size_t end = begin + use->length;
      result += side.substr(at, begin - at);
      if (use->called && use->name == "der")
        result += rate_at(side, end);
      else if (!use->called && use->name.find('.') != std::string::npos)
        result += stand_in({entry_.prefix + use->name});
      else
        result += side.substr(begin, end - begin);
      at = end;
    }
    return {result + side.substr(at), place_};
  }

  /// "der(left.x)", of which `end` is behind "der" and moves behind all of it.
  std::string rate_at(const std::string& side, std::size_t& end) {
    const auto of = next_name(side, end);
    const std::size_t close =
        find_outside_brackets(side, {side.find('(', end) + 1, side.size()}, ')');
    if (close == side.size()) fail("has a der( that is not closed");
    if (!of || of->position > close || of->name.find('.') == std::string::npos)
      fail("has a der() that names no state: der(left.x)");
    const std::string indices =
        side.substr(of->position + of->length, close - of->position - of->length);
    if (!trimmed(indices).empty() && !indices.starts_with('['))
      fail("takes the derivative of more than one state: der(" +
           side.substr(of->position, close - of->position) + "); write der(left.x)");
    end = close + 1;
    return stand_in({entry_.prefix + of->name, true}) + trimmed(indices);
  }

  /// The name for it in expressions, which have no brackets within names.
  std::string stand_in(Meaning meaning) {
    meaning.name = names_.within(meaning.name);
    std::string indices;
    const std::string vector = names_.within(without_indices(meaning.name));
    if (meaning.name.ends_with(']') && names_.shape(vector)) {
      indices = meaning.name.substr(meaning.name.rfind('['));
      meaning.name = vector;
    } else if (!names_.find(meaning.name) && !names_.shape(meaning.name)) {
      fail("names what is no state, output, input or parameter of equations: " +
           in_quotes(meaning.name) + "; " + names_.suggestion(meaning.name));
    }
    const std::string alias = alias_of(meaning);
    if (const auto shape = names_.shape(meaning.name)) scope_.shapes[alias] = *shape;
    return alias + indices;
  }

  /// Each meaning has one of its own.
  std::string alias_of(const Meaning& meaning) {
    std::string alias = meaning.rate ? "der." + meaning.name : meaning.name;
    std::erase(alias, ']');
    std::ranges::replace(alias, '[', '_');
    while (meanings_.try_emplace(alias, meaning).first->second != meaning) alias += "_";
    return alias;
  }

  /// The variable of an element's name in expressions; nothing where it is none of the model's.
  std::optional<StartQuantity> quantity(const std::string& written) const {
    auto found = meanings_.find(written);
    if (found == meanings_.end()) found = meanings_.find(without_indices(written));
    if (found == meanings_.end()) return std::nullopt;
    const Meaning& meaning = found->second;
    const std::string name = meaning.name + written.substr(found->first.size());
    auto result = names_.find(name);
    if (!result)
      fail("names what is not there: " + in_quotes(name) + "; " + names_.suggestion(name));
    if (!meaning.rate) return result;
    if (result->kind != Kind::state)
      fail("takes the derivative of " + in_quotes(name) +
           ", which is no state; only states have one that is known at the start");
    result->kind = Kind::rate;
    return result;
  }

  /// As the user would write it of one element.
  std::string shown(const std::string& side) const {
    return with_names(side, [&](const NameUse& use) -> std::optional<std::string> {
      const auto what = quantity(use.name);
      if (!what) return std::nullopt;
      return what->kind == Kind::rate ? "der(" + what->name + ")" : what->name;
    });
  }

  void add(const std::string& left, const std::string& right, StartProblem& problem) {
    StartEquation equation;
    equation.text = shown(left) + " = " + shown(right);
    equation.location = entry_.location;
    const std::string missed = "(" + left + ") - (" + right + ")";
    ExpressionNames known;
    known.constants = entry_.constants;
    known.functions = entry_.functions;
    known.variables["t"] = 0;
    for (const NameUse& use : names_used(missed)) {
      if (use.called && use.name == "homotopy")
        fail(
            "has a homotopy(), which stands in equations of subsystems; let an output have it, and "
            "name that");
      const auto what = quantity(use.name);
      if (!what || known.variables.contains(use.name)) continue;
      equation.quantities.push_back(*what);
      known.variables[use.name] = static_cast<std::uint32_t>(equation.quantities.size());
    }
    check_units(missed, known, equation);
    if (equation.quantities.empty()) fail("names no variable, so that nothing can satisfy it");
    equation.missed = expression({missed, place_}, known, equation.quantities.size());
    if (!entry_.free) free_left(left, problem);
    problem.equations.push_back(std::move(equation));
  }

  /// Every name is in its own unit.
  void check_units(const std::string& missed, const ExpressionNames& known,
                   const StartEquation& equation) {
    EquationsDescription description;
    description.functions = entry_.functions;
    description.outputs.push_back({"", missed, place_});
    for (const auto& [name, variable] : known.variables) {
      if (variable == 0) continue;
      const std::string unit = names_.unit(equation.quantities[variable - 1]);
      if (!unit.empty()) description.units.push_back({name, unit, place_});
    }
    check_dimensions(description);
    for (const auto& each : description.units) {
      const auto conversion = unit_conversion(description.units.front().text, each.text);
      const auto* const factors = std::get_if<UnitConversion>(&conversion);
      if (factors != nullptr && (factors->factor != 1.0 || factors->offset != 0.0))
        note_ = place_ + " has " + in_quotes(description.units.front().name) + " in " +
                in_quotes(description.units.front().text) + " and " + in_quotes(each.name) +
                " in " + in_quotes(each.text) + ": nothing is converted in it";
    }
  }

  static decltype(StartEquation::missed) expression(const PlacedExpression& text,
                                                    const ExpressionNames& known,
                                                    std::size_t count) {
    auto list = std::make_shared<ExpressionList>(std::span(&text, 1), known, count + 1);
    return [list](double t, std::span<const double> values, std::span<double> slopes) {
      list->point()[0] = t;
      std::ranges::copy(values, list->point().begin() + 1);
      double result = 0.0;
      list->evaluate({&result, 1});
      std::ranges::fill(slopes, 0.0);
      const std::span<const double> entries = list->differentiate();
      for (std::size_t i = 0; i < entries.size(); ++i)
        if (const auto variable = list->entries()[i].variable; variable > 0)
          slopes[variable - 1] = entries[i];
      return result;
    };
  }

  /// What stands alone on the left is free.
  void free_left(const std::string& left, StartProblem& problem) const {
    auto what = quantity(left);
    if (what && what->kind == Kind::rate) what->kind = Kind::state;
    const std::string remedy = "; say what is found by it: {equation: \"" + entry_.equation +
                               "\", free: <state or parameter>}";
    if (!what)
      fail("frees nothing, as neither a state nor its derivative stands alone on its left" +
           remedy);
    if (const std::string why = names_.why_bound(*what); !why.empty())
      fail("frees nothing, as " + in_quotes(what->name) + " " + why + remedy);
    set_free(*what, problem);
  }

  void set_free(const StartQuantity& what, StartProblem& problem) const {
    const auto same = [&](const FreeStart& other) { return other.what == what; };
    if (std::ranges::none_of(problem.free, same)) problem.free.push_back({what, entry_.location});
  }

  void add_free(StartProblem& problem) const {
    for (const std::string& given : *entry_.free) {
      const std::string name = names_.within(entry_.prefix + given);
      std::vector<std::string> names = {name};
      if (const auto shape = names_.shape(name); shape && !names_.find(name)) {
        names.clear();
        for (std::size_t i = 0; i < element_count(*shape); ++i) {
          std::vector<long> element = indices_at(i, *shape);
          for (long& index : element) ++index;
          names.push_back(element_name(name, element));
        }
      }
      for (const std::string& each : names) {
        const auto what = names_.find(each);
        if (!what)
          fail("frees what is not there: " + in_quotes(each) + "; " + names_.suggestion(each));
        if (const std::string why = names_.why_bound(*what); !why.empty())
          fail("cannot free " + in_quotes(each) + ", which " + why +
               "; free a state, a parameter of equations, or an input that nothing feeds");
        set_free(*what, problem);
      }
    }
  }

  const InitialEntry& entry_;
  const StartNames& names_;
  std::string place_;
  VectorScope scope_;
  std::map<std::string, Meaning> meanings_;
  std::string note_;
};

std::string some(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  if (names.empty()) return "none";
  const std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(most, names.size())));
  const std::string rest =
      names.size() > most ? " and " + std::to_string(names.size() - most) + " more" : "";
  return joined(first) + rest;
}

void require_square(const StartProblem& problem) {
  const std::size_t equations = problem.equations.size(), free = problem.free.size();
  if (equations == free) return;
  std::vector<std::string> texts, names;
  for (const StartEquation& each : problem.equations)
    texts.push_back(in_quotes(each.text) + " at " + each.location);
  for (const FreeStart& each : problem.free) names.push_back(each.what.name);
  throw InputError(problem.equations.front().location + ": the start is " +
                   (equations > free ? "over" : "under") + "determined: initial equations, " +
                   std::to_string(equations) + " (" + some(texts) + "), for what is free, " +
                   std::to_string(free) + " (" + some(names) + "); " +
                   (equations > free
                        ? "free as many, with free: [...] beside an equation, or leave some out"
                        : "give an equation for each, or free fewer"));
}

}  // namespace

void connect_initial(Model& model) {
  if (model.initial.empty()) return;
  const StartNames names(model);
  auto problem = std::make_shared<StartProblem>();
  for (std::size_t i = 0; i < model.initial.size(); ++i) {
    InitialEquation equation(model.initial[i], names);
    const std::size_t first = problem->equations.size();
    equation.add_to(*problem);
    for (StartEquation& each : std::span(problem->equations).subspan(first)) each.entry = i;
    if (!equation.note().empty()) model.notes.push_back(equation.note());
  }
  require_square(*problem);
  model.start_problem = std::move(problem);
}

}  // namespace concord
