#include "subsystem/equations/equations_code.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <unordered_map>

#include "subsystem/equations/equations_checks.hpp"
#include "subsystem/equations/output_curvatures.hpp"
#include "subsystem/equations/relation_guards.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Number = EquationsDescription::Number;
using Text = EquationsDescription::Text;

/// Positions of the inputs that texts use, directly or by way of variables; of loops, which are
/// refused elsewhere, some.
class InputsBehind {
 public:
  explicit InputsBehind(const EquationsDescription& description) : names_(description) {
    for (std::size_t i = 0; i < description.inputs.size(); ++i) {
      inputs_.emplace(description.inputs[i].name, i);
    }
  }

  std::set<std::size_t> operator()(const std::string& text) {
    std::set<std::size_t> result;
    for (const std::string& name : names_.direct(text)) {
      if (const auto input = inputs_.find(name); input != inputs_.end()) {
        result.insert(input->second);
      } else if (const std::string* variable = names_.text_of(name)) {
        if (known_.try_emplace(name).second) known_[name] = (*this)(*variable);
        const std::set<std::size_t>& more = known_.at(name);
        result.insert(more.begin(), more.end());
      }
    }
    return result;
  }

 private:
  NamesBehind names_;
  std::unordered_map<std::string, std::size_t> inputs_;
  std::unordered_map<std::string, std::set<std::size_t>> known_;  ///< of variables
};

std::vector<Feedthrough> feedthrough(const EquationsDescription& description) {
  InputsBehind inputs_behind(description);
  std::vector<Feedthrough> result;
  for (std::size_t output = 0; output < description.outputs.size(); ++output) {
    for (const std::size_t input : inputs_behind(description.outputs[output].text)) {
      result.push_back({output, input});
    }
  }
  return result;
}

bool uses_time(const EquationsDescription& description) {
  const NamesBehind names_behind(description);
  const auto behind = names_behind.with_users({"t"});
  const auto in = [&](const SharedList<Text>& texts) {
    return std::ranges::any_of(texts, [&](const Text& text) {
      return std::ranges::any_of(names_behind.direct(text.text),
                                 [&](const std::string& name) { return behind.contains(name); });
    });
  };
  return in(description.derivatives) || in(description.outputs);
}

OdeInterface make_interface(const EquationsDescription& description) {
  std::unordered_map<std::string, std::string> units;
  for (const Text& unit : description.units) {
    units.emplace(unit.name, unit.text);
  }
  std::unordered_map<std::string, double> nominal;
  for (const Number& entry : description.nominal) {
    nominal.emplace(entry.name, *entry.value);
  }
  OdeInterface result;
  result.time_dependent = uses_time(description);
  result.output_curvatures = true;
  result.parameters = names_of(description.parameters);
  for (const Number& input : description.inputs) {
    result.inputs.push_back({input.name, units[input.name], input.value, nominal[input.name]});
  }
  for (const Number& state : description.states) {
    result.states.push_back({state.name, units[state.name], *state.value, nominal[state.name]});
  }
  for (const Text& output : description.outputs) {
    result.outputs.push_back({output.name, units[output.name], nominal[output.name]});
  }
  result.feedthrough = feedthrough(description);
  return result;
}

constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

/// States are the variables behind t. Entries come row by row, so that columns are filled in the
/// order of rows.
std::shared_ptr<const ColumnPattern> pattern_of(const ExpressionList& f, std::size_t states,
                                                std::vector<std::size_t>& places) {
  const auto is_state = [&](std::size_t variable) { return variable >= 1 && variable <= states; };
  std::vector<std::vector<std::size_t>> columns(states);  // of entries; nowhere: only the diagonal
  std::vector<char> diagonal(states, 0);
  for (std::size_t k = 0, row = 0; k <= f.entries().size(); ++k) {
    const bool done = k == f.entries().size();
    for (; row < (done ? states : f.entries()[k].row); ++row)
      if (diagonal[row] == 0) columns[row].push_back(nowhere);
    if (done || !is_state(f.entries()[k].variable)) continue;
    const std::size_t column = f.entries()[k].variable - 1;
    if (column == row) diagonal[row] = 1;
    columns[column].push_back(k);
  }
  auto result = std::make_shared<ColumnPattern>();
  places.assign(f.entries().size(), nowhere);
  for (std::size_t column = 0; column < states; ++column) {
    result->begins.push_back(static_cast<std::int64_t>(result->rows.size()));
    for (const std::size_t k : columns[column]) {
      if (k != nowhere) places[k] = result->rows.size();
      result->rows.push_back(k != nowhere ? f.entries()[k].row : static_cast<std::int64_t>(column));
    }
  }
  result->begins.push_back(static_cast<std::int64_t>(result->rows.size()));
  return result;
}

std::size_t hash_of(const EquationsDescription& description) {
  std::size_t result = 0;
  const auto add = [&result](std::size_t part) { result = 31 * result + part; };
  for (const Number& parameter : description.parameters) add(std::hash<double>()(*parameter.value));
  for (const auto* texts : {&description.derivatives, &description.outputs, &description.variables})
    for (const Text& text : *texts) add(std::hash<std::string>()(text.text));
  return result;
}

template <class Element, class Same>
bool alike(const SharedList<Element>& a, const SharedList<Element>& b, const Same& same) {
  return a.shares_with(b) || std::ranges::equal(a, b, same);
}

bool same_names(const SharedList<Number>& a, const SharedList<Number>& b) {
  return alike(a, b, [](const Number& one, const Number& other) { return one.name == other.name; });
}

bool same_numbers(const SharedList<Number>& a, const SharedList<Number>& b) {
  return alike(a, b, [](const Number& one, const Number& other) {
    return one.name == other.name && one.value == other.value &&
           std::signbit(one.value.value_or(0.0)) == std::signbit(other.value.value_or(0.0));
  });
}

bool same_texts(const SharedList<Text>& a, const SharedList<Text>& b) {
  return alike(a, b, [](const Text& one, const Text& other) {
    return one.name == other.name && one.text == other.text;
  });
}

bool same_whens(const SharedList<EquationsDescription::When>& a,
                const SharedList<EquationsDescription::When>& b) {
  using When = EquationsDescription::When;
  return alike(a, b, [](const When& one, const When& other) {
    return one.condition == other.condition && one.every == other.every &&
           one.offset == other.offset && one.initially == other.initially &&
           one.says == other.says && same_texts(one.sets, other.sets);
  });
}

/// These variables begin with these numbers.
template <class Variable>
void begin_with(const SharedList<Number>& numbers, SharedList<Variable>& variables) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (variables.all()[i].start == numbers[i].value) continue;
    if constexpr (std::is_same_v<Variable, InputVariable>)
      variables.own()[i].start = numbers[i].value;
    else
      variables.own()[i].start = *numbers[i].value;
  }
}

}  // namespace

std::shared_ptr<EquationsCode> EquationsCode::of(const EquationsDescription& description,
                                                 double part) {
  static std::unordered_multimap<std::size_t, std::weak_ptr<EquationsCode>> all;
  static std::size_t most = 16;
  if (!std::ranges::all_of(description.parameters, [](const Number& p) { return !!p.value; }))
    return std::make_shared<EquationsCode>(description, part);  // which refuses it
  const std::size_t hash = hash_of(description);
  const auto [begin, end] = all.equal_range(hash);
  for (auto other = begin; other != end; ++other)
    if (auto known = other->second.lock(); known && known->is_of(description, part)) return known;
  if (all.size() >= most) {
    std::erase_if(all, [](const auto& entry) { return entry.second.expired(); });
    most = 2 * all.size() + 16;
  }
  auto result = std::make_shared<EquationsCode>(description, part);
  all.emplace(hash, result);
  return result;
}

bool EquationsCode::is_of(const EquationsDescription& other, double part) const {
  return part_ == part && same_numbers(description_.parameters, other.parameters) &&
         same_names(description_.inputs, other.inputs) &&
         same_names(description_.states, other.states) &&
         same_names(description_.discrete, other.discrete) &&
         same_texts(description_.derivatives, other.derivatives) &&
         same_texts(description_.outputs, other.outputs) &&
         same_texts(description_.variables, other.variables) &&
         same_texts(description_.units, other.units) &&
         same_texts(description_.display, other.display) &&
         same_numbers(description_.nominal, other.nominal) &&
         same_whens(description_.whens, other.whens) && description_.functions == other.functions;
}

EquationsCode::EquationsCode(const EquationsDescription& description, double part)
    : EquationsCode(description, SmoothEquations(checked(description), part), part) {}

EquationsCode::EquationsCode(const EquationsDescription& description,
                             const SmoothEquations& equations, double part)
    : description_(description),
      part_(part),
      has_homotopy_(equations.has_homotopy()),
      interface_(make_interface(description)),
      places_(equations.places()),
      derivatives_(
          ExpressionList::of_trees(equations.derivatives(), equations.names(), places_.all())),
      outputs_(ExpressionList::of_trees(equations.outputs(), equations.names(), places_.all())),
      events_(events_of(equations)),
      direction_(places_.all()) {
  interface_.constant_jacobians = derivatives_.affine() && outputs_.affine();
  for (std::size_t i = 0; i < interface_.outputs.size() && events_; ++i)
    interface_.outputs.own()[i].kind = equations.kind(equations.outputs()[i]);
}

std::optional<EquationsCode::Events> EquationsCode::events_of(const SmoothEquations& equations) {
  const EquationPlaces& places = equations.places();
  if (places.relations == 0 && equations.conditions().empty() && places.discrete == 0) {
    return std::nullopt;
  }
  const ExpressionNames& names = equations.names();
  const Expression zero = number_node(0.0);
  std::vector<Expression> sides;
  std::vector<char> linear;
  for (const Relation& relation : equations.relations()) {
    sides.push_back(relation.left);
    sides.push_back(relation.right ? relation.right : zero);
    linear.push_back(equations.linear_in_time(relation, names) ? 1 : 0);
  }
  return Events{equations.relations(), equations.conditions(),
                EquationEvents::Lists{
                    ExpressionList::of_trees(sides, names, places.all()),
                    ExpressionList::of_trees(equations.whens(), names, places.all()),
                    ExpressionList::of_trees(relation_guards(equations), names, places.all()),
                    std::move(linear)}};
}

std::unique_ptr<EquationEvents> EquationsCode::events(
    const EquationsDescription& description) const {
  if (!events_) return nullptr;
  std::vector<double> discrete;
  for (const Number& entry : description.discrete) discrete.push_back(*entry.value);
  return std::make_unique<EquationEvents>(places_, events_->relations, events_->conditions,
                                          discrete, events_->lists);
}

OdeInterface EquationsCode::interface(const EquationsDescription& description) const {
  OdeInterface result = interface_;
  begin_with(description.states, result.states);
  begin_with(description.inputs, result.inputs);
  return result;
}

const std::shared_ptr<const ColumnPattern>& EquationsCode::state_pattern() {
  if (!state_pattern_)
    state_pattern_ = pattern_of(derivatives_, places_.states, places_in_pattern_);
  return state_pattern_;
}

const std::shared_ptr<const LinearPattern>& EquationsCode::linear_pattern() {
  if (linear_pattern_) return linear_pattern_;
  auto result = std::make_shared<LinearPattern>();
  const auto find = [&](const ExpressionList& list, std::size_t rows, RowPattern& by_x,
                        RowPattern& by_u) {
    std::size_t k = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      for (; k < list.entries().size() && list.entries()[k].row == row; ++k) {
        const std::size_t variable = list.entries()[k].variable;
        if (variable == 0 || variable >= places_.moving()) continue;
        if (variable <= places_.states)
          by_x.columns.push_back(static_cast<int>(variable - 1));
        else
          by_u.columns.push_back(static_cast<int>(variable - 1 - places_.states));
      }
      by_x.end_row();
      by_u.end_row();
    }
  };
  find(derivatives_, places_.states, result->f_x, result->f_u);
  find(outputs_, interface_.outputs.size(), result->g_x, result->g_u);
  return linear_pattern_ = std::move(result);
}

Evaluation& EquationsCode::curvatures() {
  if (!curvatures_) curvatures_ = concord::output_curvatures(SmoothEquations(description_, part_));
  return *curvatures_;
}

const std::shared_ptr<TimeParts>& EquationsCode::time_parts() {
  if (!time_parts_) time_parts_ = std::make_shared<TimeParts>(SmoothEquations(description_, part_));
  return time_parts_;
}

}  // namespace concord
