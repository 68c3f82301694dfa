#include "subsystem/equations/equations_model.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "concord/errors.hpp"
#include "expression/expression_scan.hpp"
#include "subsystem/equations/equations_checks.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Number = EquationsDescription::Number;
using Text = EquationsDescription::Text;

std::vector<Feedthrough> feedthrough(const EquationsDescription& description) {
  const NamesBehind names_behind(description);
  std::unordered_map<std::string, std::size_t> inputs;
  for (std::size_t i = 0; i < description.inputs.size(); ++i) {
    inputs.emplace(description.inputs[i].name, i);
  }
  std::vector<Feedthrough> result;
  for (std::size_t output = 0; output < description.outputs.size(); ++output) {
    std::set<std::size_t> used;
    for (const std::string& name : names_behind(description.outputs[output].text)) {
      if (const auto input = inputs.find(name); input != inputs.end()) {
        used.insert(input->second);
      }
    }
    for (const std::size_t input : used) {
      result.push_back({output, input});
    }
  }
  return result;
}

bool uses_time(const EquationsDescription& description) {
  const NamesBehind names_behind(description);
  const auto in = [&](const std::vector<Text>& texts) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const Text& text) { return names_behind(text.text).contains("t"); });
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

PlacedExpression placed(const EquationsDescription& description, const Text& entry,
                        const std::string& role) {
  return {entry.text, entry.location + ": subsystem '" + description.subsystem + "', " + role +
                          " '" + entry.name + "'"};
}

/// The derivatives in the order of the states.
std::vector<PlacedExpression> placed_derivatives(const EquationsDescription& description) {
  std::unordered_map<std::string, const Text*> by_state;
  for (const Text& entry : description.derivatives) {
    by_state.emplace(entry.name, &entry);
  }
  std::vector<PlacedExpression> result;
  for (const Number& state : description.states) {
    result.push_back(placed(description, *by_state.at(state.name), "derivative of"));
  }
  return result;
}

std::vector<PlacedExpression> placed_outputs(const EquationsDescription& description) {
  std::vector<PlacedExpression> result;
  for (const Text& entry : description.outputs) {
    result.push_back(placed(description, entry, "output"));
  }
  return result;
}

/// t, states, inputs and discrete variables are variables of the compiled expressions.
ExpressionNames point_names(const EquationsDescription& description) {
  ExpressionNames result;
  std::uint32_t place = 0;
  result.variables.emplace("t", place++);
  for (const auto* entries : {&description.states, &description.inputs, &description.discrete}) {
    for (const Number& entry : *entries) {
      result.variables.emplace(entry.name, place++);
    }
  }
  for (const Number& parameter : description.parameters) {
    result.constants.emplace(parameter.name, *parameter.value);
  }
  return result;
}

/// Goes from variable to variable that it uses.
class LoopSearch {
 public:
  explicit LoopSearch(const EquationsDescription& description) : description_(description) {
    for (const Text& variable : description.variables) {
      by_name_.emplace(variable.name, &variable);
    }
  }

  /// Throws InputError where the variable stands, by way of others, for itself.
  void refuse_loops() {
    for (const Text& variable : description_.variables) {
      visit(variable);
    }
  }

 private:
  void visit(const Text& variable) {
    if (done_.contains(variable.name)) {
      return;
    }
    const auto open = std::find(path_.begin(), path_.end(), variable.name);
    if (open != path_.end()) {
      std::vector<std::string> loop(open, path_.end());
      loop.push_back(variable.name);
      refuse(description_, variable.location,
             "the variables " + joined(loop, " -> ") +
                 " use each other in a loop; make one of them a state, or solve for it");
    }
    path_.push_back(variable.name);
    for (const NameUse& use : names_used(variable.text)) {
      if (const auto other = by_name_.find(use.name); other != by_name_.end()) {
        visit(*other->second);
      }
    }
    path_.pop_back();
    done_.insert(variable.name);
  }

  const EquationsDescription& description_;
  std::unordered_map<std::string, const Text*> by_name_;
  std::vector<std::string> path_;
  std::set<std::string> done_;
};

}  // namespace

NamesBehind::NamesBehind(const EquationsDescription& description) {
  for (const Text& variable : description.variables) {
    variables_.emplace(variable.name, &variable.text);
  }
}

std::set<std::string> NamesBehind::operator()(const std::string& text) const {
  std::set<std::string> result;
  std::vector<const std::string*> open = {&text};
  while (!open.empty()) {
    const std::string& next = *open.back();
    open.pop_back();
    for (const NameUse& use : names_used(next)) {
      const auto variable = variables_.find(use.name);
      if (result.insert(use.name).second && variable != variables_.end()) {
        open.push_back(variable->second);
      }
    }
  }
  return result;
}

std::unordered_map<std::string, Expression> definitions_of(
    const EquationsDescription& description) {
  LoopSearch(description).refuse_loops();
  ExpressionNames names = point_names(description);
  for (const Text& variable : description.variables) {
    names.definitions.emplace(variable.name, nullptr);
  }
  std::unordered_map<std::string, Expression> result;
  for (const Text& variable : description.variables) {
    result.emplace(variable.name,
                   read_expression(placed(description, variable, "variable"), names));
  }
  return result;
}

/// The expressions of a description, smooth between events.
struct EquationsModel::Compiled {
  explicit Compiled(const EquationsDescription& from);

  std::optional<EquationEvents> events() const;
  SignalKind kind(const Expression& output) const;

  const EquationsDescription& description;
  ExpressionNames names;
  std::unordered_set<std::string> moving;  ///< names whose values move between events
  Relations relations;
  std::vector<Expression> derivatives, outputs, whens;
  std::vector<EquationCondition> conditions;
  EquationPlaces places;

 private:
  void find_moving();
  Expression smooth(const PlacedExpression& text) {
    return relations.taken_out_of(read_expression(text, names));
  }
  void read_when(const EquationsDescription::When& when);
  bool linear_in_time(const Relation& relation) const;
};

EquationsModel::Compiled::Compiled(const EquationsDescription& from)
    : description(from),
      names(point_names(from)),
      relations([this](const std::string& name) { return moving.contains(name); }) {
  names.definitions = definitions_of(from);
  find_moving();
  for (const Text& variable : from.variables) {
    Expression& definition = names.definitions.at(variable.name);
    definition = relations.taken_out_of(definition);
  }
  for (const PlacedExpression& text : placed_derivatives(from)) {
    derivatives.push_back(smooth(text));
  }
  for (const PlacedExpression& text : placed_outputs(from)) {
    outputs.push_back(smooth(text));
  }
  for (const EquationsDescription::When& when : from.whens) {
    read_when(when);
  }
  places = {from.states.size(), from.inputs.size(), from.discrete.size(), relations.all().size()};
  for (std::size_t i = 0; i < places.relations; ++i) {
    const std::size_t place = places.moving() + places.discrete + i;
    names.variables.emplace(Relations::name(i), static_cast<std::uint32_t>(place));
  }
}

void EquationsModel::Compiled::find_moving() {
  moving.insert("t");
  for (const auto* entries : {&description.states, &description.inputs}) {
    for (const Number& entry : *entries) {
      moving.insert(entry.name);
    }
  }
  const NamesBehind names_behind(description);
  const auto own = moving;
  for (const Text& variable : description.variables) {
    for (const std::string& name : names_behind(variable.text)) {
      if (own.contains(name)) {
        moving.insert(variable.name);
      }
    }
  }
}

void EquationsModel::Compiled::read_when(const EquationsDescription::When& when) {
  const PlacedExpression condition{
      when.condition, when.location + ": subsystem '" + description.subsystem + "', condition"};
  EquationCondition result{when.every ? "every " + short_number(*when.every) : when.condition,
                           when.every,
                           when.offset,
                           {}};
  if (!when.every) {
    whens.push_back(smooth(condition));
  }
  const auto place_in = [](const std::vector<Number>& entries, const std::string& name) {
    return std::find_if(entries.begin(), entries.end(),
                        [&](const Number& entry) { return entry.name == name; }) -
           entries.begin();
  };
  for (const Text& set : when.sets) {
    const auto state = static_cast<std::size_t>(place_in(description.states, set.name));
    const auto discrete = static_cast<std::size_t>(place_in(description.discrete, set.name));
    const bool is_state = state < description.states.size();
    result.sets.push_back({is_state, is_state ? state : discrete});
    whens.push_back(read_expression(placed(description, set, "set of"), names));
  }
  conditions.push_back(std::move(result));
}

/// By its form: what else than t is in it changes at events only.
bool EquationsModel::Compiled::linear_in_time(const Relation& relation) const {
  if (relation.kind == Relation::Kind::equal) {
    return false;
  }
  std::vector<Expression> sides = {relation.left};
  if (relation.right) {
    sides.push_back(relation.right);
  }
  const ExpressionList list = ExpressionList::of_trees(sides, names, places.all());
  const auto entries = list.entries();
  return list.affine() && std::all_of(entries.begin(), entries.end(), [&](const auto& entry) {
           return entry.variable == 0 || entry.variable >= places.moving();
         });
}

std::optional<EquationEvents> EquationsModel::Compiled::events() const {
  if (places.relations == 0 && conditions.empty()) {
    return std::nullopt;
  }
  const auto zero =
      std::make_shared<const ExpressionNode>(ExpressionNode::Kind::number, 0.0, std::string());
  std::vector<Expression> sides;
  std::vector<char> linear;
  for (const Relation& relation : relations.all()) {
    sides.push_back(relation.left);
    sides.push_back(relation.right ? relation.right : zero);
    linear.push_back(linear_in_time(relation) ? 1 : 0);
  }
  std::vector<double> discrete;
  for (const Number& entry : description.discrete) {
    discrete.push_back(*entry.value);
  }
  return EquationEvents(places, relations.all(), conditions, discrete,
                        {ExpressionList::of_trees(sides, names, places.all()),
                         ExpressionList::of_trees(whens, names, places.all()), std::move(linear)});
}

/// Held where it moves with nothing that moves between events, but with something that changes.
SignalKind EquationsModel::Compiled::kind(const Expression& output) const {
  const ExpressionList list = ExpressionList::of_trees(std::span(&output, 1), names, places.all());
  const auto entries = list.depends_on();
  const auto moves = [&](std::uint32_t variable) { return variable < places.moving(); };
  return !entries.empty() && std::none_of(entries.begin(), entries.end(), moves)
             ? SignalKind::held
             : SignalKind::continuous;
}

EquationsModel::EquationsModel(const EquationsDescription& description)
    : description_(checked(description)), interface_(make_interface(description_)) {
  compile();
}

void EquationsModel::compile() {
  const Compiled compiled(description_);
  const std::size_t places = compiled.places.all();
  derivatives_ = ExpressionList::of_trees(compiled.derivatives, compiled.names, places);
  outputs_ = ExpressionList::of_trees(compiled.outputs, compiled.names, places);
  interface_.constant_jacobians = derivatives_->affine() && outputs_->affine();
  auto events = compiled.events();
  if (events && events_) {
    events->continue_from(*events_);
  }
  events_ = std::move(events);
  for (std::size_t i = 0; i < interface_.outputs.size() && events_; ++i) {
    interface_.outputs[i].kind = compiled.kind(compiled.outputs[i]);
  }
  direction_.resize(places);
  take_held();
}

/// Parameters are constants of the compiled expressions.
bool EquationsModel::set_parameter(std::size_t parameter, double value) {
  description_.parameters[parameter].value = value;
  compile();
  return true;
}

/// What events have changed, where the expressions read it.
void EquationsModel::take_held() {
  if (!events_) {
    return;
  }
  const auto held = events_->held();
  for (ExpressionList* list : {&*derivatives_, &*outputs_}) {
    std::copy_backward(held.begin(), held.end(), list->point().end());
  }
}

double EquationsModel::next_time_event() const {
  return events_ ? events_->next_time_event() : std::numeric_limits<double>::infinity();
}

void EquationsModel::begin(double t, std::span<const double> x, std::span<const double> u) {
  events_->begin(t, x, u);
  take_held();
}

bool EquationsModel::settle(const EventPoint& point, std::span<const double> x) {
  const bool changed = events_->settle(point, x);
  take_held();
  return changed;
}

bool EquationsModel::happen(const EventPoint& point, std::span<double> x,
                            std::vector<Happening>& what) {
  const bool changed = events_->happen(point, x, what);
  take_held();
  return changed;
}

void EquationsModel::pass_events(Archive& archive) {
  archive(*events_);
  take_held();
}

void EquationsModel::move_to(std::span<double> point, double t, std::span<const double> x,
                             std::span<const double> u) {
  point[0] = t;
  std::copy(u.begin(), u.end(), std::copy(x.begin(), x.end(), point.begin() + 1));
}

void EquationsModel::derivatives(double t, std::span<const double> x, std::span<const double> u,
                                 std::span<double> dxdt) {
  move_to(derivatives_->point(), t, x, u);
  derivatives_->evaluate(dxdt);
}

void EquationsModel::outputs(double t, std::span<const double> x, std::span<const double> u,
                             std::span<double> y) {
  move_to(outputs_->point(), t, x, u);
  outputs_->evaluate(y);
}

bool EquationsModel::jacobians(double t, std::span<const double> x, std::span<const double> u,
                               const Jacobians& result) {
  const auto spread = [&](ExpressionList& list, std::span<double> by_x, std::span<double> by_u) {
    move_to(list.point(), t, x, u);
    const std::span<const double> values = list.differentiate();
    std::fill(by_x.begin(), by_x.end(), 0.0);
    std::fill(by_u.begin(), by_u.end(), 0.0);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto [row, variable] = list.entries()[k];
      if (variable > x.size() + u.size()) continue;
      if (variable > x.size())
        by_u[row * u.size() + variable - 1 - x.size()] = values[k];
      else if (variable > 0)
        by_x[row * x.size() + variable - 1] = values[k];
    }
  };
  spread(*derivatives_, result.f_x, result.f_u);
  spread(*outputs_, result.g_x, result.g_u);
  return true;
}

bool EquationsModel::time_derivatives(double t, std::span<const double> x,
                                      std::span<const double> u, const TimeDerivatives& result) {
  const auto spread = [&](ExpressionList& list, std::span<double> by_t) {
    move_to(list.point(), t, x, u);
    const std::span<const double> values = list.differentiate();
    std::fill(by_t.begin(), by_t.end(), 0.0);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto [row, variable] = list.entries()[k];
      if (variable == 0) by_t[row] = values[k];
    }
  };
  spread(*derivatives_, result.f_t);
  spread(*outputs_, result.g_t);
  return true;
}

bool EquationsModel::output_slopes(double t, std::span<const double> x, std::span<const double> u,
                                   const Motion& motion, std::span<double> dydt) {
  move_to(outputs_->point(), t, x, u);
  move_to(direction_, 1.0, motion.dxdt, motion.dudt);
  outputs_->slopes(direction_, dydt);
  return true;
}

}  // namespace concord
