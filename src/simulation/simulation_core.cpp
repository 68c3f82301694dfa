#include "simulation/simulation_core.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "concord/errors.hpp"
#include "network/written_parts.hpp"
#include "support/agreement.hpp"
#include "support/foreign_call.hpp"
#include "support/options.hpp"
#include "support/petsc.hpp"
#include "support/ranks.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

std::string with_remedy(const PetscFailure& failure) {
  return std::string(failure.what()) + "; look at the -snes_, -ksp_ and -pc_ options";
}

/// PETSc refuses options it cannot use (an unknown -snes_type) while objects are made.
std::unique_ptr<MacroStepper> stepper_of(const Settings& settings, RankNetwork& subsystems) {
  try {
    return std::make_unique<MacroStepper>(settings, subsystems);
  } catch (const PetscFailure& failure) {
    throw InputError(with_remedy(failure));
  }
}

}  // namespace

SimulationCore::SimulationCore(std::unique_ptr<const SimulationPlan> plan)
    : plan_(std::move(plan)), calls_(plan_->model.calls) {
  make_parts();
}

void SimulationCore::make_parts() {
  const CallLog::Use use(calls_);
  lost_at_ = stepper_.there() ? time() : plan_->settings.start;
  stepper_ = nullptr;
  std::optional<WorkClock> clock;
  if (subsystems_.there()) {
    clock = std::move(subsystems_->clock());
  }
  subsystems_ = nullptr;  // FMUs may exist only once
  std::unique_ptr<RankNetwork> subsystems;
  collectively(plan_->comm, [&] {
    surviving([&] {
      subsystems = std::make_unique<RankNetwork>(plan_->sharing(), plan_->model, plan_->network,
                                                 plan_->owners(), plan_->settings.subsystems);
    });
  });
  subsystems_ = std::move(subsystems);
  if (clock) {
    subsystems_->clock() = std::move(*clock);
  }
  layout_ = std::make_shared<ArchiveLayout>(subsystems_->archive_layout());
  std::unique_ptr<MacroStepper> stepper;
  collectively(plan_->comm, [&] { stepper = stepper_of(plan_->settings, *subsystems_); });
  stepper_ = std::move(stepper);
}

const std::vector<FilePrint>& SimulationCore::file_prints() {
  if (!file_prints_) {
    file_prints_.emplace();
    together(plan_->comm, [&] {
      if (rank_in(plan_->comm) == 0) {
        file_prints_ = prints_of(plan_->model);
      }
    });
  }
  return *file_prints_;
}

/// Where each rank computes the whole, only one of them may fail.
void SimulationCore::in_step(const std::function<void()>& work) {
  try {
    if (plan_->replicated) {
      together(plan_->comm, work);
    } else {
      work();
    }
  } catch (const PetscFailure& failure) {
    throw SimulationError(with_remedy(failure));
  }
}

void SimulationCore::start() {
  failed_ = started_ = true;
  in_step([&] { stepper_->start(); });
  failed_ = false;
}

void SimulationCore::gather_states(std::span<double> result) {
  const auto whole = stepper_->coupling().states();
  if (whole.empty()) {
    subsystems_->gather_states(result);
  } else {
    std::copy(whole.begin(), whole.end(), result.begin());
  }
}

void SimulationCore::gather_state_slopes(std::span<double> result) {
  stepper_->gather_state_slopes(result);
}

double SimulationCore::advance() {
  failed_ = true;
  try {
    const double wall_time = advanced();
    failed_ = false;
    return wall_time;
  } catch (const EndOfSimulation&) {
    failed_ = false;
    throw;
  }
}

double SimulationCore::advanced() {
  std::span<const StepReport> reports;
  in_step([&] { reports = stepper_->advance(); });
  double wall_time = 0.0;
  for (const StepReport& report : reports) {
    wall_time += report.wall_time;
    for (StepObserver* observer : observers_) {
      observer->step_accepted(report);
    }
  }
  if (const int most = plan_->settings.forget; most > 0 && ++steps_ >= most && !finished()) {
    move_into_new();
  }
  return wall_time;
}

void SimulationCore::advance_while(const std::function<bool(double)>& go_on) {
  while (!finished() && go_on(advance())) {
  }
}

void SimulationCore::require_sound_subsystems() const {
  const auto own = subsystems_->fatal() ? subsystems_->failure() : std::nullopt;
  if (const auto failure = agree_on_text(plan_->comm, own)) {
    throw SimulationError(*failure);
  }
}

void SimulationCore::start_from(std::vector<std::optional<Beginning>> beginnings) {
  subsystems_->start_from(std::move(beginnings));
}

Archive SimulationCore::written(SnapshotFor use) {
  Archive archive = use == SnapshotFor::these_ranks ? Archive() : Archive(layout_);
  if (use == SnapshotFor::any_ranks) archive.note_classes();
  const auto silent =
      agree_on_text(plan_->comm, subsystems_->io(archive, stepper_->coupling().states()));
  if (silent) {
    throw InputError(*silent + "; no snapshot can be taken");
  }
  CONCORD_MEMBERS(archive, *stepper_);
  return archive;
}

Archive SimulationCore::snapshot(SnapshotFor use) {
  Archive archive = written(use);
  archive.begin_reading();
  read(archive);
  archive.go_on_writing();
  return archive;
}

void SimulationCore::move_into_new() {
  Archive archive = written(SnapshotFor::any_ranks);
  start_parts();
  archive.begin_reading();
  read(archive);
}

std::vector<std::vector<std::byte>> SimulationCore::memories() {
  Archive archive(layout_);
  const auto silent = subsystems_->io(archive, stepper_->coupling().states());
  if (const auto agreed = agree_on_text(plan_->comm, silent)) {
    throw SimulationError(*agreed);
  }
  return archive.memory().themselves;
}

/// Subsystems that were started, and a coupling that was not, into which a memory is read.
void SimulationCore::start_parts() {
  make_parts();
  const Settings& settings = plan_->settings;
  subsystems_->start({settings.start, settings.start + settings.step, settings.step},
                     settings.stop);
  steps_ = 0;
  started_ = true;
  failed_ = parameters_set_ = false;
}

bool SimulationCore::can_go_on() const {
  const bool good = started_ && !failed_ && !parameters_set_ && !subsystems_->fatal();
  return agree_on_largest(plan_->comm, good ? 0 : 1) == 0;
}

void SimulationCore::restore(Archive& archive) {
  if (!can_go_on()) start_parts();
  read(archive);
}

void SimulationCore::read(Archive& archive) {
  std::optional<std::string> failure;
  if (const auto silent = subsystems_->io(archive)) {
    failure = "a snapshot cannot be restored: " + *silent;
  }
  if (const auto agreed = agree_on_text(plan_->comm, failure)) {
    throw SimulationError(*agreed);
  }
  CONCORD_MEMBERS(archive, *stepper_);
}

bool SimulationCore::owns(std::size_t subsystem) const {
  const int rank = rank_in(plan_->comm);
  return plan_->replicated || plan_->share.rank_of(subsystem) == rank;
}

/// Of a subsystem of this rank.
double SimulationCore::own_value(Variable variable) {
  const CommunicationPoint& point = stepper_->point();
  switch (variable.kind()) {
    case Variable::Kind::output:
      return point.outputs[subsystems_->local_output(variable.index())].value;
    case Variable::Kind::input:
      return point.inputs[subsystems_->local_input(variable.index())].value;
    case Variable::Kind::state:
    case Variable::Kind::parameter:
      break;
  }
  const std::size_t g = plan_->network.subsystem_of_state(variable.index());
  const std::size_t k = subsystems_->local(g);
  const std::size_t i = variable.index() - plan_->network.states_of(g).first;
  const auto whole = stepper_->coupling().states();
  return whole.empty() ? subsystems_->own(k).states()[i]
                       : whole[subsystems_->states_of(k).first + i];
}

/// Of what a user knows by this place; what feeds it, of an input within a group.
Variable SimulationCore::in_network(Variable written) const {
  const WrittenVariables& variables = plan_->written;
  switch (written.kind()) {
    case Variable::Kind::output:
      return {Variable::Kind::output, variables.output(written.index())};
    case Variable::Kind::state:
      return {Variable::Kind::state, variables.state(written.index())};
    case Variable::Kind::input:
    case Variable::Kind::parameter:
      break;
  }
  const WrittenInput input = variables.input(written.index());
  return input.within ? Variable(Variable::Kind::output, input.within->output)
                      : Variable(Variable::Kind::input, input.input);
}

/// Which nothing that can be read is: of what other ranks have, or nobody tells.
constexpr double no_value = -std::numeric_limits<double>::infinity();

double SimulationCore::read_parameter(std::size_t number) {
  const Parameter& parameter = parameters().at(number);
  if (parameter.fixed) return *parameter.fixed;
  if (!owns(parameter.subsystem)) return no_value;
  std::optional<double> value;
  const std::size_t k = subsystems_->local(parameter.subsystem);
  const auto failure =
      subsystems_->asking(k, [&] { value = subsystems_->own(k).parameter(parameter.index); });
  if (failure) throw SimulationError(*failure);
  return value.value_or(no_value);
}

double SimulationCore::read_value(Variable written) {
  if (written.kind() == Variable::Kind::parameter) return read_parameter(written.index());
  const Network& network = plan_->network;
  const Variable variable = in_network(written);
  const std::size_t index = variable.index();
  const std::size_t subsystem =
      variable.kind() == Variable::Kind::output  ? network.subsystem_of_output(index)
      : variable.kind() == Variable::Kind::input ? network.subsystem_of_input(index)
                                                 : network.subsystem_of_state(index);
  if (!owns(subsystem)) return no_value;
  const double value = own_value(variable);
  return variable.kind() == written.kind()
             ? value
             : plan_->written.input(written.index()).within->arriving({value, 0.0}).value;
}

void SimulationCore::read(std::span<const Variable> variables, std::span<double> result) {
  const auto is_parameter = [](Variable one) { return one.kind() == Variable::Kind::parameter; };
  const auto read_own = [&] {
    for (std::size_t i = 0; i < variables.size(); ++i) result[i] = read_value(variables[i]);
  };
  if (std::ranges::any_of(variables, is_parameter))
    together(plan_->comm, read_own);
  else
    read_own();
  if (!plan_->replicated) {
    agree_on_largest(plan_->comm, result);
  }
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (is_parameter(variables[i]) && result[i] == no_value)
      throw InputError("nobody tells the value of parameter '" +
                       parameters()[variables[i].index()].name +
                       "': its subsystem is written in C++ without OdeModel::parameter, or "
                       "Subsystem::parameter; it can be set");
}

const std::vector<SimulationCore::Parameter>& SimulationCore::parameters() const {
  if (parameters_) return *parameters_;
  const Model& model = plan_->model;
  std::vector<Parameter>& all = parameters_.emplace();
  for (std::size_t k = 0; k < model.subsystems.size(); ++k) {
    const SubsystemDescription& d = model.subsystems[k].description;
    for (std::size_t p = 0; p < d.parameters.size(); ++p)
      all.push_back({whole_name(d, d.parameters[p]), k, p});
  }
  for (const SystemEntry& system : model.systems)
    for (const auto& [name, value] : system.parameters)
      all.push_back({system.name + "." + name, 0, 0, value});
  for (const auto& [name, value] : model.parameters)
    all.push_back({"parameters." + name, 0, 0, value});
  return all;
}

Settable SimulationCore::settable(const std::string& name) const {
  const Network& network = plan_->network;
  const auto& inputs = network.input_names();
  const auto found = std::find(inputs.begin(), inputs.end(), name);
  if (found != inputs.end()) {
    const auto input = static_cast<std::size_t>(found - inputs.begin());
    if (network.links()[input]) {
      throw InputError("input '" + name + "' is fed by " + *network.connection(input) +
                       "; only inputs that nothing feeds can be set");
    }
    return {Settable::Kind::input, network.subsystem_of_input(input), input};
  }
  std::vector<std::string> known;
  for (const Parameter& parameter : parameters()) {
    if (parameter.name == name && parameter.fixed)
      throw InputError("'" + name +
                       "' is a parameter from which others follow when the model is read, and "
                       "cannot be set on the way; begin anew with it (reset, start values), or set "
                       "what follows from it in the subsystems");
    if (parameter.name == name)
      return {Settable::Kind::parameter, parameter.subsystem, parameter.index};
    if (!parameter.fixed) known.push_back(parameter.name);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!network.links()[i]) {
      known.push_back(inputs[i]);
    }
  }
  const auto similar = nearest(name, known);
  throw InputError("'" + name + "' is neither an input that nothing feeds nor a tunable parameter" +
                   (similar ? "; did you mean '" + *similar + "'?" : ""));
}

void SimulationCore::set(Settable what, double value, bool started) {
  if (!std::isfinite(value)) {
    throw InputError("an input or a parameter is set to " + exact_number(value) +
                     "; give a finite number");
  }
  if (what.kind() == Settable::Kind::input) {
    set_input(what.index(), what.subsystem(), value, started);
  } else {
    set_parameter(what.index(), what.subsystem(), value);
    if (started) {
      stepper_->jump({});
    }
  }
}

void SimulationCore::take_changes() {
  failed_ = true;
  in_step([&] { stepper_->take_changes(); });
  failed_ = false;
}

void SimulationCore::set_input(std::size_t input, std::size_t subsystem, double value,
                               bool started) {
  std::vector<InputChange> own;
  if (owns(subsystem)) {
    own.push_back({subsystems_->local_input(input), value});
    subsystems_->note_given(own.back().input);
  }
  if (started) {
    stepper_->jump(own);
    return;
  }
  for (const auto& change : own) {
    subsystems_->set_start_input(change.input, change.value);
  }
}

void SimulationCore::set_parameter(std::size_t parameter, std::size_t subsystem, double value) {
  parameters_set_ = true;
  std::optional<std::string> failure;
  if (owns(subsystem)) {
    failure = subsystems_->set_parameter(subsystems_->local(subsystem), parameter, value);
  }
  if (const auto agreed = agree_on_text(plan_->comm, failure)) {
    throw SimulationError(*agreed);
  }
}

void SimulationCore::end() {
  subsystems_->end();
  started_ = false;
}

}  // namespace concord
