#include "subsystem/isolated/isolated_subsystem.hpp"

#include <algorithm>
#include <utility>

#include "subsystem/isolated/isolated.hpp"
#include "support/wording.hpp"

namespace concord {

IsolatedSubsystem::IsolatedSubsystem(std::unique_ptr<RemoteSubsystem> remote,
                                     const SubsystemDescription& description,
                                     SubsystemDescription made)
    : Subsystem(description), remote_(std::move(remote)) {
  made.name = description_.name;
  made.remarks = description_.remarks;
  made.one_per_process.clear();
  description_ = std::move(made);
}

void IsolatedSubsystem::take_status() {
  const CallStatus& status = remote_->status();
  description_.events = status.events;
  description_.capabilities = status.capabilities;
  counters_ = status.counters;
  counters_.revived = remote_->process().revived;
  states_known_ = false;
}

template <class... Arguments>
MessageReader IsolatedSubsystem::ask(RemoteFunction function, const Arguments&... arguments) {
  MessageReader answer = remote_->call(function, arguments...);
  take_status();
  return answer;
}

template <class... Results, class... Arguments>
Outcome IsolatedSubsystem::attempt(RemoteFunction function, std::tuple<Results&...> results,
                                   const Arguments&... arguments) {
  try {
    MessageReader answer = ask(function, arguments...);
    if (remote_->status().ending == Ending::failed) {
      answer.take(failure_);
      return Outcome::failed;
    }
    std::apply([&](auto&... each) { answer.take(each...); }, results);
    return Outcome::ok;
  } catch (const DiedAgain& end) {
    counters_.revived = remote_->process().revived;
    failure_ = end.what();
    return Outcome::failed;
  }
}

void IsolatedSubsystem::stand_at(double t) {
  now_ = t;
  remote_->process().stand_at(t);
}

void IsolatedSubsystem::note_use(std::span<const char> fed, std::span<const char> looked_at) {
  ask(RemoteFunction::note_use, fed, looked_at);
}

void IsolatedSubsystem::start(const MacroStep& first, double stop) {
  stand_at(first.begin);
  ask(RemoteFunction::start, first, stop);
}

Outcome IsolatedSubsystem::end_initialization(std::span<const Sample> inputs) {
  return attempt(RemoteFunction::end_initialization, {}, inputs);
}

void IsolatedSubsystem::enter(const SmoothInterval& interval) {
  ask(RemoteFunction::enter, interval);
}

Outcome IsolatedSubsystem::advance(const MacroStep& step, std::span<const Polynomial> inputs,
                                   InputContinuity continuity, Wanted wanted,
                                   std::span<Sample> outputs) {
  if (!is_saved_) remote_->process().take_copy();
  const Outcome outcome = attempt(RemoteFunction::advance, std::tie(outputs, integration_errors_),
                                  step, continuity, wanted, inputs);
  if (outcome == Outcome::ok) stand_at(step.end);
  return outcome;
}

Outcome IsolatedSubsystem::follow(const MacroStep& step, std::span<const Polynomial> inputs,
                                  const IntegratedWay& way) {
  if (!is_saved_) remote_->process().take_copy();
  const Outcome outcome = attempt(RemoteFunction::follow, std::tie(integration_errors_), step,
                                  inputs, way.shares, way.states, way.errors);
  if (outcome == Outcome::ok) stand_at(step.end);
  return outcome;
}

Outcome IsolatedSubsystem::point_outputs(std::span<const Sample> inputs, Wanted wanted,
                                         std::span<Sample> outputs) {
  return attempt(RemoteFunction::point_outputs, std::tie(outputs), wanted, inputs);
}

Outcome IsolatedSubsystem::output_curvatures(std::span<const Sample> inputs,
                                             std::span<double> result) {
  return attempt(RemoteFunction::output_curvatures, std::tie(result), inputs);
}

std::span<const double> IsolatedSubsystem::states() const {
  if (!states_known_ && !description_.states.empty())
    remote_->call(RemoteFunction::states).take(states_);
  states_known_ = true;
  return states_;
}

Outcome IsolatedSubsystem::state_derivatives(std::span<const Sample> inputs,
                                             std::span<double> result) {
  return attempt(RemoteFunction::state_derivatives, std::tie(result), inputs);
}

Outcome IsolatedSubsystem::linearize(std::span<const Sample> inputs, Linearization& result) {
  return attempt(RemoteFunction::linearize, std::tie(result), inputs);
}

bool IsolatedSubsystem::keeps(const Linearization& known, std::span<const Sample> inputs) {
  return ask(RemoteFunction::keeps, known, inputs).taken<bool>();
}

Outcome IsolatedSubsystem::derivatives_at(const StatePoint& point, std::span<double> result) {
  return attempt(RemoteFunction::derivatives_at, std::tie(result), point);
}

Outcome IsolatedSubsystem::outputs_at(const StatePoint& point, std::span<Sample> outputs) {
  return attempt(RemoteFunction::outputs_at, std::tie(outputs), point);
}

Outcome IsolatedSubsystem::linearize_at(const StatePoint& point, Linearization& result) {
  const std::vector<double> f_t = result.f_t, g_t = result.g_t;
  const Outcome outcome = attempt(RemoteFunction::linearize_at, std::tie(result), point);
  result.f_t = f_t;
  result.g_t = g_t;
  return outcome;
}

Outcome IsolatedSubsystem::output_curvatures_at(const StatePoint& point, std::span<double> result) {
  return attempt(RemoteFunction::output_curvatures_at, std::tie(result), point);
}

Outcome IsolatedSubsystem::retrace(const MacroStep& step, std::span<const Polynomial> inputs,
                                   std::span<double> states, std::span<Sample> outputs) {
  return attempt(RemoteFunction::retrace, std::tie(states, outputs), step, inputs, states);
}

double IsolatedSubsystem::next_event(std::span<const Sample> inputs) {
  return ask(RemoteFunction::next_event, inputs).taken<double>();
}

Outcome IsolatedSubsystem::happen(EventPass pass, std::span<const Sample> inputs, double slack,
                                  EventChange& change, std::vector<Happening>& what) {
  return attempt(RemoteFunction::happen, std::tie(change, what), pass, slack, inputs);
}

Outcome IsolatedSubsystem::set_parameter(std::size_t parameter, double value) {
  return attempt(RemoteFunction::set_parameter, {}, parameter, value);
}

std::optional<double> IsolatedSubsystem::parameter(std::size_t parameter) {
  return remote_->call(RemoteFunction::parameter, parameter).taken<std::optional<double>>();
}

void IsolatedSubsystem::save() {
  is_saved_ = true;
  remote_->process().take_copy();
  ask(RemoteFunction::save);
  saved_ = now_;
}

void IsolatedSubsystem::restore() {
  ask(RemoteFunction::restore);
  stand_at(saved_);
}

bool IsolatedSubsystem::io(Archive& archive) {
  std::vector<std::byte> memory;
  std::int64_t& revived = remote_->process().revived;
  if (archive.reading()) CONCORD_MEMBERS(archive, memory, now_, revived);
  MessageReader answer = archive.reading() ? ask(RemoteFunction::read_memory, memory)
                                           : ask(RemoteFunction::write_memory);
  const bool passed = answer.taken<bool>();
  answer.take(failure_);
  if (!passed) return false;
  if (archive.reading()) {
    stand_at(now_);
    is_saved_ = false;
    remote_->process().know_copy(std::move(memory));
    counters_.revived = revived;
  } else {
    answer.take(memory);
    CONCORD_MEMBERS(archive, memory, now_, revived);
  }
  return true;
}

bool IsolatedSubsystem::start_from(double t, std::span<const double> x,
                                   std::span<const std::byte> memory) {
  MessageReader answer = ask(RemoteFunction::start_from, t, x, memory);
  const bool begun = answer.taken<bool>();
  answer.take(failure_);
  return begun;
}

OdeModel* IsolatedSubsystem::equations() {
  if (!remote_->status().equations) return nullptr;
  if (!model_) model_ = std::make_unique<RemoteModel>(*remote_);
  return model_.get();
}

bool IsolatedSubsystem::complete_step(double t, std::span<const double> x,
                                      std::span<const double> u) {
  return ask(RemoteFunction::complete_step, t, x, u).taken<bool>();
}

void IsolatedSubsystem::put_out(std::span<Texts> texts) {
  std::vector<Texts> given;
  ask(RemoteFunction::put_out_texts, texts.size()).take(given);
  if (given.size() != texts.size())
    throw SimulationError("a message of another process is damaged");
  std::ranges::move(given, texts.begin());
}

void IsolatedSubsystem::take(std::span<const Texts> texts) {
  ask(RemoteFunction::take_texts, std::vector<Texts>(texts.begin(), texts.end()));
}

std::vector<Graze> IsolatedEvents::grazes(std::span<const Sample> inputs) {
  return ask(RemoteFunction::grazes, inputs).taken_list<Graze>();
}

double IsolatedEvents::take_errors(std::span<const Sample> inputs, const Motion& errors,
                                   std::span<const double> discrete) {
  if (!description_.events) return 0.0;
  return ask(RemoteFunction::take_errors, inputs, errors.dxdt, errors.dudt, discrete)
      .taken<double>();
}

std::span<const Jump> IsolatedEvents::jumps() const {
  jumps_.clear();
  if (description_.events) remote_->call(RemoteFunction::jumps).take(jumps_);
  return jumps_;
}

std::size_t IsolatedEvents::discrete_count() const {
  return remote_->call(RemoteFunction::discrete_count).taken<std::size_t>();
}

bool IsolatedEvents::pass_discrete(std::span<const Sample> inputs, std::span<const double> errors,
                                   std::span<double> f, std::span<double> g) {
  MessageReader answer = ask(RemoteFunction::pass_discrete, inputs, errors);
  const bool known = answer.taken<bool>();
  answer.take(f, g);
  return known;
}

SubsystemDescription isolated_description(SubsystemDescription description, const Recipe& recipe,
                                          const IsolationOptions& options) {
  description.one_per_process.clear();
  description.remarks.push_back(
      (recipe.served() != nullptr ? "in " + in_words(*recipe.served()->remote)
                                  : "isolated: in a process of its own") +
      (options.call_limit > 0.0
           ? ", whose calls may take " + short_number(options.call_limit) + " s"
           : ""));
  return description;
}

SubsystemInterface described_in_isolation(const Recipe& recipe, const IsolationOptions& options,
                                          KeptProcess& kept) {
  Recipe asked = recipe;
  auto process = kept.take();
  if (!process) process = begin_place(asked, options);
  Archive written;
  asked.io(written);
  MessageWriter request;
  request.put(RemoteFunction::describe, written.bytes());
  CallStatus status;
  auto answer = process->call(request.bytes(), status);
  if (!answer) throw ForeignEnd(process->last_words());
  rethrow(status.ending, *answer);
  Archive read(answer->taken_list<std::byte>());
  kept.keep(std::move(process));
  SubsystemInterface interface;
  pass(read, interface);
  return interface;
}

std::unique_ptr<Subsystem> make_isolated_subsystem(Recipe recipe,
                                                   const SubsystemDescription& description,
                                                   const IsolationOptions& options,
                                                   std::shared_ptr<KeptProcess> kept) {
  if (CallLog::current() && recipe.served() == nullptr) recipe.calls = CallLog::current()->place();
  SubsystemDescription made;
  auto remote =
      std::make_unique<RemoteSubsystem>(std::move(recipe), options, std::move(kept), made);
  if (remote->call(RemoteFunction::tells_grazes).taken<bool>())
    return std::make_unique<IsolatedEvents>(std::move(remote), description, std::move(made));
  return std::make_unique<IsolatedSubsystem>(std::move(remote), description, std::move(made));
}

}  // namespace concord
