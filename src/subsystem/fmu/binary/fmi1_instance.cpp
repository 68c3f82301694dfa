#include "subsystem/fmu/binary/fmi1_instance.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "subsystem/fmu/binary/c_texts.hpp"
#include "subsystem/fmu/binary/fmi1_functions.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

constexpr fmi1::Boolean whole_iteration = 0;  ///< no intermediateResults
constexpr int most_rounds = 10'000;           ///< of event updates at the start

/// Values of variables by their references.
struct ValuesByReference {
  std::map<FmiReference, fmi1::Real> reals;
  std::map<FmiReference, fmi1::Integer> integers;
  std::map<FmiReference, fmi1::Boolean> booleans;
  std::map<FmiReference, std::string> texts;

  bool operator==(const ValuesByReference&) const = default;
};

template <class Value>
Value negated(Value value) {
  if constexpr (std::is_same_v<Value, fmi1::Boolean>)
    return value == 0 ? 1 : 0;
  else
    return -value;
}

/// FMI 1.0 has no mode in which inputs are found by iteration: fmiInitialize, fmiInitializeSlave
/// compute everything from what was set before. What is set until then is therefore kept, and set
/// when the first output is asked for, or at the end of the initialisation. Where something else
/// is set afterwards, the instance is made and initialised anew, so that states that follow from
/// inputs fit the inputs with which the run begins.
class Fmi1Instance final : public FmuInstance {
 public:
  explicit Fmi1Instance(const FmuSource& source)
      : FmuInstance(source), f_(load_fmi1_functions(source_)) {
    make_component();
  }
  ~Fmi1Instance() override { end(); }

  bool set_texts(const FmiVariable& variable, std::span<const std::string> values) override;
  bool state_references(std::span<FmiReference> references) override {
    return f_.get_state_value_references &&
           invoke_optional(f_.get_state_value_references, references.data(), references.size());
  }

 private:
  void make_component();
  bool tell_experiment(const Experiment& /*experiment*/) override { return true; }
  bool begin_initialization(const Experiment& experiment) override {
    told_ = experiment;
    return true;
  }
  bool exit_initialization() override { return initialized(); }
  bool is_to_be_terminated() const override { return initialized_ && mode() != FmuMode::failed; }
  bool initialized();
  bool initialize();
  bool settle_events(bool changed);
  bool set_given();
  template <class Value>
  bool set_new(const FmiSet<Value>& set, const std::map<FmiReference, Value>& given,
               std::map<FmiReference, Value>& taken);
  bool update_discrete_states_once(EventOutcome& outcome, bool& again) override;
  StepEnd step(double time, double size, bool no_rollback, double& reached,
               bool& event_needed) override;
  bool begin_configuration() override { return true; }
  bool end_configuration() override { return true; }
  bool begin_step_mode() override { return true; }
  bool complete_step(bool no_rollback, bool& event, bool& terminate) override;
  bool set_group(const FmuPorts::Group& group, std::span<const double> values) override;
  bool get_group(const FmuPorts::Group& group, std::span<double> values) override;
  bool write_texts(const FmiVariable& variable, std::span<const std::string> values) override;
  bool read_texts(const FmiVariable& variable, std::span<std::string> values) override;
  template <class Value>
  bool put(const FmuPorts::Group& group, std::span<const double> values, const FmiSet<Value>& set,
           std::map<FmiReference, Value>& given);
  bool is_before_start() const {
    return mode() == FmuMode::instantiated || mode() == FmuMode::initializing;
  }
  /// FMI 1.0 has no such call.
  bool directional_derivative(std::span<const FmiReference> /*unknowns*/,
                              std::span<const FmiReference> /*knowns*/,
                              std::span<const double> /*seed*/,
                              std::span<double> /*sensitivity*/) override {
    return false;
  }
  bool input_derivatives(std::span<const FmiReference> inputs, std::span<const int> orders,
                         std::span<const double> values) override {
    return invoke_optional(f_.set_real_input_derivatives, inputs.data(), inputs.size(),
                           orders.data(), values.data());
  }
  bool output_derivatives(std::span<const FmiReference> outputs, std::span<const int> orders,
                          std::span<double> values) override {
    return invoke_optional(f_.get_real_output_derivatives, outputs.data(), outputs.size(),
                           orders.data(), values.data());
  }

  fmi1::Functions f_;
  Experiment told_;
  ValuesByReference given_, taken_;  ///< to be had at the start; those that the FMU has
  bool initialized_ = false;
  std::optional<fmi1::EventInfo> begun_;  ///< what the initialisation says of events
};

void Fmi1Instance::make_component() {
  const char* name = source_.name.c_str();
  const char* token = source_.description->token.c_str();
  const fmi1::Boolean log = source_.log ? 1 : 0;
  if (source_.role == FmuRole::model_exchange)
    return instantiate("fmiInstantiateModel", [&] {
      return f_.instantiate_model(name, token,
                                  {log_formatted<fmi1::Status>, std::calloc, std::free}, log);
    });
  const std::string folder = file_uri(source_.folder);
  const std::string& type = source_.interface().mime_type;
  constexpr double no_timeout = 0.0;
  instantiate("fmiInstantiateSlave", [&] {
    return f_.instantiate_slave(
        name, token, folder.c_str(), type.c_str(), no_timeout, 0, 0,
        {log_formatted<fmi1::Status>, std::calloc, std::free, [](fmi1::Component, fmi1::Status) {}},
        log);
  });
}

bool Fmi1Instance::initialized() {
  if (initialized_ && given_ == taken_) return true;
  const bool anew = initialized_ && !source_.interface().only_once_per_process;
  if (anew) {
    end();
    initialized_ = false;
    taken_ = {};
    make_component();
  }
  const bool again = initialized_;
  if (!set_given() || !(again || initialize())) return false;
  return !begun_ || settle_events(again);
}

bool Fmi1Instance::initialize() {
  const fmi1::Boolean has_stop = told_.has_stop() ? 1 : 0;
  if (source_.role == FmuRole::co_simulation) {
    initialized_ = invoke(f_.initialize_slave, told_.start, has_stop, told_.told_stop());
    return initialized_;
  }
  fmi1::EventInfo info{};
  const fmi1::Boolean has_tolerance = told_.has_tolerance() ? 1 : 0;
  initialized_ = invoke(common().set_time, told_.start) &&
                 invoke(f_.initialize, has_tolerance, told_.tolerance, &info);
  if (initialized_) begun_ = info;
  return initialized_;
}

/// Outputs are those behind the events at the start, and of inputs that have changed since.
bool Fmi1Instance::settle_events(bool changed) {
  bool good = true;
  for (int round = 0; good && round < most_rounds; ++round) {
    if (!changed && (begun_->iteration_converged != 0 || begun_->terminate_simulation != 0)) break;
    changed = false;
    good = invoke(f_.event_update, whole_iteration, &*begun_);
  }
  return good;
}

/// What the FMU has not yet.
bool Fmi1Instance::set_given() {
  for (const auto& [reference, text] : given_.texts) {
    const auto [taken, is_new] = taken_.texts.try_emplace(reference, text);
    const char* const chars = text.c_str();
    if (!is_new && taken->second == text) continue;
    taken->second = text;
    if (!invoke(f_.set_string, &reference, std::size_t{1}, &chars)) return false;
  }
  return set_new(f_.set_real, given_.reals, taken_.reals) &&
         set_new(f_.set_integer, given_.integers, taken_.integers) &&
         set_new(f_.set_boolean, given_.booleans, taken_.booleans);
}

template <class Value>
bool Fmi1Instance::set_new(const FmiSet<Value>& set, const std::map<FmiReference, Value>& given,
                           std::map<FmiReference, Value>& taken) {
  std::vector<FmiReference> references;
  std::vector<Value> values;
  for (const auto& [reference, value] : given) {
    const auto [known, is_new] = taken.try_emplace(reference, value);
    if (!is_new && known->second == value) continue;
    known->second = value;
    references.push_back(reference);
    values.push_back(value);
  }
  return references.empty() || invoke(set, references.data(), references.size(), values.data());
}

bool Fmi1Instance::set_texts(const FmiVariable& variable, std::span<const std::string> values) {
  const std::string& text = values.front();
  const double number = parse_number(text).value_or(0.0);
  const auto turned = [&](auto value) { return variable.negated ? negated(value) : value; };
  if (variable.type == FmiType::string)
    given_.texts[variable.reference] = text;
  else if (variable.type == FmiType::float64)
    given_.reals[variable.reference] = turned(number);
  else if (variable.type == FmiType::boolean)
    given_.booleans[variable.reference] =
        turned(static_cast<fmi1::Boolean>(text == "true" || text == "1" ? 1 : 0));
  else
    given_.integers[variable.reference] = turned(rounded_to<fmi1::Integer>(number));
  return true;
}

bool Fmi1Instance::write_texts(const FmiVariable& variable, std::span<const std::string> values) {
  const char* const text = values.front().c_str();
  if (!is_before_start()) return invoke(f_.set_string, &variable.reference, std::size_t{1}, &text);
  given_.texts[variable.reference] = text;
  return true;
}

bool Fmi1Instance::read_texts(const FmiVariable& variable, std::span<std::string> values) {
  if (mode() == FmuMode::initializing && !initialized()) return false;
  const char* text = nullptr;
  if (!invoke(f_.get_string, &variable.reference, std::size_t{1}, &text)) return false;
  values.front() = text != nullptr ? text : "";
  return true;
}

template <class Value>
bool Fmi1Instance::put(const FmuPorts::Group& group, std::span<const double> values,
                       const FmiSet<Value>& set, std::map<FmiReference, Value>& given) {
  const std::span<const FmiReference> r = group.references;
  const std::span<Value> typed = room<Value>(r.size());
  for (std::size_t i = 0; i < typed.size(); ++i) {
    const double value = values[group.places[i]];
    if constexpr (std::is_same_v<Value, fmi1::Boolean>)
      typed[i] = rounded_to<bool>(value) ? 1 : 0;
    else
      typed[i] = rounded_to<Value>(value);
  }
  for (const std::size_t i : group.negated) typed[i] = negated(typed[i]);
  if (!is_before_start()) return invoke(set, r.data(), r.size(), typed.data());
  for (std::size_t i = 0; i < typed.size(); ++i) given[r[i]] = typed[i];
  return true;
}

bool Fmi1Instance::set_group(const FmuPorts::Group& group, std::span<const double> values) {
  if (group.type == FmiType::float64) return put(group, values, f_.set_real, given_.reals);
  if (group.type == FmiType::int32) return put(group, values, f_.set_integer, given_.integers);
  return put(group, values, f_.set_boolean, given_.booleans);
}

bool Fmi1Instance::get_group(const FmuPorts::Group& group, std::span<double> values) {
  if (mode() == FmuMode::initializing && !initialized()) return false;
  const std::span<const FmiReference> r = group.references;
  const auto get = [&]<class Value>(const FmiGet<Value>& function) {
    return scattered<Value>(group, values, [&](std::span<Value> typed) {
      return invoke(function, r.data(), r.size(), typed.data());
    });
  };
  const bool logical = group.type == FmiType::boolean;
  const bool good = group.type == FmiType::float64 ? get(f_.get_real)
                    : logical                      ? get(f_.get_boolean)
                                                   : get(f_.get_integer);
  for (const std::size_t i : group.negated) {
    double& value = values[group.places[i]];
    value = logical ? 1.0 - value : -value;
  }
  return good;
}

/// The initialisation has handled the events at the start, and says whether more follows.
bool Fmi1Instance::update_discrete_states_once(EventOutcome& outcome, bool& again) {
  fmi1::EventInfo info{};
  if (begun_)
    info = *begun_;
  else if (!invoke(f_.event_update, whole_iteration, &info))
    return false;
  begun_.reset();
  outcome.states_changed =
      outcome.states_changed || info.states_changed != 0 || info.state_references_changed != 0;
  outcome.terminate = info.terminate_simulation != 0;
  outcome.next_time = info.upcoming_time_event != 0 ? info.next_event_time
                                                    : std::numeric_limits<double>::infinity();
  again = info.iteration_converged == 0;
  return true;
}

/// Every step is a new one: an FMU that can repeat its last step (canRejectSteps) has no call that
/// takes it back.
StepEnd Fmi1Instance::step(double time, double size, bool /*no_rollback*/, double& reached,
                           bool& /*event_needed*/) {
  constexpr fmi1::Boolean is_new = 1;
  reached = time + size;
  const int status = invoke_raw(f_.do_step, time, size, is_new);
  if (status == fmi1::pending) return goes_on_in_background(f_.do_step.name);
  if (passed(status, f_.do_step.name)) [[likely]]
    return StepEnd::completed;
  if (status != fmi1::discard) return StepEnd::failed;
  reached = last_time(f_.get_real_status, fmi1::last_successful_time, time, size);
  return StepEnd::discarded;
}

bool Fmi1Instance::complete_step(bool /*no_rollback*/, bool& event, bool& terminate) {
  fmi1::Boolean update = 0;
  const bool good = invoke(f_.completed_integrator_step, &update);
  event = update != 0;
  terminate = false;
  return good;
}

}  // namespace

std::unique_ptr<FmuInstance> make_fmi1_instance(const FmuSource& source) {
  return std::make_unique<Fmi1Instance>(source);
}

}  // namespace concord
