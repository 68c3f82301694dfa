#include "subsystem/fmu/fmu.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "concord/errors.hpp"
#include "files/archive.hpp"
#include "subsystem/fmu/clocks/clocks.hpp"
#include "subsystem/fmu/fmu_texts.hpp"
#include "subsystem/fmu/setup.hpp"
#include "subsystem/ode/hybrid_model.hpp"
#include "subsystem/ode_subsystem.hpp"
#include "support/foreign_call.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"
#include "units/units.hpp"

namespace concord {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_feedthrough = 10'000'000;

fs::path unpacked(const FmuRequest& request) {
  if (!request.unpacked.empty()) return request.unpacked;
  std::error_code error;
  const std::string place = request.location + ": subsystem '" + request.subsystem + "': ";
  const fs::path path = fs::absolute(request.path);
  if (!fs::is_regular_file(path, error))
    throw InputError(place + "there is no FMU " + in_quotes(request.path.string()) +
                     "; its path is relative to the model file");
  return unpacked_archive(path);
}

/// Read once per FMU, however many instances there are.
std::shared_ptr<const ModelDescription> description_in(const fs::path& folder,
                                                       const FmuRequest& request) {
  static std::map<fs::path, std::shared_ptr<const ModelDescription>> known_descriptions;
  auto& description = known_descriptions[folder];
  if (!description) {
    ModelDescription model = read_model_description(folder, request.path.string());
    model.terminals = read_terminals(folder, request.path.string());
    if (request.unpacked.empty())
      for (std::string& remark : remarks_on_archive(request.path))
        model.remarks.push_back(std::move(remark));
    description = std::make_shared<const ModelDescription>(std::move(model));
  }
  return description;
}

bool has(const FmiVariable& variable, const std::string& name) {
  const bool element = !variable.dimensions.empty() && name.starts_with(variable.name + "[");
  return variable.name == name || element;
}

/// Tunable parameters may change where discrete inputs may, and are such here; every output may
/// depend on them (FMI 2.0.4, 2.2.7; FMI 3.0, 2.4.7.4).
std::shared_ptr<const ModelDescription> with_inputs(const ModelDescription& model,
                                                    const std::vector<std::string>& names) {
  auto result = std::make_shared<ModelDescription>(model);
  for (FmiVariable& variable : result->variables) {
    if (std::none_of(names.begin(), names.end(),
                     [&](const std::string& name) { return has(variable, name); }))
      continue;
    variable.causality = FmiCausality::input;
    variable.variability = FmiVariability::discrete;
    const auto place = static_cast<std::size_t>(&variable - result->variables.data());
    for (FmiUnknown& output : result->outputs)
      if (output.dependencies) output.dependencies->push_back(place);
  }
  return result;
}

/// Outputs that only events change, or discrete states, as which FMI 1.0 marks none among what is
/// discrete: model exchange tells the instants.
bool jumps_by_itself(const ModelDescription& model) {
  const auto jumps = [](const FmiVariable& variable) {
    return variable.variability == FmiVariability::discrete;
  };
  return std::ranges::any_of(
             model.outputs,
             [&](const FmiUnknown& output) { return jumps(model.variables[output.variable]); }) ||
         std::ranges::any_of(model.variables, [&](const FmiVariable& variable) {
           return jumps(variable) && variable.causality == FmiCausality::local &&
                  (variable.initial == "exact" || model.version == FmiVersion::v1);
         });
}

/// Makes an FmuSetup from a request.
class SetupBuilder {
 public:
  explicit SetupBuilder(const FmuRequest& request) : setup_(std::make_shared<FmuSetup>()) {
    setup_->request = request;
    setup_->folder = unpacked(request);
    setup_->model = description_in(setup_->folder, request);
    if (!request.driven.empty()) drive_parameters();
  }

  std::shared_ptr<const FmuSetup> build() {
    choose_role();
    refuse_unsupported();
    setup_->description.name = setup_->request.subsystem;
    setup_->description.kind = "fmu";
    take_given_values(*setup_);
    add_input_starts();
    add_inputs();
    add_outputs();
    add_texts();
    add_parameters();
    add_states();
    add_feedthrough();
    set_capabilities();
    add_remarks();
    return setup_;
  }

 private:
  [[noreturn]] void fail(const std::string& location, const std::string& problem) const {
    refuse_request(setup_->request, location, problem);
  }
  void drive_parameters();
  void refuse_unsupported() const;
  void choose_role();
  void add_input_starts();
  void add_inputs();
  void add_outputs();
  void add_texts();
  void add_parameters();
  void add_states();
  void add_feedthrough();
  void set_capabilities();
  void add_remark_on_dependencies();
  void add_remark_on_inputs_set_once();
  void add_remarks();
  std::vector<bool> acting_on(const FmiVariable& output) const;
  std::size_t place_of(const FmiVariable& variable) const {
    return static_cast<std::size_t>(&variable - setup_->model->variables.data());
  }
  double start_of(const FmiVariable& variable, std::size_t element) const;
  std::string unit_of(const FmiVariable& variable) const {
    return unit_text(variable.unit, variable.base_unit);
  }

  std::shared_ptr<FmuSetup> setup_;
};

/// What is given to them is given to inputs.
void SetupBuilder::drive_parameters() {
  FmuRequest& request = setup_->request;
  setup_->model = with_inputs(*setup_->model, request.driven);
  const auto driven = [&](const FmuValue& value) {
    return std::any_of(setup_->model->variables.begin(), setup_->model->variables.end(),
                       [&](const FmiVariable& variable) {
                         return variable.name == value.name &&
                                variable.causality == FmiCausality::input;
                       });
  };
  std::copy_if(request.parameters.begin(), request.parameters.end(),
               std::back_inserter(request.values), driven);
  std::erase_if(request.parameters, driven);
}

void SetupBuilder::refuse_unsupported() const {
  const std::string reason = why_no_ticks(*setup_->model, setup_->role);
  if (!reason.empty()) fail(setup_->request.location, reason);
}

void SetupBuilder::choose_role() {
  const ModelDescription& model = *setup_->model;
  const FmuInterfaceChoice choice = setup_->request.options.interface;
  const auto require = [&](bool there, const char* what, const char* other) {
    if (!there)
      fail(setup_->request.location, std::string("the FMU offers no ") + what +
                                         ", which -subsystem_fmu_interface asks for; use " + other +
                                         " or auto");
  };
  if (choice == FmuInterfaceChoice::scheduled_execution)
    require(model.scheduled_execution.has_value(), "scheduled execution", "me, cs");
  if (choice == FmuInterfaceChoice::model_exchange)
    require(model.model_exchange.has_value(), "model exchange", "cs");
  if (choice == FmuInterfaceChoice::co_simulation)
    require(model.co_simulation.has_value(), "co-simulation", "me");
  const bool nothing_to_integrate = model.derivatives.empty() && model.event_indicators == 0;
  const bool automatic = choice == FmuInterfaceChoice::automatic;
  const bool prefers_steps = automatic && nothing_to_integrate && model.co_simulation &&
                             (!jumps_by_itself(model) || model.co_simulation->event_mode);
  const bool exchange = choice == FmuInterfaceChoice::model_exchange ||
                        (automatic && model.model_exchange && !prefers_steps);
  if (prefers_steps && model.model_exchange)
    setup_->description.remarks.push_back(
        "co-simulation: the model exchange that the FMU offers has neither states nor event "
        "indicators (-subsystem_fmu_interface me takes it all the same)");
  const bool scheduled = choice == FmuInterfaceChoice::scheduled_execution ||
                         (automatic && !model.model_exchange && !model.co_simulation);
  setup_->role = scheduled  ? FmuRole::scheduled_execution
                 : exchange ? FmuRole::model_exchange
                            : FmuRole::co_simulation;
  if (setup_->interface().needs_execution_tool)
    setup_->description.remarks.push_back(
        "the FMU needs its tool" + (model.tool.empty() ? "" : " (" + model.tool + ")") +
        " to run (needsExecutionTool), which must be installed here: Concord does not start it");
}

double SetupBuilder::start_of(const FmiVariable& variable, std::size_t element) const {
  const std::vector<std::string>* texts = &variable.start;
  for (const auto* starts : {&setup_->starts, &setup_->input_starts})
    for (const FmuStart& start : *starts)
      if (start.variable == &variable) texts = &start.texts;
  if (texts->empty()) return 0.0;
  const std::string& text = (*texts)[std::min(element, texts->size() - 1)];
  return text == "true" ? 1.0 : parse_number(text).value_or(0.0);
}

/// Every input's text, given or the FMU's own, as the FMU is to have it while nothing feeds it.
void SetupBuilder::add_input_starts() {
  const auto is_input = [](const FmuStart& start) {
    return start.variable->causality == FmiCausality::input;
  };
  auto& starts = setup_->starts;
  std::copy_if(starts.begin(), starts.end(), std::back_inserter(setup_->input_starts), is_input);
  starts.erase(std::remove_if(starts.begin(), starts.end(), is_input), starts.end());
  for (const FmiVariable& variable : setup_->model->variables) {
    const bool given =
        std::any_of(setup_->input_starts.begin(), setup_->input_starts.end(),
                    [&](const FmuStart& start) { return start.variable == &variable; });
    const bool whole = variable.start.size() == variable.size || variable.start.size() == 1;
    if (variable.causality != FmiCausality::input || given || !whole) continue;
    std::vector<std::string> texts = variable.start;
    texts.resize(variable.size, texts.front());
    if (is_number(variable.type)) setup_->input_starts.push_back({&variable, std::move(texts)});
  }
}

void SetupBuilder::add_inputs() {
  for (const FmiVariable& variable : setup_->model->variables) {
    if (!is_taken(variable)) continue;
    setup_->input_variables.push_back(&variable);
    for (std::size_t i = 0; i < variable.size; ++i) {
      setup_->description.inputs.push_back({element_name(variable, i), unit_of(variable),
                                            start_of(variable, i), variable.nominal,
                                            kind_of(variable), takes_whole_numbers(variable)});
    }
  }
}

void SetupBuilder::add_outputs() {
  for (const FmiVariable& variable : setup_->model->variables) {
    if (!is_put_out(variable)) continue;
    setup_->output_variables.push_back(&variable);
    for (std::size_t i = 0; i < variable.size; ++i) {
      setup_->description.outputs.push_back(
          {element_name(variable, i), unit_of(variable), variable.nominal, kind_of(variable)});
    }
  }
}

void SetupBuilder::add_texts() {
  for (const FmiVariable& variable : setup_->model->variables) {
    if (!is_text(variable.type)) continue;
    if (variable.causality == FmiCausality::input) setup_->text_inputs.push_back(&variable);
    if (variable.causality == FmiCausality::output) setup_->text_outputs.push_back(&variable);
  }
  setup_->texts = texts_of(*setup_);
  std::size_t output = 0;
  for (const FmiVariable* y : setup_->output_variables) {
    const std::vector<bool> acting = acting_on(*y);
    const bool felt = std::ranges::any_of(setup_->text_inputs, [&](auto* text) {
      return text->clocks.empty() && acting[place_of(*text)];
    });
    for (std::size_t i = 0; i < y->size; ++i, ++output)
      if (felt) setup_->told_by_texts.push_back(output);
  }
}

/// What may be set between macro-steps.
void SetupBuilder::add_parameters() {
  for (const FmiVariable& variable : setup_->model->variables) {
    if (variable.causality != FmiCausality::parameter ||
        variable.variability != FmiVariability::tunable || !is_number(variable.type))
      continue;
    setup_->parameter_variables.push_back(&variable);
    for (std::size_t i = 0; i < variable.size; ++i) {
      setup_->description.parameters.push_back(element_name(variable, i));
      setup_->parameter_starts.push_back(start_of(variable, i));
    }
  }
}

void SetupBuilder::add_states() {
  const auto& variables = setup_->model->variables;
  for (const FmiUnknown& unknown : setup_->model->derivatives) {
    const FmiVariable& derivative = variables[unknown.variable];
    const FmiVariable& state = variables[*derivative.derivative_of];
    if (state.size != derivative.size || state.type != FmiType::float64)
      fail(setup_->request.location,
           "the state " + in_quotes(state.name) + " and its derivative don't fit each other");
    setup_->states.add(state, setup_->description.states.size());
    setup_->derivatives.add(derivative, setup_->description.states.size());
    for (std::size_t i = 0; i < state.size; ++i)
      setup_->description.states.push_back(
          {element_name(state, i), unit_of(state), start_of(state, i), state.nominal});
  }
  for (StateVariable& state : unnamed_states(*setup_))
    setup_->description.states.push_back(std::move(state));
}

/// For each variable whether `output` depends on it directly; missing dependency information means
/// on everything.
std::vector<bool> SetupBuilder::acting_on(const FmiVariable& output) const {
  const auto& variables = setup_->model->variables;
  const auto& outputs = setup_->model->outputs;
  const auto unknown = std::find_if(outputs.begin(), outputs.end(), [&](const FmiUnknown& each) {
    return &variables[each.variable] == &output;
  });
  const bool known = unknown != outputs.end() && unknown->dependencies;
  std::vector<bool> acting(variables.size(), !known);
  if (known)
    for (const std::size_t i : *unknown->dependencies) acting[i] = true;
  return acting;
}

/// Of arrays, every element of one on every element of the other. What ticks change stays between
/// them, whatever the inputs.
void SetupBuilder::add_feedthrough() {
  if (setup_->role == FmuRole::scheduled_execution) return;
  auto& feedthrough = setup_->description.feedthrough;
  std::size_t output = 0;
  for (const FmiVariable* y : setup_->output_variables) {
    std::size_t input = 0;
    const std::vector<bool> acting = acting_on(*y);
    for (const FmiVariable* u : setup_->input_variables) {
      if (acting[place_of(*u)] && !changes_at_ticks(*y) && !changes_at_ticks(*u)) {
        if (feedthrough.size() + y->size * u->size > most_feedthrough)
          fail(setup_->request.location,
               "more than ten million pairs of outputs and inputs may depend on each other; give "
               "the dependencies in modelDescription.xml");
        for (std::size_t i = 0; i < y->size; ++i)
          for (std::size_t j = 0; j < u->size; ++j) feedthrough.push_back({output + i, input + j});
      }
      input += u->size;
    }
    output += y->size;
  }
}

void SetupBuilder::set_capabilities() {
  if (setup_->interface().only_once_per_process)
    setup_->description.one_per_process = setup_->folder.string();
  setup_->use = claimed_use(*setup_);
  setup_->description.capabilities = capabilities_of(*setup_, setup_->use);
  const auto held = [](const auto& variable) { return variable.kind == SignalKind::held; };
  const auto& inputs = setup_->description.inputs;
  const bool indicators = setup_->model->event_indicators > 0;
  setup_->description.events =
      setup_->role == FmuRole::co_simulation
          ? tells_events(setup_->use)
          : indicators || jumps_by_itself(*setup_->model) || has_clocks(*setup_->model) ||
                !setup_->text_inputs.empty() || std::any_of(inputs.begin(), inputs.end(), held);
}

/// The loops that this makes may be on paper only.
void SetupBuilder::add_remark_on_dependencies() {
  const auto& unknowns = setup_->model->outputs;
  const bool known =
      setup_->input_variables.empty() || setup_->output_variables.empty() ||
      (!unknowns.empty() && std::all_of(unknowns.begin(), unknowns.end(), [](const auto& unknown) {
        return unknown.dependencies.has_value();
      }));
  if (!known)
    setup_->description.remarks.push_back(
        "no dependencies of its outputs on its inputs are given: each is taken to depend on all, "
        "so "
        "that algebraic loops may exist on paper only");
}

/// What asks for outputs or slopes with several values of such an input at one instant is left out.
void SetupBuilder::add_remark_on_inputs_set_once() {
  if (setup_->role != FmuRole::model_exchange) return;
  const auto& inputs = setup_->input_variables;
  const auto once =
      std::find_if(inputs.begin(), inputs.end(), [](const auto* input) { return input->set_once; });
  if (once == inputs.end()) return;
  setup_->description.remarks.push_back(
      "input " + in_quotes((*once)->name) +
      " may be set once per instant (canHandleMultipleSetPerTimeInstant): no equations for "
      "monolithic" +
      (setup_->use.directional ? "" : ", no differences by inputs for a linearization") +
      "; don't put it into an algebraic loop");
}

void SetupBuilder::add_remarks() {
  std::vector<std::string>& remarks = setup_->description.remarks.own();
  const bool exchange = setup_->role == FmuRole::model_exchange;
  const bool steps = setup_->role == FmuRole::co_simulation;
  remarks.push_back(std::string("FMI ") + name_of(setup_->model->version) +
                    (exchange ? " model exchange"
                     : steps  ? " co-simulation"
                              : " scheduled execution") +
                    " of " + setup_->model->model_name +
                    (setup_->model->tool.empty() ? "" : ", made by " + setup_->model->tool));
  const std::string& identifier = setup_->interface().model_identifier;
  const auto [binary, emulation] =
      binary_in(setup_->folder, setup_->model->version, identifier, setup_->request.options);
  if (!binary.empty() && binary.stem() != identifier)
    remarks.push_back("its only binary for " + (emulation ? emulation->folder : "this platform") +
                      " is called " + in_quotes(binary.filename().string()) + ", not " +
                      in_quotes(identifier + binary.extension().string()));
  if (emulation)
    remarks.push_back("its binary for " + emulation->folder +
                      " is run by a process of that platform" +
                      (emulation->emulator.empty() ? ""
                                                   : ", which " + joined(emulation->emulator, " ") +
                                                         " starts (-subsystem_fmu_emulator)"));
  remarks.insert(remarks.end(), setup_->model->remarks.begin(), setup_->model->remarks.end());
  for (std::string& remark : remarks_on_clocks(*setup_->model, setup_->role))
    remarks.push_back(std::move(remark));
  if (!exchange && !steps) return;
  add_remark_on_dependencies();
  add_remark_on_inputs_set_once();
  const Capabilities& can = setup_->description.capabilities;
  if (exchange) {
    if (!can.rollback)
      remarks.push_back(
          "no rollback: the FMU has events, wants to know of completed steps and cannot restore "
          "its state");
    if (!can.equations && setup_->description.events)
      remarks.push_back("no equations for monolithic: the FMU has events");
    return;
  }
  const FmuUse& use = setup_->use;
  if (use.input_order >= 3)
    remarks.push_back("polynomial inputs: input derivatives, which the FMU claims to interpolate");
  else if (use.updates)
    remarks.push_back("polynomial inputs: by intermediate update, held between updates");
  else if (use.variable_steps)
    remarks.push_back("polynomial inputs: the macro-step is cut into " +
                      std::to_string(use.micro_steps) + " micro-steps with " +
                      (use.input_order == 0 ? "held inputs" : "inputs through both ends") +
                      " (-subsystem_fmu_micro_steps)");
  else if (use.input_order > 0)
    remarks.push_back("polynomial inputs: input derivatives, only up to order " +
                      std::to_string(use.input_order) + ", through both ends");
  else
    remarks.push_back("no polynomial inputs: the FMU has one step size and no way to take them");
  if (use.output_slopes)
    remarks.push_back("output derivatives: from the FMU");
  else if (can.linearization)
    remarks.push_back("output derivatives: from directional derivatives");
  else if (can.output_derivatives)
    remarks.push_back("output derivatives: differences over the last micro-steps");
  if (!can.any_step)
    remarks.push_back("one step size: the FMU takes no other macro-steps than its first one");
  if (!can.rollback && !can.linearization)
    remarks.push_back(std::string("neither rollback nor linearization: explicit methods ") +
                      (can.polynomial_inputs ? "with polynomial inputs " : "") +
                      "are what is possible");
}

}  // namespace

FmuSource FmuSetup::source(const FmuUse& used) const {
  FmuSource result;
  result.library =
      FmuLibrary::open(folder, request.path.string(), model->version, interface(), request.options);
  result.description = model;
  result.folder = folder;
  result.name = request.subsystem;
  result.role = role;
  result.event_mode = used.event_mode;
  result.stop_time = used.stop_time;
  result.log = request.options.log;
  result.calls = calls;
  return result;
}

std::unique_ptr<FmuInstance> make_instance(const FmuSetup& setup, FmuUse& use) {
  try {
    return FmuInstance::make(setup.source(use));
  } catch (const ForeignEnd&) {
    throw;
  } catch (const SimulationError& error) {
    if (!use.event_mode || has_clocks(*setup.model)) throw;
    FmuUse without = use;
    without.event_mode = false;
    auto instance = FmuInstance::make(setup.source(without));
    tell(setup, std::string(error.what()) +
                    "; it is used without event mode, which it claims (hasEventMode)");
    use = without;
    return instance;
  }
}

FmuPorts FmuSetup::ports(const std::vector<const FmiVariable*>& all, std::span<const char> wanted,
                         std::optional<SignalKind> kind) const {
  FmuPorts result(model->version);
  std::size_t first = 0;
  for (const FmiVariable* variable : all) {
    const auto own = wanted.empty() ? wanted : wanted.subspan(first, variable->size);
    const bool some =
        wanted.empty() || std::any_of(own.begin(), own.end(), [](char one) { return one != 0; });
    if (some && !changes_at_ticks(*variable) && (!kind || *kind == kind_of(*variable)))
      result.add(*variable, first);
    first += variable->size;
  }
  return result;
}

Capabilities capabilities_of(const FmuSetup& setup, const FmuUse& use) {
  Capabilities can;
  if (setup.role == FmuRole::scheduled_execution)
    return {true, true, true, true, true, true, true, false, true};
  if (setup.role == FmuRole::model_exchange) {
    const auto& inputs = setup.input_variables;
    const bool no_events = setup.model->event_indicators == 0 && setup.text_inputs.empty() &&
                           !jumps_by_itself(*setup.model) && !has_clocks(*setup.model) &&
                           std::none_of(inputs.begin(), inputs.end(), [](const FmiVariable* input) {
                             return kind_of(*input) == SignalKind::held;
                           });
    const bool changes_at_events_only = !use.completed_step;
    const bool rolls_back = no_events || changes_at_events_only || use.state;
    can = {true, true, true, true, true, true, rolls_back, no_events, true};
    can.output_curvatures = use.directional;
    const bool set_once = std::any_of(inputs.begin(), inputs.end(),
                                      [](const FmiVariable* input) { return input->set_once; });
    can.equations = can.equations && !set_once;
    can.linearization = use.directional || !set_once;
    return can;
  }
  can.polynomial_inputs = use.input_order > 0 || use.updates || use.variable_steps;
  can.states = can.state_derivatives = !setup.states.empty();
  can.linearization = use.directional && !setup.states.empty();
  can.output_derivatives =
      use.output_slopes || can.linearization || (use.variable_steps && use.internal_step == 0.0);
  can.holds_inputs = !takes_cubics(use) && use.input_order == 0 && use.variable_steps;
  can.rollback = use.state;
  can.any_step = use.variable_steps;
  return can;
}

double chosen_tolerance(const FmuSetup& setup, const SubsystemSettings& settings) {
  if (settings.tolerance.relative != SubsystemSettings{}.tolerance.relative)
    return settings.tolerance.relative;
  return setup.model->tolerance.value_or(0.0);
}

std::shared_ptr<const FmuSetup> open_fmu(const FmuRequest& request) {
  return SetupBuilder(request).build();
}

const SubsystemDescription& description_of(const FmuSetup& setup) { return setup.description; }

namespace {

/// That of what is made now.
std::shared_ptr<const FmuSetup> with_log(std::shared_ptr<const FmuSetup> setup) {
  if (!CallLog::current()) return setup;
  auto logged = std::make_shared<FmuSetup>(*setup);
  logged->calls = CallLog::current();
  return logged;
}

std::unique_ptr<Subsystem> made(std::shared_ptr<const FmuSetup> setup,
                                const SubsystemSettings& settings) {
  if (setup->role == FmuRole::co_simulation) return make_co_simulation(std::move(setup), settings);
  SubsystemDescription description = setup->description;
  const FmuUse use = permitted(setup->use, settings);
  description.capabilities = capabilities_of(*setup, use);
  const double tolerance = chosen_tolerance(*setup, settings);
  const auto model =
      setup->role == FmuRole::model_exchange ? make_model_exchange : make_scheduled_execution;
  return make_ode_subsystem(std::move(description), model(std::move(setup), use, tolerance),
                            settings);
}

}  // namespace

std::unique_ptr<Subsystem> make_fmu_subsystem(std::shared_ptr<const FmuSetup> setup,
                                              const SubsystemSettings& settings) {
  const FmuRequest request = setup->request;
  const std::string who = "subsystem '" + request.subsystem + "': ";
  setup = with_log(std::move(setup));
  try {
    return made(std::move(setup), settings);
  } catch (const InputError& error) {
    throw InputError(request.location + ": " + who + error.what());
  } catch (const ForeignEnd&) {
    throw;
  } catch (const SimulationError& error) {
    throw SimulationError(who + error.what());
  }
}

}  // namespace concord
