#include "subsystem/fmu/probe_trials.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <span>

#include "concord/errors.hpp"
#include "subsystem/fmu/child_process.hpp"

namespace concord {

namespace {

using Tell = std::function<void(const std::string&)>;

constexpr unsigned longest_computation = 30;  ///< seconds
constexpr char digits[] = "0123456789abcdef";

std::string in_hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte b : bytes) {
    text += digits[std::to_integer<unsigned>(b) >> 4];
    text += digits[std::to_integer<unsigned>(b) & 15];
  }
  return text;
}

template <class Value>
std::vector<Value> from_hex(const std::string& text) {
  std::vector<Value> values(text.size() / 2 / sizeof(Value));
  const auto bytes = std::as_writable_bytes(std::span(values));
  const auto digit = [&](std::size_t i) {
    return static_cast<unsigned>(std::strchr(digits, text[i]) - digits);
  };
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(16 * digit(2 * i) + digit(2 * i + 1));
  return values;
}

/// The trials of one FMU, each with an instance of its own.
class Trials {
 public:
  Trials(const FmuSetup& setup, const Tell& tell) : setup_(setup), tell_(tell) {
    const ModelDescription& model = *setup.model;
    start_ = model.start.value_or(0.0);
    stop_ = std::max(model.stop.value_or(start_ + 1.0), start_ + 1e-9);
    size_ = model.step.value_or((stop_ - start_) / 1000.0);
    stop_ = std::max(stop_, start_ + 10.0 * size_);
    for (const InputVariable& input : setup.description.inputs)
      u_.push_back(input.start.value_or(0.0));
  }

  void run(FmuTrial trial, const SerializedState& state) {
    switch (trial) {
      case FmuTrial::stepping:
        return try_stepping();
      case FmuTrial::rollback:
        return try_rollback();
      case FmuTrial::serialization:
        return continue_from(state);
      case FmuTrial::input_derivatives:
        return try_input_derivatives();
      case FmuTrial::directional:
        return try_directional();
    }
  }

 private:
  void continue_from(const SerializedState& state);
  void doing(const std::string& what) { tell_("doing " + what); }
  void found(const std::string& key, bool good, const std::string& good_text,
             const std::string& bad_text) {
    tell_(key + (good ? " 1" : " 0"));
    tell_("line " + (good ? good_text : bad_text));
  }
  static void require(bool good, const FmuInstance& instance) {
    if (!good) throw SimulationError(instance.failure());
  }
  std::unique_ptr<FmuInstance> initialized();
  std::unique_ptr<FmuInstance> stepping();
  std::vector<double> step(FmuInstance& instance, double time);
  void step_by_itself(FmuInstance& instance, double time);
  void step_by_euler(FmuInstance& instance, double time);
  void handle_event(FmuInstance& instance);
  void iterate_events(FmuInstance& instance);
  std::vector<double> all_values(FmuInstance& instance);
  void try_stepping();
  void try_rollback();
  void try_input_derivatives();
  void try_directional();
  std::vector<double> outputs_for(FmuInstance& instance, const std::vector<double>& u);

  const FmuSetup& setup_;
  const Tell& tell_;
  double start_ = 0.0, stop_ = 1.0, size_ = 1e-3;
  double next_event_ = std::numeric_limits<double>::infinity();
  std::vector<double> u_;
};

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

/// In initialisation mode.
std::unique_ptr<FmuInstance> Trials::initialized() {
  auto instance = FmuInstance::make(setup_.source());
  require(begin_initialization(setup_, *instance, start_, stop_,
                               setup_.model->tolerance.value_or(0.0)) &&
              instance->set(setup_.inputs, u_),
          *instance);
  return instance;
}

/// In step mode or continuous-time mode.
std::unique_ptr<FmuInstance> Trials::stepping() {
  auto instance = initialized();
  require(instance->leave_initialization(), *instance);
  EventOutcome outcome{};
  if (setup_.role == FmuRole::model_exchange)
    iterate_events(*instance);
  else if (setup_.interface().event_mode)
    require(instance->update_discrete_states(outcome) && instance->enter_step_mode(), *instance);
  return instance;
}

/// Outputs, exposed states, derivatives and event indicators after a step from `time`.
std::vector<double> Trials::step(FmuInstance& instance, double time) {
  if (setup_.role == FmuRole::co_simulation)
    step_by_itself(instance, time);
  else
    step_by_euler(instance, time);
  return all_values(instance);
}

void Trials::step_by_itself(FmuInstance& instance, double time) {
  double reached = time;
  bool event = false;
  const StepEnd end = instance.do_step(time, size_, false, reached, event);
  if (end != StepEnd::completed) throw SimulationError("a step did not end as it should");
}

void Trials::step_by_euler(FmuInstance& instance, double time) {
  std::vector<double> x(setup_.states.size()), dxdt(x.size());
  bool event = false, terminate = false;
  require(instance.get_states(x) && instance.get_derivatives(dxdt), instance);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += size_ * dxdt[i];
  require(instance.set_time(time + size_) && instance.set_states(x) &&
              instance.completed_step(false, event, terminate),
          instance);
}

/// Model exchange: an event, at its time where the FMU has named one, may change what is no
/// continuous state.
void Trials::handle_event(FmuInstance& instance) {
  if (setup_.role == FmuRole::co_simulation) return;
  if (std::isfinite(next_event_)) require(instance.set_time(next_event_), instance);
  require(instance.enter_event_mode(), instance);
  iterate_events(instance);
}

/// From event mode to continuous-time mode.
void Trials::iterate_events(FmuInstance& instance) {
  EventOutcome outcome{};
  require(instance.update_discrete_states(outcome) && instance.enter_continuous_time(), instance);
  next_event_ = outcome.next_time;
}

std::vector<double> Trials::all_values(FmuInstance& instance) {
  std::vector<double> values(setup_.outputs.size()), x(setup_.states.size());
  require(instance.get(setup_.outputs, values) && instance.get(setup_.states, x), instance);
  values.insert(values.end(), x.begin(), x.end());
  if (setup_.role == FmuRole::co_simulation) return values;
  std::vector<double> dxdt(x.size()), z(setup_.model->event_indicators);
  require(instance.get_derivatives(dxdt) && instance.get_event_indicators(z), instance);
  values.insert(values.end(), dxdt.begin(), dxdt.end());
  values.insert(values.end(), z.begin(), z.end());
  return values;
}

void Trials::try_stepping() {
  doing("instantiating and initialising it");
  const auto instance = stepping();
  doing("stepping it");
  step(*instance, start_);
}

void Trials::try_rollback() {
  doing("saving and restoring its state");
  const auto instance = stepping();
  step(*instance, start_);
  void* state = nullptr;
  require(instance->get_state(state), *instance);
  const auto first = step(*instance, start_ + size_);
  handle_event(*instance);
  if (setup_.role == FmuRole::co_simulation) step(*instance, start_ + 2 * size_);
  require(instance->set_state(state), *instance);
  found("rollback", same_bits(first, step(*instance, start_ + size_)),
        "rollback: claimed; the same step after a restore gives the same bits",
        "rollback: claimed, but the same step after a restore gives OTHER values");
  if (setup_.interface().serializes) {
    doing("serialising its state");
    std::vector<char> bytes;
    void* copy = nullptr;
    require(instance->serialize(state, bytes) && instance->deserialize(bytes, copy) &&
                instance->set_state(copy),
            *instance);
    found("serializes", same_bits(first, step(*instance, start_ + size_)),
          "serialising: claimed; a state that was serialised gives the same bits",
          "serialising: claimed, but a state that was serialised gives OTHER values");
    instance->free_state(copy);
    tell_("state " + in_hex(std::as_bytes(std::span(bytes))));
    tell_("values " + in_hex(std::as_bytes(std::span(first))));
  }
  instance->free_state(state);
}

void Trials::continue_from(const SerializedState& state) {
  doing("continuing from a serialised state in a new process");
  const auto instance = stepping();
  const std::vector<char> bytes = from_hex<char>(state.bytes);
  void* copy = nullptr;
  require(instance->deserialize(bytes, copy) && instance->set_state(copy), *instance);
  found("serializes", same_bits(from_hex<double>(state.values), step(*instance, start_ + size_)),
        "serialising: a new process goes on from the state with the same bits",
        "serialising: a new process that goes on from the state gives OTHER values");
  instance->free_state(copy);
}

/// Derivatives that would move an input by its own size over the step.
void Trials::try_input_derivatives() {
  const auto response = [&](int order) {
    const auto instance = stepping();
    require(instance->set(setup_.inputs, u_), *instance);
    const double scale = order == 0 ? 0.0 : std::tgamma(order + 1.0) / std::pow(size_, order);
    for (const FmuPorts::Item& item : setup_.inputs.items()) {
      if (item.type != FmiType::float64 || order == 0) continue;
      const double value[] = {scale * std::max(1.0, std::abs(u_[item.first]))};
      const FmiReference reference[] = {item.reference};
      const int orders[] = {order};
      if (!instance->set_input_derivatives(reference, orders, value)) return std::vector<double>{};
    }
    return step(*instance, start_);
  };
  doing("stepping with input derivatives");
  const auto apart = [&](int order) {
    return computed_apart(longest_computation, [&] { return response(order); });
  };
  const auto without = apart(0);
  int honoured = 0;
  for (int order = 1; order <= 3; ++order) {
    const auto with = apart(order);
    if (with.empty() || same_bits(with, without)) break;
    honoured = order;
  }
  tell_("input_order " + std::to_string(honoured));
  tell_("line input derivatives: claimed; honoured up to order " + std::to_string(honoured));
}

std::vector<double> Trials::outputs_for(FmuInstance& instance, const std::vector<double>& u) {
  std::vector<double> y(setup_.outputs.size());
  require(instance.set(setup_.inputs, u) && instance.get(setup_.outputs, y), instance);
  return y;
}

/// d outputs / d inputs in initialisation mode, where values may be read for any inputs.
void Trials::try_directional() {
  doing("asking for directional derivatives");
  const auto instance = initialized();
  const auto inputs = setup_.inputs.references(), outputs = setup_.outputs.references();
  if (inputs.size() != u_.size() || outputs.size() != setup_.outputs.size()) return;
  double worst = 0.0;
  std::vector<double> column(outputs.size());
  const double seed[] = {1.0};
  for (std::size_t j = 0; j < inputs.size(); ++j) {
    std::vector<double> low = u_, high = u_;
    const double move = 1e-5 * std::max(1.0, std::abs(u_[j]));
    low[j] -= move;
    high[j] += move;
    require(instance->directional_derivative(outputs, inputs.subspan(j, 1), seed, column),
            *instance);
    const auto below = outputs_for(*instance, low), above = outputs_for(*instance, high);
    require(instance->set(setup_.inputs, u_), *instance);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const double difference = (above[i] - below[i]) / (2 * move);
      worst =
          std::max(worst, std::abs(column[i] - difference) / std::max(1.0, std::abs(difference)));
    }
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", worst);
  found(
      "directional", worst < 1e-3,
      std::string("directional derivatives: claimed; they agree with differences to ") + text,
      std::string("directional derivatives: claimed, but they DIFFER from differences by ") + text);
}

}  // namespace

std::vector<FmuTrial> claimed_trials(const FmuSetup& setup) {
  const FmiInterface& interface = setup.interface();
  const bool inputs = !setup.description.inputs.empty();
  std::vector<FmuTrial> trials;
  if (interface.state) trials.push_back(FmuTrial::rollback);
  if (setup.role == FmuRole::co_simulation && interface.interpolates && inputs)
    trials.push_back(FmuTrial::input_derivatives);
  if (interface.directional && inputs) trials.push_back(FmuTrial::directional);
  return trials;
}

void run_probe_trial(FmuTrial trial, const FmuSetup& setup, const SerializedState& state,
                     const Tell& tell) {
  Trials(setup, tell).run(trial, state);
}

}  // namespace concord
