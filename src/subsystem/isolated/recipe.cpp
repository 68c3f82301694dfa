#include "subsystem/isolated/recipe.hpp"

#include <utility>

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

template <class T>
void pass(Archive& archive, std::vector<T>& items) {
  std::size_t count = items.size();
  CONCORD_MEMBERS(archive, count);
  items.resize(count);
  for (T& item : items) pass(archive, item);
}

void pass(Archive& archive, FmuRequest& request) {
  CONCORD_MEMBERS(archive, request.subsystem, request.location, request.options);
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

void pass(Archive& archive, SubsystemSettings& settings) {
  CONCORD_MEMBERS(archive, settings.integrator, settings.tolerance, settings.rollback,
                  settings.linearization, settings.state_derivatives, settings.continuation,
                  settings.open_end, settings.recorded);
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

Recipe Recipe::of(const FmuSetup& setup) {
  Recipe recipe;
  recipe.fmu_ = setup.request;
  recipe.fmu_->unpacked = setup.folder;
  recipe.use_ = setup.use;
  return recipe;
}

Recipe Recipe::of(const NativeDescription& native, const OdeInterface& interface) {
  Recipe recipe;
  recipe.native_ = native;
  for (const InputVariable& input : interface.inputs) recipe.input_starts_.push_back(input.start);
  for (const StateVariable& state : interface.states) recipe.state_starts_.push_back(state.start);
  return recipe;
}

std::unique_ptr<Subsystem> Recipe::make() {
  if (fmu_) {
    if (!opened_) {
      auto setup = std::make_shared<FmuSetup>(*open_fmu(*fmu_));
      setup->use = use_;
      setup->description.capabilities = capabilities_of(*setup, use_);
      opened_ = std::move(setup);
    }
    return make_fmu_subsystem(opened_, settings);
  }
  auto model = make_native_model(native_);
  OdeInterface interface = model->interface();
  for (std::size_t i = 0; i < interface.inputs.size(); ++i)
    interface.inputs[i].start = input_starts_.at(i);
  for (std::size_t i = 0; i < interface.states.size(); ++i)
    interface.states[i].start = state_starts_.at(i);
  return make_ode_subsystem(describe_ode(native_.subsystem, "native", interface), std::move(model),
                            settings);
}

void Recipe::io(Archive& archive) {
  bool is_fmu = fmu_.has_value();
  CONCORD_MEMBERS(archive, is_fmu, use_, input_starts_, state_starts_);
  if (is_fmu) {
    if (!fmu_) fmu_.emplace();
    pass(archive, *fmu_);
  } else {
    pass(archive, native_);
  }
  pass(archive, settings);
  bool logs = calls.has_value();
  CONCORD_MEMBERS(archive, logs);
  if (!logs) return;
  if (!calls) calls.emplace();
  CONCORD_MEMBERS(archive, calls->path, calls->rank, calls->began);
}

}  // namespace concord
