#include "subsystem/fmu/clocks/clocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "concord/errors.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What separates an instant from the tick that falls on it.
double rounding_at(double t, double tick) {
  constexpr double rounding = 16.0 * std::numeric_limits<double>::epsilon();
  return rounding * std::max(std::abs(t), std::abs(tick));
}

std::uint64_t priority_of(const FmiVariable& variable) {
  constexpr std::uint64_t last = std::numeric_limits<std::uint32_t>::max();
  return variable.clock->priority ? *variable.clock->priority : last + 1;
}

bool is_clocked_by(const FmiVariable& variable, std::size_t clock) {
  return std::ranges::find(variable.clocks, clock) != variable.clocks.end();
}

}  // namespace

FmuClocks::FmuClocks(const ClockedVariables& variables)
    : fmu_(variables.fmu), input_variables_(&variables.inputs), version_(variables.model.version) {
  for (std::size_t i = 0; i < variables.model.variables.size(); ++i) {
    const FmiVariable& variable = variables.model.variables[i];
    if (!variable.clock) continue;
    if (variable.causality == FmiCausality::input) inputs_.push_back({&variable, i});
    if (variable.causality == FmiCausality::output) outputs_.push_back({&variable, i});
  }
  std::ranges::stable_sort(inputs_, {}, [](const Clock& c) { return priority_of(*c.variable); });
  for (Clock& clock : inputs_)
    (clock.variable->clock->is_time_based() ? clock.pace : clock.calls) =
        clock.variable->clock->is_time_based() ? n_paces_++ : n_calls_++;
  add_clocked(variables.outputs);
  add_texts(variables);
  std::size_t first = 0;
  for (const FmiVariable* variable : variables.inputs) {
    for (Clock& clock : inputs_)
      if (clock.variable == variable) clock.place = first;
    if (changes_at_ticks(*variable))
      for (std::size_t i = 0; i < variable->size; ++i) sampled_.push_back(first + i);
    first += variable->size;
  }
  note_use(std::vector<char>(first, 1));
}

void FmuClocks::add_clocked(const std::vector<const FmiVariable*>& outputs) {
  for (auto* clocks : {&inputs_, &outputs_})
    for (Clock& clock : *clocks) clock.clocked_outputs = FmuPorts(version_);
  for (const FmiVariable* variable : outputs) {
    for (Clock& clock : outputs_)
      if (clock.variable == variable) clock.place = n_outputs_;
    for (Clock& clock : inputs_)
      if (clock.variable == variable) clock.told = n_outputs_;
    for (auto* clocks : {&inputs_, &outputs_})
      for (Clock& clock : *clocks)
        if (!variable->clock && is_clocked_by(*variable, clock.index))
          clock.clocked_outputs.add(*variable, n_outputs_);
    if (changes_at_ticks(*variable))
      for (std::size_t i = 0; i < variable->size; ++i) held_.push_back(n_outputs_ + i);
    n_outputs_ += variable->size;
  }
}

void FmuClocks::add_texts(const ClockedVariables& variables) {
  const auto add = [&](const std::vector<const FmiVariable*>& some, std::vector<Text> Clock::*texts,
                       std::size_t& count) {
    for (const FmiVariable* variable : some) {
      for (auto* clocks : {&inputs_, &outputs_})
        for (Clock& clock : *clocks)
          if (is_clocked_by(*variable, clock.index)) (clock.*texts).push_back({variable, count});
      count += variable->size;
    }
  };
  add(variables.text_inputs, &Clock::text_inputs, n_text_inputs_);
  add(variables.text_outputs, &Clock::text_outputs, n_text_outputs_);
}

void FmuClocks::note_use(std::span<const char> fed) {
  for (auto* clocks : {&inputs_, &outputs_})
    for (Clock& clock : *clocks) clock.clocked_inputs = FmuPorts(version_);
  std::size_t first = 0;
  for (const FmiVariable* variable : *input_variables_) {
    const auto own = fed.empty() ? fed : fed.subspan(first, variable->size);
    const bool some = fed.empty() || std::ranges::any_of(own, [](char one) { return one != 0; });
    for (auto* clocks : {&inputs_, &outputs_})
      for (Clock& clock : *clocks)
        if (some && !variable->clock && is_clocked_by(*variable, clock.index))
          clock.clocked_inputs.add(*variable, first);
    first += variable->size;
  }
}

ClockMemory FmuClocks::memory() const {
  ClockMemory result;
  result.paces.resize(n_paces_);
  result.calls.resize(n_calls_);
  result.last.resize(inputs_.size(), -infinity);
  result.held.resize(n_outputs_);
  result.said.resize(n_text_outputs_);
  result.heard.resize(n_text_inputs_);
  result.texts.resize(n_text_inputs_);
  return result;
}

void FmuClocks::fail(const Clock& clock, const std::string& problem, double t) const {
  throw SimulationError("the clock " + in_quotes(clock.variable->name) + " of the FMU " + fmu_ +
                        " " + problem + " at t = " + short_number(t) + " s");
}

bool FmuClocks::set_inputs(FmuInstance& instance, std::span<const double> u) const {
  const auto set = [&](const Clock& clock) { return instance.set(clock.clocked_inputs, u); };
  return std::ranges::all_of(inputs_, set) && std::ranges::all_of(outputs_, set);
}

bool FmuClocks::read_outputs(FmuInstance& instance, ClockMemory& memory) const {
  const auto read = [&](const Clock& clock) {
    return instance.get(clock.clocked_outputs, memory.held);
  };
  return std::ranges::all_of(inputs_, read) && std::ranges::all_of(outputs_, read);
}

double FmuClocks::next(const ClockMemory& memory) const {
  double result = infinity;
  for (const ClockPace& pace : memory.paces) result = std::min(result, pace.next());
  return result;
}

bool FmuClocks::called(std::span<const double> u, const ClockMemory& memory) const {
  return std::ranges::any_of(inputs_, [&](const Clock& clock) {
    return clock.calls != none && std::nearbyint(u[clock.place]) > memory.calls[clock.calls];
  });
}

bool FmuClocks::is_due(const Clock& clock, double t, std::span<const double> u,
                       const ClockMemory& memory) const {
  if (clock.calls != none) return std::nearbyint(u[clock.place]) > memory.calls[clock.calls];
  const double next = memory.paces[clock.pace].next();
  return std::isfinite(next) && next <= t + rounding_at(t, next);
}

/// k: its place among input clocks. One that ticks so often that nothing lies between two ticks has
/// them at one instant, which periodic ones may not.
void FmuClocks::tick(const Clock& clock, std::size_t k, double t, std::span<const double> u,
                     ClockMemory& memory) const {
  memory.last[k] = t;
  if (clock.told != none) memory.held[clock.told] += 1.0;
  if (clock.calls != none) {
    memory.calls[clock.calls] += 1.0;
    return;
  }
  ClockPace& pace = memory.paces[clock.pace];
  pace.n += 1.0;
  if (!clock.variable->clock->is_periodic())
    pace.known = 0.0;
  else if (is_due(clock, t, u, memory))
    fail(clock,
         "ticks every " + short_number(pace.interval / pace.resolution) +
             " s, but the FMU takes one step size, within which it is to tick twice (choose a "
             "-cosim_step that is no longer than the interval),",
         t);
}

/// Of texts that came for ticks that have been and for `to_come` others the first; where there are
/// more than ticks, what is older is passed over.
bool FmuClocks::set_texts(FmuInstance& instance, const Clock& clock, std::size_t to_come,
                          ClockMemory& memory) {
  for (const auto& [variable, first] : clock.text_inputs) {
    bool any = false;
    for (std::size_t i = first; i < first + variable->size; ++i) {
      std::vector<std::string>& heard = memory.heard[i];
      if (heard.empty()) continue;
      const std::size_t now = heard.size() - std::min(heard.size(), to_come + 1);
      memory.texts[i] = std::move(heard[now]);
      heard.erase(heard.begin(), heard.begin() + static_cast<std::ptrdiff_t>(now) + 1);
      any = true;
    }
    if (any &&
        !instance.put_texts(*variable, std::span(memory.texts).subspan(first, variable->size)))
      return false;
  }
  return true;
}

bool FmuClocks::set_clocked(FmuInstance& instance, const std::vector<Clock>& clocks,
                            const Active& active, std::span<const double> u,
                            ClockMemory& memory) const {
  for (std::size_t k = 0; k < clocks.size(); ++k) {
    const Clock& clock = clocks[k];
    if (active[k] == 0) continue;
    const double to_come =
        clock.calls == none ? 0.0 : std::nearbyint(u[clock.place]) - memory.calls[clock.calls];
    if (!instance.set(clock.clocked_inputs, u) ||
        !set_texts(instance, clock, static_cast<std::size_t>(std::max(to_come, 0.0)), memory))
      return false;
  }
  return true;
}

/// An output clock that is clocked itself may be asked for while one of its clocks ticks.
bool FmuClocks::get_ticks(FmuInstance& instance, const Active& active, Active& ticked,
                          ClockMemory& memory) const {
  ticked.assign(outputs_.size(), 0);
  std::vector<FmiReference> asked;
  std::vector<std::size_t> who;
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    const FmiVariable& variable = *outputs_[k].variable;
    bool may_tick = variable.clocks.empty();
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      may_tick = may_tick || (active[i] != 0 && is_clocked_by(variable, inputs_[i].index));
    if (!may_tick) continue;
    asked.push_back(variable.reference);
    who.push_back(k);
  }
  if (asked.empty()) return true;
  Active told(asked.size());
  if (!instance.clock_calls()->get_clocks(asked, told)) return false;
  for (std::size_t i = 0; i < who.size(); ++i) {
    ticked[who[i]] = told[i];
    if (told[i] != 0) memory.held[outputs_[who[i]].place] += 1.0;
  }
  return true;
}

bool FmuClocks::get_clocked(FmuInstance& instance, const Active& active, const Active& ticked,
                            ClockMemory& memory) const {
  std::vector<const FmiVariable*> said;
  const auto get_texts = [&](const Text& text) {
    if (std::ranges::find(said, text.variable) != said.end()) return true;
    said.push_back(text.variable);
    std::vector<std::string> read(text.variable->size);
    if (!instance.get_texts(*text.variable, read)) return false;
    for (std::size_t i = 0; i < read.size(); ++i)
      memory.said[text.first + i].push_back(std::move(read[i]));
    return true;
  };
  const auto get = [&](const std::vector<Clock>& clocks, const Active& which) {
    for (std::size_t k = 0; k < clocks.size(); ++k)
      if (which[k] != 0 && !(instance.get(clocks[k].clocked_outputs, memory.held) &&
                             std::ranges::all_of(clocks[k].text_outputs, get_texts)))
        return false;
    return true;
  };
  return get(inputs_, active) && get(outputs_, ticked);
}

/// What the FMU is told and asked for before the instant ends.
bool FmuClocks::one_instant(FmuInstance& instance, const Active& active, std::span<const double> u,
                            ClockMemory& memory) const {
  std::vector<FmiReference> ticking;
  for (std::size_t k = 0; k < inputs_.size(); ++k)
    if (active[k] != 0) ticking.push_back(inputs_[k].variable->reference);
  Active ticked;
  return (ticking.empty() || instance.clock_calls()->set_clocks(ticking)) &&
         set_clocked(instance, inputs_, active, u, memory) &&
         get_ticks(instance, active, ticked, memory) &&
         set_clocked(instance, outputs_, ticked, u, memory) &&
         get_clocked(instance, active, ticked, memory);
}

bool FmuClocks::iterate(FmuInstance& instance, double t, std::span<const double> u,
                        ClockMemory& memory, EventOutcome& outcome) const {
  constexpr int most_instants = 10'000;
  bool again = true;
  Active active(inputs_.size());
  for (int round = 0; again && !outcome.terminate; ++round) {
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      active[k] = is_due(inputs_[k], t, u, memory) ? 1 : 0;
      if (active[k] != 0 && round == most_instants) fail(inputs_[k], "ticks without end", t);
      if (active[k] != 0) tick(inputs_[k], k, t, u, memory);
    }
    if (round == most_instants)
      throw SimulationError("the event iteration of the FMU " + fmu_ + " has not ended after " +
                            std::to_string(round) + " rounds at t = " + short_number(t) + " s");
    if (!one_instant(instance, active, u, memory) || !instance.end_instant(outcome, again))
      return false;
    for (std::size_t k = 0; k < inputs_.size(); ++k)
      if (!ask_interval(instance, inputs_[k], t, active[k] != 0, memory)) return false;
    for (const Clock& clock : inputs_) again = again || is_due(clock, t, u, memory);
  }
  return true;
}

bool FmuClocks::activate(FmuInstance& instance, double t, std::span<const double> u,
                         ClockMemory& memory) const {
  ClockCalls& calls = *instance.clock_calls();
  Active active(inputs_.size()), ticked;
  const auto due = [&] {
    return std::ranges::find_if(inputs_, [&](const Clock& c) { return is_due(c, t, u, memory); });
  };
  for (auto clock = due(); clock != inputs_.end(); clock = due()) {
    const auto k = static_cast<std::size_t>(clock - inputs_.begin());
    if (!(memory.last[k] < t))
      fail(*clock, "is to tick once more, but a model partition runs once at an instant", t);
    if (clock->calls != none) memory.calls[clock->calls] = std::nearbyint(u[clock->place]) - 1.0;
    tick(*clock, k, t, u, memory);
    active.assign(inputs_.size(), 0);
    active[k] = 1;
    ticked.assign(outputs_.size(), 0);
    Active now;
    bool told = true;
    calls.on_clock_update([&] {
      told =
          told && get_ticks(instance, active, now, memory) && ask_countdowns(instance, t, memory);
      for (std::size_t i = 0; told && i < now.size(); ++i) ticked[i] |= now[i];
    });
    const bool good = set_clocked(instance, inputs_, active, u, memory) &&
                      calls.activate_partition(clock->variable->reference, t) && told;
    calls.on_clock_update({});
    if (!good || !get_clocked(instance, active, ticked, memory)) return false;
    const ClockInterval interval = clock->variable->clock->interval;
    if (interval != ClockInterval::countdown && !ask_interval(instance, *clock, t, true, memory))
      return false;
  }
  return true;
}

}  // namespace concord
