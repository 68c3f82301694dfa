#include "network/rank_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "concord/errors.hpp"
#include "support/exception_words.hpp"
#include "support/log_events.hpp"

namespace concord {
namespace {

constexpr Sample not_a_number{std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::quiet_NaN()};

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

/// Position of each global variable in its owner's arrays.
template <class RangeOf>
std::vector<std::size_t> local_positions(const Network& network, const Partition& partition,
                                         std::size_t total, const RangeOf& range_of) {
  std::vector<std::size_t> position(total);
  std::vector<std::size_t> next;
  for (std::size_t k = 0; k < network.n_subsystems(); ++k) {
    const auto rank = static_cast<std::size_t>(partition.rank_of(k));
    next.resize(std::max(next.size(), rank + 1), 0);
    const IndexRange range = range_of(k);
    for (std::size_t i = range.first; i < range.last; ++i) {
      position[i] = next[rank]++;
    }
  }
  return position;
}

std::vector<double> nominal_inputs(const Model& model, const Network& network,
                                   std::span<const std::size_t> own) {
  std::vector<double> outputs;
  for (const auto& entry : model.subsystems) {
    for (const auto& output : entry.description.outputs) {
      outputs.push_back(output.nominal);
    }
  }
  std::vector<double> result;
  for (const std::size_t g : own) {
    const IndexRange range = network.inputs_of(g);
    for (std::size_t i = range.first; i < range.last; ++i) {
      const double given = model.subsystems[g].description.inputs[i - range.first].nominal;
      const auto& link = network.links()[i];
      const double source = link ? outputs[link->output] : 0.0;
      const bool from_source = given == 0.0 && source > 0.0;
      result.push_back(from_source ? std::abs(link->factor * source + link->offset) : given);
    }
  }
  return result;
}

std::vector<double> nominal_outputs(const Model& model, std::span<const std::size_t> own) {
  std::vector<double> result;
  for (const std::size_t g : own) {
    for (const auto& output : model.subsystems[g].description.outputs) {
      result.push_back(output.nominal);
    }
  }
  return result;
}

}  // namespace

RankNetwork::RankNetwork(MPI_Comm comm, const Model& model, const Network& network,
                         const Partition& partition, const SettingsList& settings)
    : comm_(comm),
      network_(network),
      partition_(partition),
      global_(partition.subsystems_of(rank_in(comm))),
      input_local_(local_positions(network, partition, network.n_inputs(),
                                   [&](std::size_t k) { return network.inputs_of(k); })),
      output_local_(local_positions(network, partition, network.n_outputs(),
                                    [&](std::size_t k) { return network.outputs_of(k); })),
      input_sizes_(nominal_inputs(model, network, global_)),
      output_sizes_(nominal_outputs(model, global_)),
      exchange_(comm, network, partition, input_local_, output_local_) {
  for (const std::size_t g : global_) {
    subsystems_.push_back(model.subsystems[g].create(settings[g]));
    const auto& description = subsystems_.back()->description();
    names_.push_back(description.name);
    if (description.capabilities.rollback) {
      with_rollback_.push_back(all_.size());
    }
    if (description.constraint) {
      own_constraints_.push_back(all_.size());
    }
    all_.push_back(all_.size());
    for (std::size_t i = 0; i < description.inputs.size(); ++i) {
      const std::size_t input = network.inputs_of(g).first + i;
      if (network.held(input)) {
        held_.push_back(input_offset_.back() + i);
      } else if (network.links()[input]) {
        connected_.push_back(input_offset_.back() + i);
      }
      start_inputs_.push_back({description.inputs[i].start.value_or(0.0), 0.0});
    }
    input_offset_.push_back(input_offset_.back() + description.inputs.size());
    output_offset_.push_back(output_offset_.back() + description.outputs.size());
    state_offset_.push_back(state_offset_.back() + description.states.size());
  }
  equation_weights_.assign(own_constraints_.empty() ? 0 : input_offset_.back(), 0.0);
  held_values_.resize(held_.size());
  find_use(settings);
}

/// Of own inputs: what something feeds; of own outputs: what feeds something or is recorded.
void RankNetwork::find_use(const SettingsList& settings) {
  std::vector<char> feeds(network_.n_outputs(), 0);
  for (const auto& link : network_.links()) {
    if (link) feeds[link->output] = 1;
  }
  for (std::size_t k = 0; k < n_own(); ++k) {
    const std::size_t g = global_[k];
    const IndexRange in = network_.inputs_of(g), out = network_.outputs_of(g);
    for (std::size_t i = in.first; i < in.first + in.size(); ++i) {
      given_inputs_.push_back(network_.links()[i] ? 1 : 0);
    }
    const auto& recorded = settings[g].recorded;
    for (std::size_t o = 0; o < out.size(); ++o) {
      const bool is_recorded = recorded.empty() || recorded[o] != 0;
      looked_at_.push_back(is_recorded ? 1 : feeds[out.first + o]);
    }
    tell_use(k);
  }
}

void RankNetwork::tell_use(std::size_t k) {
  const IndexRange in = inputs_of(k), out = outputs_of(k);
  subsystems_[k]->note_use(std::span(given_inputs_).subspan(in.first, in.size()),
                           std::span(looked_at_).subspan(out.first, out.size()));
}

void RankNetwork::note_given(std::size_t input) {
  if (std::exchange(given_inputs_[input], 1) != 0) return;
  const auto behind = std::upper_bound(input_offset_.begin(), input_offset_.end(), input);
  tell_use(static_cast<std::size_t>(behind - input_offset_.begin()) - 1);
}

RankNetwork::~RankNetwork() { end(); }

/// What belongs to code that has crashed is left as it is.
void RankNetwork::end() {
  for (std::size_t k = last_counters_.size(); k < subsystems_.size(); ++k) {
    last_counters_.push_back(subsystems_[k]->counters());
    if (!foreign_code_has_ended()) {
      try {
        surviving([&] { subsystems_[k].reset(); });
      } catch (...) {
        fatal_ = std::current_exception();
        failed_ = k;
      }
    }
    if (foreign_code_has_ended()) {
      static_cast<void>(subsystems_[k].release());
    }
  }
}

Outcome RankNetwork::judged(std::size_t k, Outcome outcome) {
  if (outcome != Outcome::ok) [[unlikely]] {
    failed_ = k;
  } else {
    failed_ = failed_ == k ? std::nullopt : failed_;
    suspicion_ = suspect_ == k ? nullptr : suspicion_;
  }
  return outcome;
}

template <class Call>
Outcome RankNetwork::guarded(std::size_t k, const Call& call) {
  Outcome outcome = Outcome::failed;
  attempt(k, [&] { outcome = judged(k, call(*subsystems_[k])); });
  return fatal_ ? Outcome::failed : outcome;
}

/// In a catch block.
std::string RankNetwork::threw_when_asked(std::size_t k) {
  suspicion_ = std::current_exception();
  suspect_ = k;
  if (foreign_code_has_ended()) {
    fatal_ = suspicion_;
    failed_ = k;
  }
  return in_words(suspicion_);
}

void RankNetwork::enter(const SmoothInterval& interval) {
  interval_ = interval;
  for (std::size_t k = 0; k < n_own(); ++k) {
    attempt(k, [&] { subsystems_[k]->enter(interval); });
  }
}

void RankNetwork::start(const MacroStep& first, double stop) {
  time_ = saved_time_ = first.begin;
  step_ = first.size();
  for (std::size_t k = 0; k < n_own(); ++k) {
    attempt(k, [&] { subsystems_[k]->start(first, stop); });
  }
}

bool RankNetwork::initializing() const {
  return std::any_of(subsystems_.begin(), subsystems_.end(),
                     [](const auto& subsystem) { return subsystem->initializing(); });
}

void RankNetwork::end_initialization(std::span<const Sample> inputs) {
  for (std::size_t k = 0; k < n_own(); ++k) {
    const IndexRange in = inputs_of(k);
    guarded(k, [&](Subsystem& subsystem) {
      return subsystem.end_initialization(inputs.subspan(in.first, in.size()));
    });
  }
}

void RankNetwork::hold(std::span<const Sample> inputs) {
  for (std::size_t j = 0; j < held_.size(); ++j) {
    held_values_[j] = inputs[held_[j]].value;
  }
}

Outcome RankNetwork::advance(std::span<const std::size_t> which, const MacroStep& step,
                             std::span<const Polynomial> inputs, InputContinuity continuity,
                             Wanted wanted, std::span<Sample> outputs) {
  const LogScope scope(log_events().advance);
  if (!fatal_) {
    failed_.reset();
  }
  time_ = step.end;
  step_ = step.size();
  if (!held_.empty()) {
    fed_.assign(inputs.begin(), inputs.end());
    for (std::size_t j = 0; j < held_.size(); ++j) {
      fed_[held_[j]].c = {held_values_[j], 0.0, 0.0, 0.0};
    }
    inputs = fed_;
  }
  Outcome total = Outcome::ok;
  const auto refuse = [&](std::size_t k) {
    const IndexRange out = outputs_of(k);
    std::fill_n(outputs.begin() + static_cast<std::ptrdiff_t>(out.first), out.size(), not_a_number);
    total = Outcome::failed;
  };
  std::size_t next = 0, k = 0;
  attempt(k, [&] {
    for (; next < which.size(); ++next) {
      k = which[next];
      const IndexRange in = inputs_of(k);
      const IndexRange out = outputs_of(k);
      const Outcome outcome =
          subsystems_[k]->advance(step, inputs.subspan(in.first, in.size()), continuity, wanted,
                                  outputs.subspan(out.first, out.size()));
      if (judged(k, outcome) != Outcome::ok) [[unlikely]] {
        refuse(k);
      }
    }
  });
  for (; next < which.size(); ++next) {
    refuse(which[next]);
  }
  return total;
}

Outcome RankNetwork::point_outputs(std::size_t k, std::span<const Sample> inputs, Wanted wanted,
                                   std::span<Sample> outputs) {
  const IndexRange in = inputs_of(k);
  const IndexRange out = outputs_of(k);
  return guarded(k, [&](Subsystem& subsystem) {
    return subsystem.point_outputs(inputs.subspan(in.first, in.size()), wanted,
                                   outputs.subspan(out.first, out.size()));
  });
}

bool RankNetwork::feedthrough(std::size_t k, std::span<const Sample> inputs,
                              std::vector<double>& g_u) {
  if (!subsystems_[k]->description().capabilities.linearization || subsystems_[k]->initializing()) {
    return false;
  }
  const IndexRange in = inputs_of(k);
  const Outcome outcome = guarded(k, [&](Subsystem& subsystem) {
    return subsystem.linearize(inputs.subspan(in.first, in.size()), linearization_);
  });
  if (outcome == Outcome::ok) {
    g_u.assign(linearization_.g_u.begin(), linearization_.g_u.end());
  }
  return outcome == Outcome::ok;
}

/// Where an equation answers to nothing, the weights it had are better.
void RankNetwork::weigh_equations(std::span<const Sample> inputs) {
  for (const std::size_t k : own_constraints_) {
    if (!feedthrough(k, inputs, g_u_)) {
      continue;
    }
    const IndexRange in = inputs_of(k);
    const auto row = std::span(g_u_).subspan(constraint_residual * in.size(), in.size());
    if (std::any_of(row.begin(), row.end(), [](double slope) { return slope != 0.0; })) {
      std::transform(row.begin(), row.end(),
                     equation_weights_.begin() + static_cast<std::ptrdiff_t>(in.first),
                     [](double slope) { return std::abs(slope); });
    }
  }
}

void RankNetwork::save() {
  saved_time_ = time_;
  for (const std::size_t k : with_rollback_) {
    attempt(k, [&] { subsystems_[k]->save(); });
  }
}

void RankNetwork::restore() {
  time_ = saved_time_;
  for (const std::size_t k : with_rollback_) {
    attempt(k, [&] { subsystems_[k]->restore(); });
  }
}

std::optional<std::string> RankNetwork::set_parameter(std::size_t k, std::size_t parameter,
                                                      double value) {
  const Outcome outcome =
      guarded(k, [&](Subsystem& subsystem) { return subsystem.set_parameter(parameter, value); });
  return outcome == Outcome::ok ? std::nullopt : failure();
}

void RankNetwork::gather_states(std::span<double> result) {
  for (std::size_t k = 0; k < n_own(); ++k) {
    const IndexRange range = states_of(k);
    const auto part = result.subspan(range.first, range.size());
    std::fill(part.begin(), part.end(), not_a_number.value);
    attempt(k, [&] {
      const auto states = subsystems_[k]->states();
      std::copy(states.begin(), states.end(), part.begin());
    });
  }
}

std::optional<std::string> RankNetwork::io(Archive& archive) {
  archive(start_inputs_, given_inputs_, held_values_, input_sizes_, output_sizes_,
          equation_weights_, interval_, time_, step_, saved_time_);
  for (std::size_t k = 0; archive.reading() && k < n_own(); ++k) {
    tell_use(k);
  }
  if (archive.reading()) {
    enter(interval_);
  }
  for (std::size_t k = 0; k < n_own(); ++k) {
    bool passed = false;
    attempt(k, [&] { passed = subsystems_[k]->io(archive); });
    if (!passed) {
      const std::string& reason = subsystems_[k]->failure();
      return "subsystem '" + names_[k] + "' cannot pass on what it remembers" +
             (reason.empty() ? "" : ": " + reason);
    }
  }
  return std::nullopt;
}

bool RankNetwork::asks_for_end() const {
  try {
    if (fatal_) {
      std::rethrow_exception(fatal_);
    }
  } catch (const EndOfSimulation&) {
    return true;
  } catch (...) {
    return false;
  }
  return false;
}

/// A foreign end names its subsystem itself.
std::optional<std::string> RankNetwork::failure() const {
  if (!failed_) {
    return std::nullopt;
  }
  const std::string place = "subsystem '" + names_[*failed_] + "': ";
  if (!fatal_) {
    return place + subsystems_[*failed_]->failure();
  }
  try {
    std::rethrow_exception(fatal_);
  } catch (const ForeignEnd& end) {
    return end.what();
  } catch (...) {
    return place + in_words(fatal_);
  }
}

}  // namespace concord
