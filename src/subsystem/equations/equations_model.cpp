#include "subsystem/equations/equations_model.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "expression/not_finite.hpp"
#include "subsystem/equations/equations_batch.hpp"
#include "subsystem/resets.hpp"
#include "support/wording.hpp"

namespace concord {

using Number = EquationsDescription::Number;
using Text = EquationsDescription::Text;

EquationsModel::EquationsModel(std::shared_ptr<const EquationsDescription> description)
    : description_(std::move(description)) {
  compile();
}

void EquationsModel::compile() {
  code_ = EquationsCode::of(*description_, part_);
  auto events = code_->events(*description_);
  if (events && events_) {
    events->continue_from(*events_);
  }
  events_ = std::move(events);
  ++changes_;
}

/// Parameters are constants of the compiled expressions.
bool EquationsModel::set_parameter(std::size_t parameter, double value) {
  auto changed = std::make_shared<EquationsDescription>(*description_);
  changed->parameters.own()[parameter].value = value;
  description_ = std::move(changed);
  compile();
  return true;
}

bool EquationsModel::go_along_homotopy(double part) {
  if (!code_->has_homotopy()) return false;
  if (part != std::exchange(part_, part)) compile();
  return true;
}

std::optional<double> EquationsModel::parameter(std::size_t parameter) {
  return description_->parameters[parameter].value;
}

std::span<const double> EquationsModel::held() const {
  return events_ ? events_->held() : std::span<const double>();
}

double EquationsModel::next_time_event() const {
  return events_ ? events_->next_time_event() : std::numeric_limits<double>::infinity();
}

void EquationsModel::begin(double t, std::span<const double> x, std::span<const double> u) {
  events_->begin(t, x, u);
  ++changes_;
}

bool EquationsModel::settle(const EventPoint& point, std::span<const double> x,
                            std::vector<Happening>& what) {
  const bool changed = events_->settle(point, x, what);
  ++changes_;
  return changed;
}

bool EquationsModel::happen(const EventPoint& point, std::span<double> x,
                            std::vector<Happening>& what) {
  const bool changed = events_->happen(point, x, what);
  ++changes_;
  return changed;
}

void EquationsModel::pass_events(Archive& archive) {
  CONCORD_MEMBERS(archive, *events_);
  ++changes_;
}

void EquationsModel::take_over(Archive& archive) {
  events_->take_over(archive);
  ++changes_;
}

void EquationsModel::write(std::span<double> point, double t, std::span<const double> x,
                           std::span<const double> u) {
  double* next = point.data();
  *next++ = t;
  for (const double value : x) *next++ = value;
  for (const double value : u) *next++ = value;
}

/// Others evaluate in the same registers.
void EquationsModel::move_to(ExpressionList& list, double t, std::span<const double> x,
                             std::span<const double> u) const {
  const std::span<double> point = list.point();
  write(point, t, x, u);
  if (!events_) return;
  const std::span<const double> now = events_->held();
  std::copy_backward(now.begin(), now.end(), point.end());
}

std::string EquationsModel::why_not_finite(Part part, std::size_t index, double t,
                                           std::span<const double> x,
                                           std::span<const double> u) const {
  const SmoothEquations equations(*description_, part_);
  const ExpressionNames& names = equations.names();
  std::vector<double> point(places().moving());
  write(point, t, x, u);
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
  move_to(code_->f(), t, x, u);
  code_->f().evaluate(dxdt);
}

void EquationsModel::outputs(double t, std::span<const double> x, std::span<const double> u,
                             std::span<double> y) {
  move_to(code_->g(), t, x, u);
  code_->g().evaluate(y);
}

bool EquationsModel::jacobians(double t, std::span<const double> x, std::span<const double> u,
                               const Jacobians& result) {
  const auto spread = [&](ExpressionList& list, std::span<double> by_x, std::span<double> by_u) {
    move_to(list, t, x, u);
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
  spread(code_->f(), result.f_x, result.f_u);
  spread(code_->g(), result.g_x, result.g_u);
  return true;
}

void EquationsModel::state_entries(double t, std::span<const double> x, std::span<const double> u,
                                   std::span<double> entries) {
  move_to(code_->f(), t, x, u);
  const std::span<const double> values = code_->f().differentiate();
  const auto places = code_->places_in_pattern();
  std::ranges::fill(entries, 0.0);
  for (std::size_t k = 0; k < values.size(); ++k)
    if (places[k] < entries.size()) entries[places[k]] = values[k];
}

void EquationsModel::linear_entries(double t, std::span<const double> x, std::span<const double> u,
                                    const Jacobians& entries) {
  const auto fill = [&](ExpressionList& list, std::span<double> by_x, std::span<double> by_u) {
    move_to(list, t, x, u);
    const std::span<const double> values = list.differentiate();
    auto next_x = by_x.begin(), next_u = by_u.begin();
    for (std::size_t k = 0; k < values.size(); ++k) {
      const std::size_t variable = list.entries()[k].variable;
      if (variable == 0 || variable >= places().moving()) continue;
      *(variable <= places().states ? next_x++ : next_u++) = values[k];
    }
  };
  fill(code_->f(), entries.f_x, entries.f_u);
  fill(code_->g(), entries.g_x, entries.g_u);
}

bool EquationsModel::time_derivatives(double t, std::span<const double> x,
                                      std::span<const double> u, const TimeDerivatives& result) {
  const auto spread = [&](ExpressionList& list, std::span<double> by_t) {
    move_to(list, t, x, u);
    const std::span<const double> values = list.differentiate();
    std::fill(by_t.begin(), by_t.end(), 0.0);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto [row, variable] = list.entries()[k];
      if (variable == 0) by_t[row] = values[k];
    }
  };
  spread(code_->f(), result.f_t);
  spread(code_->g(), result.g_t);
  return true;
}

bool EquationsModel::output_slopes(double t, std::span<const double> x, std::span<const double> u,
                                   const Motion& motion, std::span<double> dydt) {
  move_to(code_->g(), t, x, u);
  write(code_->direction(), 1.0, motion.dxdt, motion.dudt);
  code_->g().slopes(code_->direction(), dydt);
  return true;
}

void EquationsModel::discrete_slopes(double t, std::span<const double> x, std::span<const double> u,
                                     std::span<const double> discrete, std::span<double> f,
                                     std::span<double> g) {
  const std::span<double> direction = code_->direction();
  std::ranges::fill(direction, 0.0);
  const auto held = direction.begin() + static_cast<std::ptrdiff_t>(places().moving());
  std::ranges::copy(discrete, held);
  move_to(code_->f(), t, x, u);
  code_->f().slopes(direction, f);
  move_to(code_->g(), t, x, u);
  code_->g().slopes(direction, g);
  std::fill_n(held, discrete.size(), 0.0);
}

bool EquationsModel::output_curvatures(double t, std::span<const double> x,
                                       std::span<const double> u, const InputMotion& motion,
                                       std::span<double> d2ydt2) {
  Evaluation& curvatures = code_->curvatures();
  const std::span<double> point = curvatures.variables();
  write(point, t, x, u);
  auto next = point.begin() + static_cast<std::ptrdiff_t>(places().moving());
  for (const std::span<const double> part : {held(), motion.dudt, motion.d2udt2})
    next = std::copy(part.begin(), part.end(), next);
  curvatures.run(d2ydt2);
  return true;
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
