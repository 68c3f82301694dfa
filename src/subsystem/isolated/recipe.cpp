#include "subsystem/isolated/recipe.hpp"

#include <utility>

#include "subsystem/native/watched_subsystem.hpp"
#include "subsystem/ode_subsystem.hpp"

namespace concord {
namespace {

void pass(Archive& archive, std::filesystem::path& path) {
  std::string text = path.string();
  CONCORD_MEMBERS(archive, text);
  path = text;
}

void pass(Archive& archive, FmuValue& value) {
  CONCORD_MEMBERS(archive, value.name, value.texts, value.unit, value.location,
                  value.transformation);
}

void pass(Archive& archive, InputVariable& input) {
  CONCORD_MEMBERS(archive, input.name, input.unit, input.start, input.nominal, input.kind,
                  input.whole);
}
void pass(Archive& archive, StateVariable& state) {
  CONCORD_MEMBERS(archive, state.name, state.unit, state.start, state.nominal);
}
void pass(Archive& archive, OutputVariable& output) {
  CONCORD_MEMBERS(archive, output.name, output.unit, output.nominal, output.kind);
}

void pass(Archive& archive, TextVariable& text) {
  CONCORD_MEMBERS(archive, text.name, text.kind, text.mime, text.most, text.clocked);
}

template <class T>
void pass(Archive& archive, std::vector<T>& items) {
  std::size_t count = items.size();
  CONCORD_MEMBERS(archive, count);
  items.resize(count);
  for (T& item : items) pass(archive, item);
}
template <class T>
void pass(Archive& archive, SharedList<T>& items) {
  pass(archive, items.own());
}

void pass(Archive& archive, FmuOptions& options) {
  CONCORD_MEMBERS(archive, options.interface, options.micro_steps, options.input_derivatives,
                  options.log, options.probe, options.platform, options.emulator, options.host);
}

void pass(Archive& archive, FmuRequest& request) {
  CONCORD_MEMBERS(archive, request.subsystem, request.location, request.driven,
                  request.state_references);
  pass(archive, request.options);
  pass(archive, request.path);
  pass(archive, request.unpacked);
  pass(archive, request.parameters);
  pass(archive, request.start);
  pass(archive, request.values);
}

void pass(Archive& archive, NativeDescription& native) {
  CONCORD_MEMBERS(archive, native.subsystem, native.type, native.library, native.parameters,
                  native.location, native.type_location, native.library_location);
  pass(archive, native.folder);
}

void pass(Archive& archive, PythonDescription& python) {
  CONCORD_MEMBERS(archive, python.subsystem, python.file, python.class_name, python.parameters,
                  python.location, python.file_location, python.class_location);
  pass(archive, python.folder);
}

void pass(Archive& archive, SubsystemSettings& settings) {
  CONCORD_MEMBERS(archive, settings.integrator, settings.tolerance, settings.rollback,
                  settings.linearization, settings.state_derivatives, settings.continuation,
                  settings.taken_back, settings.open_end, settings.recorded);
}

}  // namespace

void pass(Archive& archive, OdeInterface& interface) {
  pass(archive, interface.inputs);
  pass(archive, interface.states);
  pass(archive, interface.outputs);
  CONCORD_MEMBERS(archive, interface.feedthrough, interface.time_dependent,
                  interface.constant_jacobians, interface.parameters, interface.output_curvatures);
}

void pass(Archive& archive, SubsystemDescription& description) {
  CONCORD_MEMBERS(archive, description.name, description.kind, description.feedthrough,
                  description.capabilities, description.one_per_process, description.remarks,
                  description.constraint, description.events, description.kinks,
                  description.parameters, description.stands_for);
  pass(archive, description.inputs);
  pass(archive, description.states);
  pass(archive, description.outputs);
}

void pass(Archive& archive, SubsystemInterface& interface) {
  pass(archive, interface.description);
  bool has_texts = interface.texts != nullptr;
  CONCORD_MEMBERS(archive, has_texts);
  if (!has_texts) return;
  TextInterface texts = interface.texts ? *interface.texts : TextInterface();
  pass(archive, texts.inputs);
  pass(archive, texts.outputs);
  interface.texts = std::make_shared<const TextInterface>(std::move(texts));
}

Recipe Recipe::of(const FmuSetup& setup) {
  Recipe recipe;
  recipe.kind_ = Kind::fmu;
  recipe.fmu_ = setup.request;
  recipe.fmu_.unpacked = setup.folder;
  recipe.use_ = setup.use;
  return recipe;
}

Recipe Recipe::of(const NativeDescription& native) {
  Recipe recipe;
  recipe.native_ = native;
  return recipe;
}

Recipe Recipe::of(const PythonDescription& python) {
  Recipe recipe;
  recipe.kind_ = Kind::python;
  recipe.python_ = python;
  return recipe;
}

Recipe Recipe::of(ServedRecipe served) {
  Recipe recipe;
  recipe.kind_ = Kind::served;
  recipe.parameters_ = served.remote->parameters;
  recipe.parameter_values_ = served.remote->parameter_values;
  recipe.served_ = std::move(served);
  return recipe;
}

SubsystemDescription Recipe::started(SubsystemDescription description) const {
  if (input_starts_.empty() && state_starts_.empty()) return description;
  if (input_starts_.size() != description.inputs.size() ||
      state_starts_.size() != description.states.size())
    throw InputError("is another subsystem than the one whose model was read");
  for (std::size_t i = 0; i < input_starts_.size(); ++i)
    description.inputs.own()[i].start = input_starts_[i];
  for (std::size_t i = 0; i < state_starts_.size(); ++i)
    description.states.own()[i].start = state_starts_[i];
  return description;
}

const char* Recipe::what() const {
  constexpr const char* words[] = {"the FMU", "the C++ code", "the Python code", "the process"};
  return words[static_cast<std::size_t>(kind_)];
}

const std::string& Recipe::subsystem() const {
  return kind_ == Kind::served   ? served_->remote->subsystem
         : kind_ == Kind::fmu    ? fmu_.subsystem
         : kind_ == Kind::native ? native_.subsystem
                                 : python_.subsystem;
}

std::string Recipe::origin() const {
  return kind_ == Kind::served   ? ""
         : kind_ == Kind::fmu    ? fmu_.path.string()
         : kind_ == Kind::native ? native_.library
                                 : python_.file;
}

void Recipe::begin_with(const SubsystemDescription& starts) {
  input_starts_.clear();
  state_starts_.clear();
  for (const InputVariable& input : starts.inputs) input_starts_.push_back(input.start);
  for (const StateVariable& state : starts.states) state_starts_.push_back(state.start);
}

std::unique_ptr<Subsystem> Recipe::make_fmu() {
  if (!opened_) {
    auto setup = std::make_shared<FmuSetup>(*open_fmu(fmu_));
    setup->use = use_;
    setup->description.capabilities = capabilities_of(*setup, use_);
    opened_ = std::move(setup);
  }
  return make_fmu_subsystem(opened_, settings);
}

Recipe::Code Recipe::native_code() const {
  auto model = make_native_model(native_);
  return {describe_ode(native_.subsystem, "native", model->interface()), std::move(model), nullptr};
}

Recipe::Code Recipe::python_code() const {
  PythonCode made = make_python_code(python_);
  Code code{{}, std::move(made.model), std::move(made.subsystem)};
  code.description = code.model ? describe_ode(python_.subsystem, "python", code.model->interface())
                                : code.subsystem->description();
  code.description.name = python_.subsystem;
  code.description.kind = "python";
  code.description.remarks = std::move(made.remarks);
  return code;
}

Recipe::Code Recipe::code() const { return kind_ == Kind::python ? python_code() : native_code(); }

std::unique_ptr<Subsystem> Recipe::make() {
  if (kind_ == Kind::fmu) return make_fmu();
  if (kind_ == Kind::served) throw InputError("what a process serves is made there");
  Code made = code();
  for (std::size_t i = 0; i < made.description.inputs.size(); ++i)
    made.description.inputs.own()[i].start = input_starts_.at(i);
  for (std::size_t i = 0; i < made.description.states.size(); ++i)
    made.description.states.own()[i].start = state_starts_.at(i);
  return made.model ? make_ode_subsystem(made.description, std::move(made.model), settings)
                    : watched(std::move(made.subsystem), what(), made.description, settings);
}

void Recipe::io(Archive& archive) {
  CONCORD_MEMBERS(archive, kind_, use_, input_starts_, state_starts_);
  if (kind_ == Kind::fmu) pass(archive, fmu_);
  if (kind_ == Kind::native) pass(archive, native_);
  if (kind_ == Kind::python) pass(archive, python_);
  if (kind_ == Kind::served) CONCORD_MEMBERS(archive, parameters_, parameter_values_);
  pass(archive, settings);
  bool logs = calls.has_value();
  CONCORD_MEMBERS(archive, logs);
  if (!logs) return;
  if (!calls) calls.emplace();
  CONCORD_MEMBERS(archive, calls->path, calls->rank, calls->began);
}

}  // namespace concord
