#include "network/rank_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "signal/end_curvature.hpp"
#include "support/agreement.hpp"
#include "support/ranks.hpp"
#include "support/work_clock.hpp"

namespace concord {
namespace {

constexpr Sample not_a_number{std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::quiet_NaN()};

/// What subsystems are asked for by this word.
constexpr Wanted of_subsystems(Wanted wanted) {
  return wanted == Wanted::values ? wanted : Wanted::values_and_derivatives;
}

std::vector<std::size_t> constraints_among(const OwnSubsystems& own) {
  std::vector<std::size_t> result;
  for (std::size_t k = 0; k < own.count(); ++k) {
    if (own[k].description().constraint) {
      result.push_back(k);
    }
  }
  return result;
}

std::vector<JumpWatch::Watch> continuous_outputs_of_black_boxes(const OwnSubsystems& own) {
  using Watch = JumpWatch::Watch;
  std::vector<Watch> result;
  for (std::size_t k = 0; k < own.count(); ++k) {
    const SubsystemDescription& d = own[k].description();
    const Watch watch = !d.capabilities.equations ? Watch::doubtful_slopes
                        : d.kind == "fmu"         ? Watch::exact_but_by_time
                                                  : Watch::exact_slopes;
    for (const auto& output : d.outputs) {
      const bool continuous = output.kind == SignalKind::continuous;
      result.push_back(is_black_box(d) && continuous ? watch : Watch::no);
    }
  }
  return result;
}

std::vector<Sample> starts_of(const OwnSubsystems& own) {
  std::vector<Sample> result;
  std::size_t count = 0;
  for (std::size_t k = 0; k < own.count(); ++k) count += own[k].description().inputs.size();
  result.reserve(count);
  for (std::size_t k = 0; k < own.count(); ++k) {
    for (const auto& input : own[k].description().inputs) {
      result.push_back({input.start.value_or(0.0), 0.0});
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
      layout_(network, partition, rank_in(comm)),
      clock_(layout_.all().size()),
      own_(model, layout_.global(), settings),
      batches_(own_, layout_),
      held_(layout_.held_inputs()),
      start_inputs_(starts_of(own_)),
      use_(network, layout_, settings),
      touched_(own_.count()),
      sizes_(model, network, layout_),
      equation_weights_(constraints_among(own_), layout_.n_inputs()),
      jumps_(network.has_black_boxes() ? continuous_outputs_of_black_boxes(own_)
                                       : std::vector<JumpWatch::Watch>()),
      exchange_(comm, network, partition, layout_.local_inputs(), layout_.local_outputs()),
      texts_(network.has_texts()
                 ? std::make_unique<TextExchange>(comm, model, network, partition, layout_, own_)
                 : nullptr),
      way_(own_, layout_),
      inner_(own_, batches_, layout_, way_, settings),
      scanned_(own_, layout_, network) {
  for (std::size_t k = 0; k < n_own(); ++k) {
    use_.tell(k, own_[k]);
  }
}

void RankNetwork::note_given(std::size_t input) {
  if (use_.note_given(input)) {
    const std::size_t k = layout_.subsystem_of_input(input);
    use_.tell(k, own_[k]);
  }
}

void RankNetwork::note_all_given() {
  for (const std::size_t k : all()) {
    const IndexRange own = inputs_of(k), whole = network_.inputs_of(global(k));
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (!network_.links()[whole.first + i]) note_given(own.first + i);
    }
  }
}

void RankNetwork::enter(const SmoothInterval& interval) {
  interval_ = interval;
  for (std::size_t k = 0; k < n_own(); ++k) {
    own_.attempt(k, [&] { own_[k].enter(interval); });
  }
}

void RankNetwork::start(const MacroStep& first, double stop) {
  now_ = saved_ = {first.begin, first.size()};
  own_.start(first, stop);
}

bool RankNetwork::initializing() const {
  return std::any_of(all().begin(), all().end(),
                     [this](std::size_t k) { return own_[k].initializing(); });
}

void RankNetwork::end_initialization(std::span<const Sample> inputs) {
  for (std::size_t k = 0; k < n_own(); ++k) {
    const IndexRange in = inputs_of(k);
    own_.guarded(k, [&](Subsystem& subsystem) {
      return subsystem.end_initialization(inputs.subspan(in.first, in.size()));
    });
  }
}

/// y'' of own subsystem k, whose inputs and outputs these are, into the curvatures of its outputs.
Outcome RankNetwork::find_curvatures(std::size_t k, std::span<const Sample> inputs,
                                     std::span<Sample> outputs) {
  const WorkScope timed(clock_, k, Work::outputs);
  scratch_.curvatures.resize(outputs.size());
  const Outcome outcome = own_.guarded(k, [&](Subsystem& subsystem) {
    return subsystem.output_curvatures(inputs, scratch_.curvatures);
  });
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    outputs[o].curvature = outcome == Outcome::ok ? scratch_.curvatures[o] : not_a_number.value;
  }
  return outcome;
}

void RankNetwork::take_end_curvatures(std::size_t k, std::span<const char> flags,
                                      std::span<const Sample> outputs) {
  auto& [from_ends, begin] = end_curvatures_;
  from_ends.resize(n_outputs(), 0);
  begin.resize(n_outputs());
  const IndexRange out = outputs_of(k);
  for (std::size_t o = out.first; o < out.last; ++o) {
    from_ends[o] = flags[o - out.first];
    begin[o] = outputs[o];
  }
}

bool RankNetwork::has_stiff_outputs() const {
  const auto& flags = end_curvatures_.from_ends;
  return std::find(flags.begin(), flags.end(), 1) != flags.end();
}

Outcome RankNetwork::find_end_curvatures(std::span<const std::size_t> which, double h,
                                         std::span<const Polynomial> inputs,
                                         std::span<Sample> outputs) {
  Outcome total = Outcome::ok;
  for (const std::size_t k : which) {
    const IndexRange in = inputs_of(k);
    const IndexRange out = outputs_of(k);
    scratch_.end_inputs.resize(in.size());
    std::ranges::transform(inputs.subspan(in.first, in.size()), scratch_.end_inputs.begin(),
                           [h](const Polynomial& input) { return input.at(h); });
    const Outcome own =
        find_curvatures(k, scratch_.end_inputs, outputs.subspan(out.first, out.size()));
    total = own == Outcome::ok ? total : Outcome::failed;
    for (std::size_t o = out.first; o < out.last && !end_curvatures_.begin.empty(); ++o) {
      if (end_curvatures_.from_ends[o] != 0) {
        outputs[o].curvature = EndCurvature::of(end_curvatures_.begin[o], outputs[o], h);
      }
    }
  }
  return total;
}

Outcome RankNetwork::advance(std::span<const std::size_t> which, const MacroStep& step,
                             std::span<const Polynomial> inputs, InputContinuity continuity,
                             Wanted wanted, std::span<Sample> outputs) {
  const PhaseScope scope(clock_, Phase::advance);
  const bool bends = wanted == Wanted::up_to_curvatures;
  wanted = of_subsystems(wanted);
  own_.forget_failure();
  now_ = {step.end, step.size()};
  inputs = held_.feed(inputs);
  Outcome total = Outcome::ok;
  const auto refuse = [&](std::size_t k) {
    const IndexRange out = outputs_of(k);
    std::fill_n(outputs.begin() + static_cast<std::ptrdiff_t>(out.first), out.size(), not_a_number);
    total = Outcome::failed;
  };
  std::size_t next = 0, k = 0;
  own_.attempt(k, [&] {
    for (; next < which.size(); ++next) {
      k = which[next];
      const IndexRange in = inputs_of(k);
      const IndexRange out = outputs_of(k);
      if (way_.wanted()) [[unlikely]] {
        way_.note(k, step, inputs.subspan(in.first, in.size()), continuity, wanted);
      }
      if (which.size() == n_own()) batches_.reach(k, step, inputs, clock_);
      const WorkScope timed(clock_, k, Work::advance);
      const Advancing under_way;
      const Outcome outcome = own_[k].advance(step, inputs.subspan(in.first, in.size()), continuity,
                                              wanted, outputs.subspan(out.first, out.size()));
      if (own_.judged(k, outcome) != Outcome::ok) [[unlikely]] {
        refuse(k);
      } else if (wanted == Wanted::values_and_derivatives && network_.has_black_boxes()) {
        jumps_.mend(out.first, step.size(), outputs.subspan(out.first, out.size()));
      }
    }
  });
  for (; next < which.size(); ++next) {
    refuse(which[next]);
  }
  batches_.end();
  return bends && total == Outcome::ok ? find_end_curvatures(which, step.size(), inputs, outputs)
                                       : total;
}

Outcome RankNetwork::follow(const MacroStep& step, std::span<const Polynomial> inputs,
                            std::span<const IntegratedWay> ways) {
  const PhaseScope scope(clock_, Phase::advance);
  own_.forget_failure();
  now_ = {step.end, step.size()};
  inputs = held_.feed(inputs);
  Outcome total = Outcome::ok;
  for (const std::size_t k : all()) {
    const IndexRange in = inputs_of(k);
    const auto own_inputs = inputs.subspan(in.first, in.size());
    if (way_.wanted()) [[unlikely]] {
      way_.note(k, step, own_inputs, InputContinuity::broken, Wanted::values_and_derivatives);
    }
    const WorkScope timed(clock_, k, Work::advance);
    const Outcome own = own_.guarded(
        k, [&](Subsystem& subsystem) { return subsystem.follow(step, own_inputs, ways[k]); });
    total = own == Outcome::ok ? total : Outcome::failed;
  }
  return total;
}

bool RankNetwork::has_jumped(std::span<const Sample> outputs, double h, bool slopes_known) const {
  if (!network_.has_black_boxes()) {
    return false;
  }
  const int own = jumps_.count(0, h, outputs.first(n_outputs()), slopes_known);
  return agree_on_largest(comm_, own) > 0;
}

int RankNetwork::count_jumps(std::span<const Sample> outputs, double h, bool slopes_known) {
  if (!network_.has_black_boxes()) {
    return 0;
  }
  int own = 0;
  for (const std::size_t k : all()) {
    const IndexRange out = outputs_of(k);
    const int jumps =
        jumps_.look(out.first, h, outputs.subspan(out.first, out.size()), slopes_known);
    own += jumps;
    if (jumps > 0) {
      touched_.add(k);
    }
  }
  return static_cast<int>(std::lround(agree_on_sum(comm_, own)));
}

double RankNetwork::next_time_event() const {
  double earliest = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < n_own(); ++k) {
    if (own_[k].description().events) {
      earliest = std::min(earliest, own_[k].next_time_event());
    }
  }
  return earliest;
}

double RankNetwork::next_event(std::span<const Sample> inputs) {
  double earliest = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < n_own(); ++k) {
    if (own_[k].description().events) {
      const IndexRange in = inputs_of(k);
      const auto own = inputs.empty() ? inputs : inputs.subspan(in.first, in.size());
      const WorkScope timed(clock_, k, Work::events);
      own_.attempt(k, [&] { earliest = std::min(earliest, own_[k].next_event(own)); });
    }
  }
  return earliest;
}

Outcome RankNetwork::happen(EventPass pass, std::span<const Sample> inputs, double slack,
                            bool& changed, std::vector<Happening>& what) {
  Outcome total = Outcome::ok;
  for (std::size_t k = 0; k < n_own(); ++k) {
    if (!own_[k].description().events || own_[k].initializing()) {
      continue;
    }
    const IndexRange in = inputs_of(k);
    EventChange change = EventChange::nothing;
    scratch_.happened.clear();
    const WorkScope timed(clock_, k, Work::events);
    const Outcome outcome = own_.guarded(k, [&](Subsystem& subsystem) {
      return subsystem.happen(pass, inputs.subspan(in.first, in.size()), slack, change,
                              scratch_.happened);
    });
    total = outcome == Outcome::ok ? total : Outcome::failed;
    if (change != EventChange::nothing) {
      changed = true;
      change == EventChange::slopes ? touched_.add_slopes(k) : touched_.add(k);
    }
    for (Happening& one : scratch_.happened) {
      what.push_back({k, std::move(one.what)});
    }
  }
  return total;
}

Outcome RankNetwork::point_outputs(std::size_t k, std::span<const Sample> inputs, Wanted wanted,
                                   std::span<Sample> outputs) {
  const IndexRange in = inputs_of(k);
  const IndexRange out = outputs_of(k);
  const auto own_inputs = inputs.subspan(in.first, in.size());
  const auto own_outputs = outputs.subspan(out.first, out.size());
  Outcome outcome = Outcome::failed;
  {
    const WorkScope timed(clock_, k, Work::outputs);
    outcome = own_.guarded(k, [&](Subsystem& subsystem) {
      return subsystem.point_outputs(own_inputs, of_subsystems(wanted), own_outputs);
    });
  }
  return wanted == Wanted::up_to_curvatures && outcome == Outcome::ok
             ? find_curvatures(k, own_inputs, own_outputs)
             : outcome;
}

bool RankNetwork::feedthrough(std::size_t k, std::span<const Sample> inputs,
                              std::vector<double>& g_u) {
  if (!own_[k].description().capabilities.linearization || own_[k].initializing()) {
    return false;
  }
  const IndexRange in = inputs_of(k);
  const WorkScope timed(clock_, k, Work::linearize);
  const Outcome outcome = own_.guarded(k, [&](Subsystem& subsystem) {
    return subsystem.linearize(inputs.subspan(in.first, in.size()), scratch_.linearization);
  });
  if (outcome == Outcome::ok) {
    g_u.assign(scratch_.linearization.g_u.begin(), scratch_.linearization.g_u.end());
  }
  return outcome == Outcome::ok;
}

void RankNetwork::weigh_equations(std::span<const Sample> inputs) {
  for (const std::size_t k : equation_weights_.constraints()) {
    if (feedthrough(k, inputs, scratch_.constraint_g_u)) {
      equation_weights_.take(inputs_of(k), scratch_.constraint_g_u);
    }
  }
}

std::optional<std::string> RankNetwork::set_parameter(std::size_t k, std::size_t parameter,
                                                      double value) {
  const Outcome outcome = own_.guarded(
      k, [&](Subsystem& subsystem) { return subsystem.set_parameter(parameter, value); });
  touched_.add(k);
  scanned_.forget();
  return outcome == Outcome::ok ? std::nullopt : failure();
}

void RankNetwork::touch_owner(std::size_t input) {
  const auto owner = std::partition_point(
      all().begin(), all().end(), [&](std::size_t k) { return inputs_of(k).last <= input; });
  touched_.add(*owner);
}

Counters RankNetwork::counters(std::size_t k) const {
  Counters result = own_.counters(k);
  result.rhs_evaluations += inner_.evaluations(k);
  result.restarts = touched_.restarts(k);
  result.wall_time = clock_.time(k, Work::advance);
  result.linearize_time = clock_.time(k, Work::linearize);
  result.output_time = clock_.time(k, Work::outputs);
  result.rollback_time = clock_.time(k, Work::rollback);
  result.event_time = clock_.time(k, Work::events);
  return result;
}

void RankNetwork::gather_states(std::span<double> result) {
  for (std::size_t k = 0; k < n_own(); ++k) {
    const IndexRange range = states_of(k);
    const auto part = result.subspan(range.first, range.size());
    std::fill(part.begin(), part.end(), not_a_number.value);
    own_.attempt(k, [&] {
      const auto states = own_[k].states();
      std::copy(states.begin(), states.end(), part.begin());
    });
  }
}

void RankNetwork::gather_state_slopes(std::span<const Sample> inputs, std::span<double> result) {
  std::fill(result.begin(), result.end(), not_a_number.value);
  for (std::size_t k = 0; k < n_own(); ++k) {
    const Capabilities& has = own_[k].description().capabilities;
    const IndexRange range = states_of(k), in = inputs_of(k);
    if (range.size() == 0 || !has.state_derivatives || !has.equations) continue;
    const auto part = result.subspan(range.first, range.size());
    Outcome outcome = Outcome::failed;
    const auto thrown = own_.asking(
        k, [&] { outcome = own_[k].state_derivatives(inputs.subspan(in.first, in.size()), part); });
    if (thrown || outcome == Outcome::failed)
      std::fill(part.begin(), part.end(), not_a_number.value);
  }
}

/// What a subsystem remembers itself begins with its states.
std::optional<std::string> RankNetwork::io(Archive& archive, std::span<const double> states) {
  CONCORD_MEMBERS_PER(archive, Per::input, start_inputs_);
  CONCORD_MEMBERS(archive, use_, held_, touched_, clock_, sizes_, equation_weights_, jumps_,
                  interval_, now_, saved_, inner_);
  if (texts_) CONCORD_MEMBERS(archive, *texts_);
  for (std::size_t k = 0; archive.reading() && k < n_own(); ++k) {
    use_.tell(k, own_[k]);
  }
  if (archive.reading()) {
    enter(interval_);
  }
  for (std::size_t k = 0; k < n_own(); ++k) {
    bool passed = false;
    archive.within_itself(k, [&] {
      own_.attempt(k, [&] {
        const IndexRange range = states_of(k);
        std::vector<double> x;
        if (!archive.reading()) {
          const auto here =
              states.empty() ? own_[k].states() : states.subspan(range.first, range.size());
          x.assign(here.begin(), here.end());
        }
        CONCORD_MEMBERS(archive, x);
        archive.enter(own_[k]);
        passed = own_[k].io(archive);
      });
    });
    if (own_.fatal()) {
      return own_.failure();
    }
    if (!passed) {
      const std::string& reason = own_[k].failure();
      return "subsystem '" + own_.name(k) + "' cannot pass on what it remembers" +
             (reason.empty() ? "" : ": " + reason);
    }
  }
  return std::nullopt;
}

}  // namespace concord
