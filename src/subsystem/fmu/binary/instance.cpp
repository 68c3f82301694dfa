#include "subsystem/fmu/binary/instance.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "concord/errors.hpp"
#include "subsystem/fmu/binary/fmi1_instance.hpp"
#include "subsystem/fmu/binary/fmi2_instance.hpp"
#include "subsystem/fmu/binary/fmi3_instance.hpp"
#include "support/exception_words.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

constexpr int most_printed = 20;
constexpr int most_event_rounds = 10'000;

const char* status_word(int status) {
  constexpr const char* words[] = {"ok", "warning", "discard", "error", "fatal", "pending"};
  return status >= 0 && status < 6 ? words[status] : "a status that does not exist";
}

int next_number() {
  static int number = 0;
  return ++number;
}

}  // namespace

const char* FmuInstance::word_for(int status) { return status_word(status); }

void FmuMessages::take(int status, const char* text) noexcept {
  if (text == nullptr) return;
  try {
    if (status > 0) last = text;
    if (!print) return;
    if (printed == most_printed || last_printed == text) {
      ++unprinted;
      return;
    }
    count();
    last_printed = text;
    ++printed;
    std::fprintf(stderr, "%s: %s: %s\n", instance.c_str(), status_word(status), text);
    if (printed == most_printed)
      std::fprintf(stderr, "%s: further messages are not shown\n", instance.c_str());
  } catch (...) {
    printed = most_printed;
  }
}

void FmuMessages::count() noexcept {
  if (unprinted == 0) return;
  const char* what = printed == most_printed ? "messages not shown" : "repeated";
  std::fprintf(stderr, "%s: %s: %d\n", instance.c_str(), what, std::exchange(unprinted, 0));
}

FmuInstance::FmuInstance(const FmuSource& source)
    : source_(source), common_(load_common_functions(source_)), number_(next_number()) {
  messages_.instance = source.name;
  messages_.print = source.log;
  place_.what = "the FMU";
  place_.subsystem = source_.name.c_str();
  place_.origin = source_.library->fmu().c_str();
  ++source_.library->instances;
}

FmuInstance::~FmuInstance() {
  messages_.count();
  --source_.library->instances;
}

void FmuInstance::end() noexcept {
  if (handle_ == nullptr || source_.library->is_dead()) return;
  if (is_to_be_terminated()) {
    const Running terminating(*this,
                              "Terminate");  // also where an exception cannot leave from here
    if (invoke_raw(common_.terminate) >= 4) {
      source_.library->declare_dead();
      return;
    }
  }
  const Running running(*this, "FreeInstance");
  LoggedCall logged(source_.calls.get(), called(), common_.free_instance_name, "");
  common_.free_instance(std::exchange(handle_, nullptr));
  logged.returned("ok");
}

std::string FmuInstance::instantiation_in_words() const {
  constexpr const char* types[] = {"CoSimulation", "ModelExchange", "ScheduledExecution"};
  std::string text = "instanceName=";
  append_text(text, source_.name.c_str());
  text += std::string(" type=") + types[static_cast<std::size_t>(source_.role)] + " token=";
  append_text(text, source_.description->token.c_str());
  return text + (source_.event_mode ? " eventModeUsed=true" : "");
}

std::unique_ptr<FmuInstance> FmuInstance::make(const FmuSource& source) {
  if (source.library->is_dead())
    throw SimulationError("the FMU " + source.library->fmu() + " has reported fatal before");
  if (source.interface().only_once_per_process && source.library->instances > 0 &&
      !source.library->emulated())
    throw InputError("the FMU " + source.library->fmu() +
                     " can be instantiated only once per process; give each a process of its own "
                     "(isolated: true, -subsystem_isolated), or use more MPI ranks (mpirun -n)");
  switch (source.description->version) {
    case FmiVersion::v1:
      return make_fmi1_instance(source);
    case FmiVersion::v2:
      return make_fmi2_instance(source);
    default:
      return make_fmi3_instance(source);
  }
}

bool FmuInstance::set(const FmuPorts& ports, std::span<const double> values) {
  if (!may(before_start | in_initialization | while_running, "Set")) return false;
  for (const FmuPorts::Group& group : ports.groups())
    if (!set_group(group, values)) return false;
  fed_ = fed_ || mode_ == FmuMode::stepping;
  return true;
}

bool FmuInstance::get(const FmuPorts& ports, std::span<double> values) {
  if (!may(in_initialization | while_running, "Get")) return false;
  if (fed_ && !ports.empty()) throw_misuse("Get after Set without a step between");
  for (const FmuPorts::Group& group : ports.groups())
    if (!get_group(group, values)) return false;
  return true;
}

bool FmuInstance::put_texts(const FmiVariable& variable, std::span<const std::string> values) {
  if (values.empty()) return true;
  if (!may(before_start | in_initialization | while_running, "Set")) return false;
  fed_ = fed_ || mode_ == FmuMode::stepping;
  return write_texts(variable, values);
}

bool FmuInstance::get_texts(const FmiVariable& variable, std::span<std::string> values) {
  if (values.empty()) return true;
  if (!may(in_initialization | while_running, "Get")) return false;
  if (fed_) throw_misuse("Get after Set without a step between");
  const FmuMode before = mode_;
  const bool good = read_texts(variable, values);
  mode_ = before;
  return good;
}

bool FmuInstance::get_if_it_can(const FmuPorts& ports, std::span<double> values) {
  const FmuMode before = mode_;
  const bool good = get(ports, values);
  mode_ = before;
  return good;
}

std::string FmuInstance::when() const {
  if (std::isnan(place_.time)) return " before the start";
  return " at t = " + short_number(place_.time) + " s";
}

bool FmuInstance::change(unsigned from, FmuMode to, const FmiFunction<>& function) {
  if (!may(from, function.name.c_str()) || (function && !invoke(function))) return false;
  mode_ = to;
  fed_ = false;
  return true;
}

bool FmuInstance::enter_configuration() {
  if (!may(before_start, "EnterConfigurationMode") || !begin_configuration()) return false;
  mode_ = FmuMode::configuring;
  return true;
}

bool FmuInstance::leave_configuration() {
  if (!may(only(FmuMode::configuring), "ExitConfigurationMode") || !end_configuration())
    return false;
  mode_ = FmuMode::instantiated;
  return true;
}

bool FmuInstance::set_up_experiment(double start, double stop, double tolerance) {
  place_.time = start;
  experiment_ = {start, source_.stop_time ? stop : Experiment{}.stop, tolerance};
  return may(before_start, "SetupExperiment") && tell_experiment(experiment_);
}

bool FmuInstance::enter_initialization() {
  if (!may(before_start, "EnterInitializationMode") || !begin_initialization(experiment_))
    return false;
  mode_ = FmuMode::initializing;
  return true;
}

bool FmuInstance::leave_initialization() {
  if (!may(in_initialization, "ExitInitializationMode") || !exit_initialization()) return false;
  const bool events = source_.role == FmuRole::model_exchange || source_.event_mode;
  const bool scheduled = source_.role == FmuRole::scheduled_execution;
  mode_ = scheduled ? FmuMode::activating : events ? FmuMode::event : FmuMode::stepping;
  fed_ = false;
  return true;
}

bool FmuInstance::enter_event_mode() {
  return change(in_continuous_time | in_step, FmuMode::event, common_.enter_event_mode);
}

bool FmuInstance::leave_event_mode() {
  if (source_.role == FmuRole::model_exchange)
    return change(in_event, FmuMode::continuous_time, common_.enter_continuous_time_mode);
  if (!may(in_event, "EnterStepMode") || !begin_step_mode()) return false;
  mode_ = FmuMode::stepping;
  return true;
}

bool FmuInstance::update_discrete_states(EventOutcome& outcome) {
  if (!may(in_event, "the event iteration")) return false;
  bool again = true;
  for (int round = 0; again && !outcome.terminate; ++round) {
    if (round == most_event_rounds) {
      failure_ = "the event iteration of the FMU " + source_.library->fmu() +
                 " has not ended after " + std::to_string(round) + " rounds";
      last_was_discard_ = false;
      return false;
    }
    if (!update_discrete_states_once(outcome, again)) return false;
  }
  return true;
}

StepEnd FmuInstance::do_step(double time, double size, bool no_rollback, double& reached,
                             bool& event_needed) {
  place_.time = time;
  if (!may(in_step, "DoStep")) return StepEnd::failed;
  const StepEnd end = step(time, size, no_rollback, reached, event_needed);
  fed_ = false;
  return end;
}

FmuSnapshot::~FmuSnapshot() { instance_.free_state(state_); }

bool FmuInstance::save(FmuSnapshot& snapshot) {
  if (!may(while_running, common_.get_state.name.c_str())) return false;
  snapshot.mode_ = mode_;
  return invoke(common_.get_state, &snapshot.state_);
}

bool FmuInstance::restore(const FmuSnapshot& snapshot) {
  if (!invoke(common_.set_state, snapshot.state_)) return false;
  mode_ = snapshot.mode_;
  fed_ = false;
  return true;
}

void FmuInstance::free_state(void*& state) noexcept {
  if (state != nullptr && !source_.library->is_dead()) invoke_raw(common_.free_state, &state);
  state = nullptr;
}

bool FmuInstance::serialize(const FmuSnapshot& snapshot, std::vector<char>& bytes) {
  std::size_t size = 0;
  if (!invoke(common_.serialized_size, snapshot.state_, &size)) return false;
  bytes.resize(size);
  return invoke(common_.serialize, snapshot.state_, bytes.data(), size);
}

bool FmuInstance::deserialize(const std::vector<char>& bytes, FmuMode mode, FmuSnapshot& snapshot) {
  snapshot.mode_ = mode;
  return invoke(common_.deserialize, bytes.data(), bytes.size(), &snapshot.state_);
}

/// FMUs may not know that a state which is an output, too, changes by itself.
bool FmuInstance::partial(const FmuPorts& unknowns, std::size_t rows, const FmuPorts& knowns,
                          std::size_t columns, std::span<double> result) {
  std::fill_n(result.begin(), rows * columns, 0.0);
  if (unknowns.reals().empty()) return true;
  sensitivity_.resize(unknowns.real_elements());
  for (const FmuPorts::Real& known : knowns.reals())
    for (std::size_t k = 0; k < known.count; ++k) {
      seed_.assign(known.count, 0.0);
      seed_[k] = 1.0;
      if (!directional_derivative(unknowns.real_references(), {&known.reference, 1}, seed_,
                                  sensitivity_))
        return false;
      auto value = sensitivity_.begin();
      for (const FmuPorts::Real& unknown : unknowns.reals()) {
        const bool itself = unknown.reference == known.reference;
        for (std::size_t i = 0; i < unknown.count; ++i, ++value)
          result[(unknown.first + i) * columns + known.first + k] =
              itself ? (i == k ? 1.0 : 0.0) : *value;
      }
    }
  return true;
}

bool FmuInstance::directional(const FmuPorts& unknowns, const FmuPorts& knowns,
                              std::span<const double> seed, std::span<double> sensitivity) {
  std::fill(sensitivity.begin(), sensitivity.end(), 0.0);
  if (unknowns.reals().empty() || knowns.reals().empty()) return true;
  sensitivity_.resize(unknowns.real_elements());
  seed_.clear();
  for (const FmuPorts::Real& known : knowns.reals())
    for (std::size_t j = known.first; j < known.first + known.count; ++j) seed_.push_back(seed[j]);
  if (!directional_derivative(unknowns.real_references(), knowns.real_references(), seed_,
                              sensitivity_))
    return false;
  auto value = sensitivity_.begin();
  for (const FmuPorts::Real& unknown : unknowns.reals())
    for (std::size_t i = unknown.first; i < unknown.first + unknown.count; ++i)
      sensitivity[i] = *value++;
  return true;
}

bool FmuInstance::set_input_derivatives(const FmuPorts& inputs, int order,
                                        std::span<const double> values) {
  if (inputs.reals().empty()) return true;
  if (!may(before_start | in_initialization | in_step, "SetRealInputDerivatives")) return false;
  seed_.clear();
  for (const FmuPorts::Real& input : inputs.reals())
    seed_.push_back(input.sign * values[input.first]);
  orders_.assign(seed_.size(), order);
  return input_derivatives(inputs.real_references(), orders_, seed_);
}

bool FmuInstance::get_output_derivatives(const FmuPorts& outputs, std::span<double> values) {
  if (outputs.reals().empty()) return true;
  if (!may(in_step, "GetOutputDerivatives")) return false;
  sensitivity_.resize(outputs.real_elements());
  orders_.assign(outputs.reals().size(), 1);
  if (!output_derivatives(outputs.real_references(), orders_, sensitivity_)) return false;
  auto value = sensitivity_.begin();
  for (const FmuPorts::Real& output : outputs.reals())
    for (std::size_t i = output.first; i < output.first + output.count; ++i)
      values[i] = output.sign * *value++;
  return true;
}

StepEnd FmuInstance::goes_on_in_background(const std::string& call) {
  failure_ = call + " of the FMU " + source_.library->fmu() +
             " returned pending; steps that go on in the background are not supported";
  return StepEnd::failed;
}

void FmuInstance::judge(int status, const std::string& call) {
  failure_ = call + " of the FMU " + source_.library->fmu() + " returned " + word_for(status);
  if (!messages_.last.empty())
    failure_ += " (" + in_quotes(messages_.last) + ")";
  else if (!messages_.print)
    failure_ += " (-subsystem_fmu_log true shows its messages)";
  messages_.last.clear();
  last_was_discard_ = status == 2;
  if (status >= 3) mode_ = FmuMode::failed;
  if (status != 4) return;
  source_.library->declare_dead();
  throw SimulationError(failure_ + when() + "; no instance of this FMU can be called any more");
}

void FmuInstance::throw_misuse(const char* call) const {
  constexpr const char* modes[] = {
      "is instantiated",         "is configured", "initialises", "handles events",
      "runs in continuous time", "makes steps",   "has ended",   "has failed",
      "waits for activations"};
  throw std::logic_error(std::string(call) + " of the FMU " + source_.library->fmu() +
                         " is not allowed while it " + modes[static_cast<std::size_t>(mode_)]);
}

void FmuInstance::throw_dead() const {
  throw SimulationError("another instance of the FMU " + source_.library->fmu() +
                        " has reported fatal; no instance of it can be called any more");
}

/// In a catch block: an exception has left the FMU, which may be anywhere now.
void FmuInstance::throw_thrown(const char* call) const {
  source_.library->declare_dead();
  throw SimulationError(std::string(call) + " of the FMU " + source_.library->fmu() +
                        " threw an exception" + when() + ": " + in_words(std::current_exception()));
}

void FmuInstance::fail_to_instantiate(const char* call) const {
  const std::string reason = messages_.last.empty() ? "" : " (" + in_quotes(messages_.last) + ")";
  throw SimulationError(std::string(call) + " of the FMU " + source_.library->fmu() + " failed" +
                        reason);
}

}  // namespace concord
