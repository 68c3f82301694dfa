#include "subsystem/fmu/probe/probe_trials.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <span>

#include "concord/errors.hpp"
#include "files/child_process.hpp"

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
  Trials(const FmuSetup& setup, const Tell& tell)
      : setup_(setup),
        tell_(tell),
        inputs_(setup.ports(setup.input_variables)),
        outputs_(setup.ports(setup.output_variables)) {
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
  void begin_steps(FmuInstance& instance);
  std::vector<double> step(FmuInstance& instance, double time, bool no_rollback = false);
  void step_by_itself(FmuInstance& instance, double time, bool no_rollback);
  void step_by_euler(FmuInstance& instance, double time);
  void handle_event(FmuInstance& instance);
  void iterate_events(FmuInstance& instance);
  std::vector<double> all_values(FmuInstance& instance);
  bool moves_while_it_may_be_set_back();
  void try_stepping();
  void try_rollback();
  void try_input_derivatives();
  void try_directional();
  void require_later_directional(FmuInstance& instance, std::vector<double>& result);
  std::vector<double> outputs_for(FmuInstance& instance, const std::vector<double>& u);

  const FmuSetup& setup_;
  const Tell& tell_;
  FmuPorts inputs_, outputs_;
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
  FmuUse use = setup_.use;
  auto instance = make_instance(setup_, use);
  require(begin_initialization(setup_, *instance, start_, stop_,
                               setup_.model->tolerance.value_or(0.0)) &&
              instance->set(inputs_, u_),
          *instance);
  return instance;
}

/// In step mode or continuous-time mode.
std::unique_ptr<FmuInstance> Trials::stepping() {
  auto instance = initialized();
  begin_steps(*instance);
  return instance;
}

void Trials::begin_steps(FmuInstance& instance) {
  EventOutcome outcome;
  require(end_initialization(setup_, instance, outcome), instance);
  next_event_ = outcome.next_time;
}

/// Outputs, exposed states, derivatives and event indicators after a step from `time`.
std::vector<double> Trials::step(FmuInstance& instance, double time, bool no_rollback) {
  if (setup_.role == FmuRole::co_simulation)
    step_by_itself(instance, time, no_rollback);
  else
    step_by_euler(instance, time);
  return all_values(instance);
}

void Trials::step_by_itself(FmuInstance& instance, double time, bool no_rollback) {
  double reached = time;
  bool event = false;
  const StepEnd end = instance.do_step(time, size_, no_rollback, reached, event);
  if (end != StepEnd::completed) throw SimulationError("a step did not end as it should");
}

void Trials::step_by_euler(FmuInstance& instance, double time) {
  std::vector<double> x(setup_.description.states.size()), dxdt(x.size());
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
  EventOutcome outcome;
  require(concord::iterate_events(instance, outcome), instance);
  next_event_ = outcome.next_time;
}

std::vector<double> Trials::all_values(FmuInstance& instance) {
  std::vector<double> values(setup_.description.outputs.size()),
      x(setup_.description.states.size());
  require(instance.get(outputs_, values) && instance.get(setup_.states, x), instance);
  values.insert(values.end(), x.begin(), x.end());
  if (setup_.role == FmuRole::co_simulation) return values;
  std::vector<double> dxdt(x.size()), z(setup_.model->event_indicators);
  require(instance.get_derivatives(dxdt) && instance.get_event_indicators(z), instance);
  values.insert(values.end(), dxdt.begin(), dxdt.end());
  values.insert(values.end(), z.begin(), z.end());
  return values;
}

/// Some FMUs stand still as long as they may be set back.
bool Trials::moves_while_it_may_be_set_back() {
  if (setup_.role == FmuRole::model_exchange) return true;
  const auto apart = [&](const std::function<std::vector<double>(FmuInstance&)>& values) {
    return computed_apart(longest_computation, [&] { return values(*stepping()); });
  };
  const auto before = apart([&](FmuInstance& instance) { return all_values(instance); });
  const auto careful = apart([&](FmuInstance& instance) { return step(instance, start_); });
  if (!same_bits(before, careful)) return true;
  const auto free = apart([&](FmuInstance& instance) { return step(instance, start_, true); });
  return same_bits(before, free);
}

void Trials::try_stepping() {
  doing("instantiating and initialising it");
  const auto instance = initialized();
  const std::string lost = values_not_kept(setup_, *instance);
  if (!lost.empty()) tell_("line values that it is given: NOT KEPT: " + lost);
  begin_steps(*instance);
  doing("stepping it");
  step(*instance, start_);
}

void Trials::try_rollback() {
  doing("saving and restoring its state");
  if (!moves_while_it_may_be_set_back()) {
    tell_("rollback 0");
    tell_("line rollback: claimed, but the FMU STANDS STILL as long as it may be set back");
    return;
  }
  const auto instance = stepping();
  step(*instance, start_);
  FmuSnapshot state(*instance);
  require(instance->save(state), *instance);
  const auto first = step(*instance, start_ + size_);
  handle_event(*instance);
  if (setup_.role == FmuRole::co_simulation) step(*instance, start_ + 2 * size_);
  require(instance->restore(state), *instance);
  found("rollback", same_bits(first, step(*instance, start_ + size_)),
        "rollback: claimed; the same step after a restore gives the same bits",
        "rollback: claimed, but the same step after a restore gives OTHER values");
  if (!setup_.use.serializes) return;
  doing("serialising its state");
  std::vector<char> bytes;
  FmuSnapshot copy(*instance);
  require(instance->serialize(state, bytes) &&
              instance->deserialize(bytes, instance->mode(), copy) && instance->restore(copy),
          *instance);
  found("serializes", same_bits(first, step(*instance, start_ + size_)),
        "serialising: claimed; a state that was serialised gives the same bits",
        "serialising: claimed, but a state that was serialised gives OTHER values");
  tell_("state " + in_hex(std::as_bytes(std::span(bytes))));
  tell_("values " + in_hex(std::as_bytes(std::span(first))));
}

void Trials::continue_from(const SerializedState& state) {
  doing("continuing from a serialised state in a new process");
  const auto instance = stepping();
  const std::vector<char> bytes = from_hex<char>(state.bytes);
  FmuSnapshot copy(*instance);
  require(instance->deserialize(bytes, instance->mode(), copy) && instance->restore(copy),
          *instance);
  found("serializes", same_bits(from_hex<double>(state.values), step(*instance, start_ + size_)),
        "serialising: a new process goes on from the state with the same bits",
        "serialising: a new process that goes on from the state gives OTHER values");
}

/// Derivatives that would move an input by its own size over the step.
void Trials::try_input_derivatives() {
  const auto response = [&](int order) {
    const auto instance = stepping();
    require(instance->set(inputs_, u_), *instance);
    const double scale = order == 0 ? 0.0 : std::tgamma(order + 1.0) / std::pow(size_, order);
    std::vector<double> derivatives(u_.size());
    for (std::size_t i = 0; i < u_.size(); ++i)
      derivatives[i] = scale * std::max(1.0, std::abs(u_[i]));
    if (order > 0 && !instance->set_input_derivatives(inputs_, order, derivatives))
      return std::vector<double>{};
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
  std::vector<double> y(setup_.description.outputs.size());
  require(instance.set(inputs_, u) && instance.get(outputs_, y), instance);
  return y;
}

/// Some FMUs have them while they initialise only.
void Trials::require_later_directional(FmuInstance& instance, std::vector<double>& result) {
  begin_steps(instance);
  step(instance, start_);
  const std::size_t n_out = setup_.description.outputs.size();
  require(instance.partial(outputs_, n_out, inputs_, u_.size(), result), instance);
}

/// d outputs / d inputs in initialisation mode, where values may be read for any inputs.
void Trials::try_directional() {
  doing("asking for directional derivatives");
  const auto instance = initialized();
  const std::size_t n_in = u_.size(), n_out = setup_.description.outputs.size();
  std::vector<double> found_here(n_in * n_out);
  require(instance->partial(outputs_, n_out, inputs_, n_in, found_here), *instance);
  double worst = 0.0;
  for (const FmuPorts::Real& input : inputs_.reals())
    for (std::size_t j = input.first; j < input.first + input.count; ++j) {
      std::vector<double> low = u_, high = u_;
      const double move = 1e-5 * std::max(1.0, std::abs(u_[j]));
      low[j] -= move;
      high[j] += move;
      const auto below = outputs_for(*instance, low), above = outputs_for(*instance, high);
      require(instance->set(inputs_, u_), *instance);
      for (const FmuPorts::Real& output : outputs_.reals())
        for (std::size_t i = output.first; i < output.first + output.count; ++i) {
          const double difference = (above[i] - below[i]) / (2 * move);
          worst = std::max(worst, std::abs(found_here[i * n_in + j] - difference) /
                                      std::max(1.0, std::abs(difference)));
        }
    }
  doing("asking for directional derivatives after a step");
  require_later_directional(*instance, found_here);
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", worst);
  found(
      "directional", worst < 1e-3,
      std::string("directional derivatives: claimed; they agree with differences to ") + text,
      std::string("directional derivatives: claimed, but they DIFFER from differences by ") + text);
}

}  // namespace

std::vector<FmuTrial> claimed_trials(const FmuSetup& setup) {
  const FmuUse& use = setup.use;
  const bool inputs = !setup.description.inputs.empty();
  std::vector<FmuTrial> trials;
  if (use.state) trials.push_back(FmuTrial::rollback);
  if (use.input_order > 0 && inputs) trials.push_back(FmuTrial::input_derivatives);
  if (use.directional && inputs) trials.push_back(FmuTrial::directional);
  return trials;
}

void run_probe_trial(FmuTrial trial, const FmuSetup& setup, const SerializedState& state,
                     const Tell& tell) {
  Trials(setup, tell).run(trial, state);
}

}  // namespace concord
