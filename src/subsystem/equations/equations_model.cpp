#include "subsystem/equations/equations_model.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>

#include "expression/expression_list.hpp"
#include "expression/not_finite.hpp"
#include "subsystem/equations/equations_batch.hpp"
#include "subsystem/equations/equations_checks.hpp"
#include "subsystem/equations/output_curvatures.hpp"
#include "subsystem/equations/relation_guards.hpp"
#include "subsystem/resets.hpp"
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
  const auto in = [&](const std::vector<Text>& texts) {
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

/// Null where nothing ever happens, nor has a value that could be set.
std::unique_ptr<EquationEvents> events_of(const SmoothEquations& equations,
                                          const EquationsDescription& description) {
  const EquationPlaces& places = equations.places();
  if (places.relations == 0 && equations.conditions().empty() && places.discrete == 0) {
    return nullptr;
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
  std::vector<double> discrete;
  for (const Number& entry : description.discrete) {
    discrete.push_back(*entry.value);
  }
  return std::make_unique<EquationEvents>(
      places, equations.relations(), equations.conditions(), discrete,
      EquationEvents::Lists{
          ExpressionList::of_trees(sides, names, places.all()),
          ExpressionList::of_trees(equations.whens(), names, places.all()),
          ExpressionList::of_trees(relation_guards(equations), names, places.all()),
          std::move(linear)});
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

}  // namespace

EquationsModel::EquationsModel(std::shared_ptr<const EquationsDescription> description)
    : description_(std::move(description)), interface_(make_interface(checked(*description_))) {
  compile();
}

void EquationsModel::compile() {
  const SmoothEquations equations(*description_);
  const ExpressionNames& names = equations.names();
  places_ = equations.places();
  derivatives_ = ExpressionList::of_trees(equations.derivatives(), names, places_.all());
  outputs_ = ExpressionList::of_trees(equations.outputs(), names, places_.all());
  curvatures_.reset();
  pattern_.reset();
  linear_pattern_.reset();
  interface_.constant_jacobians = derivatives_->affine() && outputs_->affine();
  auto events = events_of(equations, *description_);
  if (events && events_) {
    events->continue_from(*events_);
  }
  events_ = std::move(events);
  for (std::size_t i = 0; i < interface_.outputs.size() && events_; ++i) {
    interface_.outputs[i].kind = equations.kind(equations.outputs()[i]);
  }
  direction_.resize(places_.all());
  take_held();
}

/// Parameters are constants of the compiled expressions.
bool EquationsModel::set_parameter(std::size_t parameter, double value) {
  auto changed = std::make_shared<EquationsDescription>(*description_);
  changed->parameters[parameter].value = value;
  description_ = std::move(changed);
  compile();
  return true;
}

std::optional<double> EquationsModel::parameter(std::size_t parameter) {
  return description_->parameters[parameter].value;
}

/// What events have changed, where the expressions read it.
void EquationsModel::take_held() {
  ++changes_;
  const auto now = held();
  for (ExpressionList* list : {&*derivatives_, &*outputs_}) {
    std::copy_backward(now.begin(), now.end(), list->point().end());
  }
}

std::span<const double> EquationsModel::held() const {
  return events_ ? events_->held() : std::span<const double>();
}

double EquationsModel::next_time_event() const {
  return events_ ? events_->next_time_event() : std::numeric_limits<double>::infinity();
}

void EquationsModel::begin(double t, std::span<const double> x, std::span<const double> u) {
  events_->begin(t, x, u);
  take_held();
}

bool EquationsModel::settle(const EventPoint& point, std::span<const double> x,
                            std::vector<Happening>& what) {
  const bool changed = events_->settle(point, x, what);
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
  CONCORD_MEMBERS(archive, *events_);
  take_held();
}

void EquationsModel::take_over(Archive& archive) {
  events_->take_over(archive);
  take_held();
}

void EquationsModel::move_to(std::span<double> point, double t, std::span<const double> x,
                             std::span<const double> u) {
  double* next = point.data();
  *next++ = t;
  for (const double value : x) *next++ = value;
  for (const double value : u) *next++ = value;
}

std::string EquationsModel::why_not_finite(Part part, std::size_t index, double t,
                                           std::span<const double> x,
                                           std::span<const double> u) const {
  const SmoothEquations equations(*description_);
  const ExpressionNames& names = equations.names();
  std::vector<double> point(places_.moving());
  move_to(point, t, x, u);
  point.insert(point.end(), held().begin(), held().end());
  const auto value = [&](const std::string& name) {
    if (const auto place = names.variables.find(name); place != names.variables.end())
      return point[place->second];
    const auto constant = names.constants.find(name);
    return constant != names.constants.end() ? constant->second : find_constant(name).value();
  };
  const bool output = part == Part::output;
  const std::string& name =
      output ? description_->outputs[index].name : description_->states[index].name;
  const auto& texts = output ? description_->outputs : description_->derivatives;
  const auto text = std::ranges::find(texts, name, &Text::name);
  const std::string why = concord::why_not_finite(
      (output ? equations.outputs() : equations.derivatives())[index], names, value);
  return why.empty() ? why : text->location + ": " + why;
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

std::shared_ptr<const ColumnPattern> EquationsModel::state_pattern() const {
  if (!pattern_) pattern_ = pattern_of(*derivatives_, places_.states, places_in_pattern_);
  return pattern_;
}

void EquationsModel::state_entries(double t, std::span<const double> x, std::span<const double> u,
                                   std::span<double> entries) {
  move_to(derivatives_->point(), t, x, u);
  const std::span<const double> values = derivatives_->differentiate();
  std::ranges::fill(entries, 0.0);
  for (std::size_t k = 0; k < values.size(); ++k)
    if (places_in_pattern_[k] < entries.size()) entries[places_in_pattern_[k]] = values[k];
}

std::shared_ptr<const LinearPattern> EquationsModel::linear_pattern() const {
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
  find(*derivatives_, places_.states, result->f_x, result->f_u);
  find(*outputs_, interface_.outputs.size(), result->g_x, result->g_u);
  return linear_pattern_ = std::move(result);
}

void EquationsModel::linear_entries(double t, std::span<const double> x, std::span<const double> u,
                                    const Jacobians& entries) {
  const auto fill = [&](ExpressionList& list, std::span<double> by_x, std::span<double> by_u) {
    move_to(list.point(), t, x, u);
    const std::span<const double> values = list.differentiate();
    auto next_x = by_x.begin(), next_u = by_u.begin();
    for (std::size_t k = 0; k < values.size(); ++k) {
      const std::size_t variable = list.entries()[k].variable;
      if (variable == 0 || variable >= places_.moving()) continue;
      *(variable <= places_.states ? next_x++ : next_u++) = values[k];
    }
  };
  fill(*derivatives_, entries.f_x, entries.f_u);
  fill(*outputs_, entries.g_x, entries.g_u);
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

void EquationsModel::discrete_slopes(double t, std::span<const double> x, std::span<const double> u,
                                     std::span<const double> discrete, std::span<double> f,
                                     std::span<double> g) {
  std::ranges::fill(direction_, 0.0);
  const auto held = direction_.begin() + static_cast<std::ptrdiff_t>(places_.moving());
  std::ranges::copy(discrete, held);
  move_to(derivatives_->point(), t, x, u);
  derivatives_->slopes(direction_, f);
  move_to(outputs_->point(), t, x, u);
  outputs_->slopes(direction_, g);
  std::fill_n(held, discrete.size(), 0.0);
}

bool EquationsModel::output_curvatures(double t, std::span<const double> x,
                                       std::span<const double> u, const InputMotion& motion,
                                       std::span<double> d2ydt2) {
  curvatures();
  const std::span<double> point = curvatures_->variables();
  move_to(point, t, x, u);
  auto next = point.begin() + static_cast<std::ptrdiff_t>(places_.moving());
  for (const std::span<const double> part : {held(), motion.dudt, motion.d2udt2})
    next = std::copy(part.begin(), part.end(), next);
  curvatures_->run(d2ydt2);
  return true;
}

const Evaluation& EquationsModel::curvatures() {
  if (!curvatures_) curvatures_ = concord::output_curvatures(SmoothEquations(*description_));
  return *curvatures_;
}

bool EquationsModel::fits(const BatchModel& other) const {
  const auto* const equations = dynamic_cast<const EquationsModel*>(&other);
  return equations != nullptr && f().shares_with(equations->f()) && g().shares_with(equations->g());
}

std::unique_ptr<ModelBatch> EquationsModel::batch(std::span<BatchModel* const> members) const {
  std::vector<EquationsModel*> models;
  for (BatchModel* const member : members) models.push_back(dynamic_cast<EquationsModel*>(member));
  return std::make_unique<EquationsBatch>(std::move(models));
}

bool sets_states(const EquationsDescription& equations) {
  const auto is_state = [&](const Text& set) {
    return std::ranges::any_of(equations.states,
                               [&](const Number& state) { return state.name == set.name; });
  };
  return std::ranges::any_of(equations.whens, [&](const EquationsDescription::When& when) {
    return std::ranges::any_of(when.sets, is_state);
  });
}

}  // namespace concord
