#include "settings/accuracy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <sstream>

#include "coupling/problem/error_norm.hpp"
#include "network/written_parts.hpp"
#include "settings/model_choices.hpp"
#include "settings/order.hpp"
#include "subsystem/resets.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// The share of the accuracy that the step control aims its tolerance at: estimates are right
/// within a factor of two or three.
constexpr double of_control = 0.5;

/// Integrators' tolerances: what they miss adds up over the macro-steps, whose number grows like
/// the accuracy to the power of -1/order, and which are few where the order is 6. Never above the
/// usual one: nothing tells their error, which stiff springs between subsystems make a large one.
double of_integrators(double accuracy, int order) {
  constexpr double smallest = 1e-13;
  const double share = order == 6 ? 2e-2 : 5e-3;
  return std::clamp(share * std::pow(accuracy, 1.0 + 1.0 / order), smallest,
                    SubsystemSettings{}.tolerance.relative);
}

/// Of integrators' tolerances.
constexpr double absolute_part = 0.01;

/// Of a group, over so many radians of its fastest oscillation: what its micro-steps miss, a few of
/// them for each radian, adds up to about a tenth of the tolerance per radian. What is coupled
/// stiffly is within, and its error told.
double of_group(double accuracy, double radians) {
  constexpr double smallest = 1e-13, largest = 1e-5;
  constexpr double share = 0.3, per_radian = 0.1, fewest = 10.0, most = 1e3;
  return std::clamp(share * accuracy / std::clamp(per_radian * radians, fewest, most), smallest,
                    largest);
}

/// The experiment in the largest macro-steps.
constexpr double fewest_steps = 50.0;

/// What makes a method beside its type; without any of these it is a preset.
constexpr std::array of_method = {
    "cosim_schedule",
    "cosim_hold",
    "cosim_hold_order",
    "cosim_extrapolation",
    "cosim_solve",
    "cosim_predictor",
    "cosim_balance",
    "snes_type",
    "cosim_smooth_switching",
    "cosim_constraints",
    "cosim_consistent_outputs",
};

/// In the order in which methods reach an accuracy with the least work; where order 6 pays, it goes
/// before `jfm`.
constexpr std::array by_work = {"radau", "jfm", "missiles", "gauss_seidel", "jacobi"};
constexpr std::array reasons_by_work = {
    "order 7 by one pass over four nodes, also where stiff: no inputs are held, nothing is "
    "repeated",
    "order 4, and stable across loops, with few integrations: what must repeat a macro-step can",
    "order 4 with one integration per macro-step, which nobody has to repeat",
    "nothing is repeated, and what runs later knows what ran before",
    "nothing is repeated, and inputs are held, which is all that some subsystem takes"};
static_assert(by_work.size() == reasons_by_work.size());
constexpr std::array by_work_of_order_six = {"missiles6", "jfm6"};

/// Where macro-steps are given: the default, and what takes its place.
constexpr auto of_given_steps = std::span(by_work).subspan<1>();

/// With a step control of their own.
constexpr std::array of_high_order = {"jfm", "missiles", "jfm6", "missiles6", "gauss", "radau"};

bool any_given(std::span<const char* const> names) {
  return std::any_of(names.begin(), names.end(),
                     [](const char* name) { return options::has(name); });
}

/// No option names the method or a part of it.
bool is_chosen_by_us() { return !options::has("cosim_type") && !any_given(of_method); }

/// The preset, with all that is no part of one.
Method as_preset(const Method& preset, const Method& method) {
  Method result = method;
  result.type = preset.type;
  result.schedule = preset.schedule;
  result.hold = preset.hold;
  result.hold_order = preset.hold_order;
  result.extrapolation = preset.extrapolation;
  result.solve = preset.solve;
  result.snes_type = preset.snes_type;
  result.predictor = preset.predictor;
  if (!options::has("missiles_defect")) {
    result.estimator.defect = preset.estimator.defect;
  }
  return result;
}

Method with_estimate(Method method, ErrorEstimate estimate) {
  method.estimate = estimate;
  return method;
}

bool can_run(const Method& method, const Model& model) {
  return contradictions(method).empty() && missing_capabilities(method, model).empty();
}

bool takes_any_step(const Model& model) {
  return std::all_of(model.subsystems.begin(), model.subsystems.end(),
                     [](const auto& entry) { return entry.description.capabilities.any_step; });
}

const Method& preset_of(std::string_view type) {
  const auto& presets = method_presets();
  return *std::find_if(presets.begin(), presets.end(),
                       [&](const Method& one) { return one.type == type; });
}

/// Options of what collocation does without.
bool asks_for_what_has_no_nodes() {
  constexpr std::array prefixes = {"snes_", "ksp_", "pc_", "missiles_"};
  constexpr std::array of_integrators = {"_integrator", "_rtol", "_atol"};
  const auto subsystems = options::given("subsystem_");
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [](const char* prefix) { return !options::given(prefix).empty(); }) ||
         std::any_of(subsystems.begin(), subsystems.end(), [&](const std::string& name) {
           return std::any_of(of_integrators.begin(), of_integrators.end(),
                              [&](const char* ending) { return name.ends_with(ending); });
         });
}

/// Nodes' systems are dense, of as many states or inputs times nodes.
constexpr std::size_t most_at_nodes = 40;

/// Why the subsystem would lose by collocation what others gain; empty where it doesn't.
std::string loss_at_nodes(const SubsystemEntry& entry) {
  const SubsystemDescription& description = entry.description;
  const std::string who = "subsystem '" + description.name + "' ";
  if (entry.type->fmu != nullptr) return who + "is an FMU, which may want an event after each step";
  if (is_group(description)) return who + "is integrated at a pace of its own";
  if (!description.capabilities.linearization && !description.states.empty())
    return who + "offers no linearization";
  if (entry.equations != nullptr && sets_states(*entry.equations))
    return who + "sets states at events, whose instants may accumulate, which nodes don't follow";
  const std::size_t size = std::max(description.states.size(), description.inputs.size());
  if (size <= most_at_nodes) return "";
  return who + "has " + std::to_string(size) + " states or inputs, for which systems at nodes, " +
         "that are dense, pay up to " + std::to_string(most_at_nodes);
}

std::vector<std::string> losses_at_nodes(const Model& model) {
  std::vector<std::string> result;
  if (!is_coupled(model)) result.push_back("nothing is coupled, and integrators go by themselves");
  for (const ConnectionEntry& connection : model.connections) {
    if (connection.held)
      result.push_back("what the connection " + connection.from + " -> " + connection.to +
                       " holds is of order 1 under any method");
  }
  for (const SubsystemEntry& entry : model.subsystems) {
    if (std::string loss = loss_at_nodes(entry); !loss.empty()) result.push_back(std::move(loss));
  }
  return result;
}

/// Why -cosim_accuracy doesn't choose the preset for this model.
std::vector<std::string> reasons_not_for(const Method& preset, const Model& model) {
  auto missing = missing_capabilities(preset, model);
  return missing.empty() && preset.solve.at_nodes ? losses_at_nodes(model) : missing;
}

bool is_wanted(const Method& method, Order order, const Model& model) {
  if (method.solve.at_nodes) {
    return order == Order::by_type && !asks_for_what_has_no_nodes() &&
           losses_at_nodes(model).empty();
  }
  return !method.hold.ends_with_curvature() || order == Order::six ||
         (order != Order::four && quintic_pays(method) && !model.stiff.value_or(false));
}

/// "jfm: subsystem 'x' offers no rollback and 2 more"
std::string reason_against(std::string_view type, const std::vector<std::string>& missing) {
  const std::size_t others = missing.size() - 1;
  return std::string(type) + ": " + missing.front() +
         (others > 0 ? " and " + std::to_string(others) + " more" : "");
}

/// "jfm: subsystem 'x' offers no rollback; missiles: ...": of those that would go before.
std::string reasons_against_better(std::string_view chosen, const Model& model) {
  const auto at = std::find(of_given_steps.begin(), of_given_steps.end(), chosen);
  if (at == of_given_steps.end()) return "";
  std::vector<std::string> reasons;
  for (const std::string_view type : std::span(of_given_steps.begin(), at)) {
    const auto missing = missing_capabilities(preset_of(type), model);
    if (!missing.empty()) reasons.push_back(reason_against(type, missing));
  }
  return joined(reasons, "; ");
}

bool fits_control(const Method& method, const Settings& settings) {
  return settings.adapt != Adapt::iteration || method.solve.iterates;
}

/// The first of these types that is wanted and can run; where none can, as it was.
void choose_among(std::span<const char* const> types, Settings& settings, const Model& model) {
  for (const std::string_view type : types) {
    const Method candidate = as_preset(preset_of(type), settings.method);
    if (is_wanted(candidate, settings.order, model) && fits_control(candidate, settings) &&
        can_run(candidate, model)) {
      settings.method = candidate;
      settings.against_better = reasons_against_better(type, model);
      settings.chose_order_six =
          candidate.hold.ends_with_curvature() && settings.order != Order::six;
      return;
    }
  }
}

/// FMUs that nothing couples, of which slopes and linearisations would be asked for nobody.
bool has_lone_fmus(const Model& model) {
  return !is_coupled(model) &&
         std::any_of(model.subsystems.begin(), model.subsystems.end(),
                     [](const SubsystemEntry& entry) { return entry.type->fmu != nullptr; });
}

constexpr std::array for_lone_fmus = {"jacobi"};

void choose_method(Settings& settings, const Model& model) {
  if (has_lone_fmus(model)) {
    choose_among(for_lone_fmus, settings, model);
    return;
  }
  std::vector<const char*> types(by_work.begin(), by_work.end());
  types.insert(types.begin() + 1, by_work_of_order_six.begin(), by_work_of_order_six.end());
  choose_among(types, settings, model);
}

/// Unless it is given.
void take(Tolerance& tolerance, const std::string& prefix, double relative, double absolute) {
  if (!options::has(prefix + "rtol")) tolerance.relative = relative;
  if (tolerance.of_size) tolerance.absolute = absolute;
}

Adapt chosen_control(const Method& method, const Model& model) {
  if (!is_coupled(model) || !takes_any_step(model)) {
    return Adapt::none;
  }
  if (can_run(with_estimate(method, ErrorEstimate::predictor), model)) {
    return Adapt::predictor;
  }
  const bool repeats = can_run(with_estimate(method, ErrorEstimate::richardson), model);
  return repeats ? Adapt::richardson : Adapt::none;
}

std::string rounded(double error) {
  std::ostringstream text;
  text.precision(2);
  text << error;
  return text.str();
}

}  // namespace

RecommendedMethod recommended_method(const Model& model) {
  RecommendedMethod result;
  for (std::size_t i = 0; i < by_work.size(); ++i) {
    const auto missing = reasons_not_for(preset_of(by_work[i]), model);
    if (missing.empty()) {
      result.type = by_work[i];
      result.why = reasons_by_work[i];
      return result;
    }
    result.passed_over.push_back(std::string(by_work[i]) + ": " + joined(missing, "; "));
  }
  const auto& presets = method_presets();
  const auto able = std::find_if(presets.begin(), presets.end(), [&](const Method& one) {
    return missing_capabilities(one, model).empty();
  });
  result.type = able == presets.end() ? by_work.front() : able->type;
  result.why = able == presets.end() ? "no method can run this model" : "it can run";
  return result;
}

bool accuracy_decides() {
  if (options::has("cosim_accuracy")) {
    return true;
  }
  const auto type = options::text("cosim_type");
  const bool high =
      !type || std::find(of_high_order.begin(), of_high_order.end(), *type) != of_high_order.end();
  return high && !options::has("cosim_step") && !options::has("cosim_adapt") &&
         !any_given(of_method);
}

void choose_what_runs(Settings& settings, const Model& model) {
  if (!is_chosen_by_us()) return;
  if (has_lone_fmus(model)) {
    choose_among(for_lone_fmus, settings, model);
  } else if (!can_run(settings.method, model)) {
    choose_among(of_given_steps, settings, model);
  }
}

void choose_by_accuracy(Settings& settings, const Model& model) {
  const double accuracy = settings.aim;
  Method& method = settings.method;
  const double control = 0.5 * of_control * accuracy;  // relative and absolute part add up
  take(method.adapt_tolerance, "cosim_adapt_", control, control);
  method.adapt_tolerance.of_range = true;
  take(method.tolerance, "cosim_", inner_fraction * accuracy, inner_fraction * accuracy);
  if (is_chosen_by_us()) {
    choose_method(settings, model);
  }
  if (options::has("cosim_adapt") || options::has("cosim_step")) {
    return;
  }
  settings.adapt = chosen_control(method, model);
  method.estimate = estimate_of(settings.adapt);
}

void integrate_by_accuracy(Settings& settings) {
  const int order = settings.method.hold.ends_with_curvature() ? 6 : 4;
  const double relative = of_integrators(settings.aim, order);
  take(settings.defaults.tolerance, "subsystem_", relative, absolute_part * relative);
}

void integrate_groups_by_accuracy(Settings& settings, const Model& model) {
  std::size_t group = 0;
  for (std::size_t k = 0; k < model.subsystems.size(); ++k) {
    if (!is_group(model.subsystems[k].description)) continue;
    const double radians =
        model.paces->groups.at(group++).fastest * (settings.stop - settings.start);
    const double relative = of_group(settings.aim, radians);
    take(settings.subsystems[k].tolerance, "subsystem_", relative, absolute_part * relative);
  }
}

Tolerance integrators_for(double accuracy) {
  const double relative = of_integrators(accuracy, 4);
  return {relative, absolute_part * relative};
}

double largest_step_by_accuracy(const Settings& settings, const Model& model) {
  constexpr double of_a_radian = 0.4;
  double looked_at = (settings.stop - settings.start) / fewest_steps;
  if (model.largest_step > 0.0) looked_at = std::min(looked_at, model.largest_step);
  const bool groups = model.paces && !model.paces->groups.empty();
  return groups ? std::min(looked_at, of_a_radian / model.paces->rest) : looked_at;
}

std::string described_accuracy(const Settings& settings, std::optional<double> estimate) {
  const std::string control =
      settings.adapt != Adapt::none
          ? "step control " + std::string(word(settings.adapt))
          : "macro-steps of " + short_number(settings.step) + " s" +
                (options::has("cosim_step") || estimate ? "" : ", as nothing tells their error");
  const std::string result =
      !estimate ? ""
      : *estimate <= settings.accuracy
          ? "; estimated error " + rounded(*estimate)
          : "; NOT REACHED: estimated error " + rounded(*estimate) +
                (settings.adapt == Adapt::none ? "; a smaller -cosim_step reaches it"
                 : settings.method.solve.from_past
                     ? "; use -cosim_type jfm or missiles"
                     : "; give a smaller -cosim_accuracy, or a smaller -cosim_step where "
                       "connections are held");
  const std::string aimed =
      settings.aim < settings.accuracy
          ? ", aimed at " + rounded(settings.aim) + " after a run that had missed it"
          : "";
  return short_number(settings.accuracy) + " of each signal's range, by " + settings.method.type +
         ", " + control + aimed + result;
}

}  // namespace concord
