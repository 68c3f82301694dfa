#include "subsystem/fmu/fmu.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "concord/errors.hpp"
#include "subsystem/fmu/archive.hpp"
#include "subsystem/fmu/setup.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_feedthrough = 10'000'000;

bool is_number(FmiType type) {
  return type != FmiType::string && type != FmiType::binary && type != FmiType::clock;
}

fs::path unpacked(const FmuRequest& request) {
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
                                                       const fs::path& fmu) {
  static std::map<fs::path, std::shared_ptr<const ModelDescription>> known_descriptions;
  auto& description = known_descriptions[folder];
  if (!description) {
    ModelDescription model = read_model_description(folder, fmu.string());
    for (std::string& remark : remarks_on_archive(fmu)) model.remarks.push_back(std::move(remark));
    description = std::make_shared<const ModelDescription>(std::move(model));
  }
  return description;
}

/// Makes an FmuSetup from a request.
class SetupBuilder {
 public:
  SetupBuilder(const FmuRequest& request, const UnitRules& units)
      : units_(units), setup_(std::make_shared<FmuSetup>()) {
    setup_->request = request;
    setup_->folder = unpacked(request);
    setup_->model = description_in(setup_->folder, request.path);
  }

  std::shared_ptr<const FmuSetup> build() {
    refuse_unsupported();
    choose_role();
    setup_->description.name = setup_->request.subsystem;
    setup_->description.kind = "fmu";
    take_given_values(*setup_, units_);
    add_inputs();
    add_outputs();
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
  void refuse_unsupported() const;
  void choose_role();
  void add_inputs();
  void add_outputs();
  void add_states();
  void add_feedthrough();
  void set_capabilities();
  void add_remarks();
  bool can_take_polynomials() const;
  std::vector<bool> acting_on(const FmiVariable& output) const;
  std::size_t place_of(const FmiVariable& variable) const {
    return static_cast<std::size_t>(&variable - setup_->model->variables.data());
  }
  std::string element_name(const FmiVariable& variable, std::size_t element) const;
  double start_of(const FmiVariable& variable, std::size_t element) const;
  std::string unit_of(const FmiVariable& variable) const {
    return units_.text(variable.unit, variable.base_unit);
  }

  const UnitRules& units_;
  std::shared_ptr<FmuSetup> setup_;
  std::vector<const FmiVariable*> output_variables_;  ///< of `outputs`
};

void SetupBuilder::refuse_unsupported() const {
  for (const FmiVariable& variable : setup_->model->variables)
    if (variable.type == FmiType::clock)
      fail(setup_->request.location, "the FMU has the clock " + in_quotes(variable.name) +
                                         "; clocks are not supported, export it without them");
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
  if (choice == FmuInterfaceChoice::model_exchange)
    require(model.model_exchange.has_value(), "model exchange", "cs");
  if (choice == FmuInterfaceChoice::co_simulation)
    require(model.co_simulation.has_value(), "co-simulation", "me");
  const bool exchange = choice == FmuInterfaceChoice::model_exchange ||
                        (choice == FmuInterfaceChoice::automatic && model.model_exchange);
  setup_->role = exchange ? FmuRole::model_exchange : FmuRole::co_simulation;
  if (setup_->interface().needs_execution_tool)
    fail(setup_->request.location,
         "the FMU needs its tool" + (model.tool.empty() ? "" : " (" + model.tool + ")") +
             " to run (needsExecutionTool), which Concord cannot start; export it as a stand-alone "
             "FMU");
}

std::string SetupBuilder::element_name(const FmiVariable& variable, std::size_t element) const {
  return !variable.dimensions.empty() ? variable.name + "[" + std::to_string(element + 1) + "]"
                                      : variable.name;
}

double SetupBuilder::start_of(const FmiVariable& variable, std::size_t element) const {
  const std::vector<std::string>* texts = &variable.start;
  for (const FmuStart& start : setup_->starts)
    if (start.variable == &variable) texts = &start.texts;
  if (texts->empty()) return 0.0;
  const std::string& text = (*texts)[std::min(element, texts->size() - 1)];
  return text == "true" ? 1.0 : parse_number(text).value_or(0.0);
}

void SetupBuilder::add_inputs() {
  for (const FmiVariable& variable : setup_->model->variables) {
    if (variable.causality != FmiCausality::input || !is_number(variable.type)) continue;
    setup_->inputs.add(variable);
    setup_->input_variables.push_back(&variable);
    for (std::size_t i = 0; i < variable.size; ++i) {
      setup_->description.inputs.push_back(
          {element_name(variable, i), unit_of(variable), start_of(variable, i), variable.nominal});
    }
  }
}

void SetupBuilder::add_outputs() {
  for (const FmiVariable& variable : setup_->model->variables) {
    if (variable.causality != FmiCausality::output || !is_number(variable.type)) continue;
    setup_->outputs.add(variable);
    output_variables_.push_back(&variable);
    for (std::size_t i = 0; i < variable.size; ++i) {
      setup_->description.outputs.push_back(
          {element_name(variable, i), unit_of(variable), variable.nominal});
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
    setup_->states.add(state);
    setup_->derivatives.add(derivative);
    for (std::size_t i = 0; i < state.size; ++i)
      setup_->description.states.push_back(
          {element_name(state, i), unit_of(state), start_of(state, i), state.nominal});
  }
}

/// For each variable whether `output` depends on it directly; missing dependency information means
/// on everything. In model exchange an input that changes at events only acts from the next
/// macro-step on.
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
  if (setup_->role == FmuRole::model_exchange)
    for (const FmiVariable* input : setup_->input_variables)
      if (is_discrete(*input)) acting[place_of(*input)] = false;
  return acting;
}

/// Of arrays, every element of one on every element of the other.
void SetupBuilder::add_feedthrough() {
  auto& feedthrough = setup_->description.feedthrough;
  std::size_t output = 0;
  for (const FmiVariable* y : output_variables_) {
    std::size_t input = 0;
    const std::vector<bool> acting = acting_on(*y);
    for (const FmiVariable* u : setup_->input_variables) {
      if (acting[place_of(*u)]) {
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

bool SetupBuilder::can_take_polynomials() const {
  const FmiInterface& interface = setup_->interface();
  return interface.interpolates || setup_->polynomials_by_update || interface.variable_steps;
}

void SetupBuilder::set_capabilities() {
  Capabilities& can = setup_->description.capabilities;
  const FmiInterface& interface = setup_->interface();
  const bool has_states = setup_->states.size() > 0;
  if (interface.only_once_per_process)
    setup_->description.one_per_process = setup_->folder.string();
  if (setup_->role == FmuRole::model_exchange) {
    const bool no_events =
        setup_->model->event_indicators == 0 &&
        std::none_of(setup_->input_variables.begin(), setup_->input_variables.end(),
                     [](const FmiVariable* input) { return is_discrete(*input); });
    const bool asks_after_steps =
        setup_->model->version == FmiVersion::v3 && interface.completed_step;
    can = {true,
           true,
           true,
           true,
           true,
           true,
           no_events || interface.state,
           no_events && !asks_after_steps,
           true};
    return;
  }
  setup_->polynomials_by_update =
      interface.intermediate_update && !interface.variable_steps &&
      !setup_->input_variables.empty() &&
      std::all_of(setup_->input_variables.begin(), setup_->input_variables.end(),
                  [](const FmiVariable* input) { return input->intermediate_update; });
  can.polynomial_inputs = can_take_polynomials();
  can.states = can.state_derivatives = has_states;
  can.linearization = interface.directional && has_states && setup_->inputs.all_float64() &&
                      setup_->outputs.all_float64();
  can.output_derivatives = interface.output_derivative_order > 0 || can.linearization ||
                           (interface.variable_steps && interface.fixed_internal_step == 0.0);
  can.rollback = interface.state;
}

void SetupBuilder::add_remarks() {
  std::vector<std::string>& remarks = setup_->description.remarks;
  const FmiInterface& interface = setup_->interface();
  const std::string version = setup_->model->version == FmiVersion::v2 ? "2.0" : "3.0";
  const bool exchange = setup_->role == FmuRole::model_exchange;
  remarks.push_back("FMI " + version + (exchange ? " model exchange" : " co-simulation") + " of " +
                    setup_->model->model_name +
                    (setup_->model->tool.empty() ? "" : ", made by " + setup_->model->tool));
  const fs::path binary =
      binary_in(setup_->folder, setup_->model->version, interface.model_identifier);
  if (!binary.empty() && binary.stem() != interface.model_identifier)
    remarks.push_back("its only binary for this platform is called " +
                      in_quotes(binary.filename().string()) + ", not " +
                      in_quotes(interface.model_identifier + ".so"));
  remarks.insert(remarks.end(), setup_->model->remarks.begin(), setup_->model->remarks.end());
  const Capabilities& can = setup_->description.capabilities;
  if (exchange) {
    if (!can.rollback)
      remarks.push_back("no rollback: the FMU has events and cannot restore its state");
    if (!can.equations) remarks.push_back("no equations for monolithic: the FMU has events");
    return;
  }
  if (interface.interpolates)
    remarks.push_back("polynomial inputs: input derivatives, which the FMU claims to interpolate");
  else if (setup_->polynomials_by_update)
    remarks.push_back("polynomial inputs: by intermediate update, held between updates");
  else if (interface.variable_steps)
    remarks.push_back("polynomial inputs: the macro-step is cut into " +
                      std::to_string(setup_->request.options.micro_steps) +
                      " micro-steps with held inputs (-subsystem_fmu_micro_steps)");
  else
    remarks.push_back("no polynomial inputs: the FMU has one step size and no way to take them");
  if (interface.output_derivative_order > 0)
    remarks.push_back("output derivatives: from the FMU");
  else if (can.linearization)
    remarks.push_back("output derivatives: from directional derivatives");
  else if (can.output_derivatives)
    remarks.push_back("output derivatives: differences over the last micro-steps");
  if (!can.rollback && !can.linearization)
    remarks.push_back(std::string("neither rollback nor linearization: explicit methods ") +
                      (can.polynomial_inputs ? "with polynomial inputs " : "") +
                      "are what is possible");
}

}  // namespace

void refuse_request(const FmuRequest& request, const std::string& location,
                    const std::string& problem) {
  throw InputError(location + ": subsystem '" + request.subsystem + "' (" + request.path.string() +
                   "): " + problem);
}

bool is_discrete(const FmiVariable& input) {
  return input.type != FmiType::float64 || input.variability != FmiVariability::continuous;
}

FmuSource FmuSetup::source() const {
  FmuSource result;
  result.library = FmuLibrary::open(folder, request.path.string(), model->version, interface());
  result.description = model;
  result.folder = folder;
  result.name = request.subsystem;
  result.role = role;
  result.log = request.options.log;
  return result;
}

double chosen_tolerance(const FmuSetup& setup, const SubsystemSettings& settings) {
  if (settings.tolerance.relative != SubsystemSettings{}.tolerance.relative)
    return settings.tolerance.relative;
  return setup.model->tolerance.value_or(0.0);
}

bool begin_initialization(const FmuSetup& setup, FmuInstance& instance, double start, double stop,
                          double tolerance) {
  if (!setup.structural.empty()) {
    if (!instance.enter_configuration()) return false;
    for (const FmuStart& value : setup.structural)
      if (!instance.set_texts(*value.variable, value.texts)) return false;
    if (!instance.leave_configuration()) return false;
  }
  for (const FmuStart& value : setup.starts)
    if ((value.variable->causality != FmiCausality::input ||
         value.variable->type == FmiType::string) &&
        !instance.set_texts(*value.variable, value.texts))
      return false;
  return instance.enter_initialization(start, stop, tolerance);
}

std::shared_ptr<const FmuSetup> open_fmu(const FmuRequest& request, const UnitRules& units) {
  return SetupBuilder(request, units).build();
}

const SubsystemDescription& description_of(const FmuSetup& setup) { return setup.description; }

std::unique_ptr<Subsystem> make_fmu_subsystem(std::shared_ptr<const FmuSetup> setup,
                                              const SubsystemSettings& settings) {
  const FmuRequest request = setup->request;
  try {
    return setup->role == FmuRole::co_simulation ? make_co_simulation(std::move(setup), settings)
                                                 : make_model_exchange(std::move(setup), settings);
  } catch (const InputError& error) {
    throw InputError(request.location + ": subsystem '" + request.subsystem + "': " + error.what());
  }
}

}  // namespace concord
