#include "subsystem/ode_subsystem.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "concord/errors.hpp"
#include "subsystem/ode/batch_member.hpp"
#include "subsystem/ode/hybrid_events.hpp"
#include "subsystem/ode/integrator.hpp"
#include "subsystem/ode/ode_events.hpp"
#include "subsystem/ode/ode_memory.hpp"
#include "subsystem/ode/point_derivatives.hpp"
#include "subsystem/ode/scratch_inputs.hpp"
#include "subsystem/ode/state_sizes.hpp"
#include "subsystem/ode/way_back.hpp"
#include "subsystem/sparse_linearization.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// Of a macro-step in which states leave 0 for the first time.
constexpr int most_passes = 3;

/// An OdeModel as a subsystem. Its members are parts with classes of their own, in the order in
/// which each needs the ones before, and what it remembers of macro-steps.
class OdeSubsystem final : public Subsystem,
                           public TellsGrazes,
                           public LinearizesSparsely,
                           public BatchMember {
 public:
  OdeSubsystem(SubsystemDescription description, std::unique_ptr<OdeModel> model,
               const SubsystemSettings& settings);

  void enter(const SmoothInterval& interval) override { model_.enter(interval); }
  void note_use(std::span<const char> fed, std::span<const char> /*looked_at*/) override {
    if (hybrid_ != nullptr) hybrid_->note_use(fed);
  }
  void start(const MacroStep& first, double stop) override;
  bool initializing() const override { return hybrid_ != nullptr && hybrid_->initializing(); }
  TextPorts* texts() override { return hybrid_ != nullptr ? hybrid_->texts() : nullptr; }
  Outcome end_initialization(std::span<const Sample> inputs) override;
  Outcome advance(const MacroStep& step, std::span<const Polynomial> inputs,
                  InputContinuity continuity, Wanted wanted, std::span<Sample> outputs) override;
  Outcome follow(const MacroStep& step, std::span<const Polynomial> inputs,
                 const IntegratedWay& way) override;
  Outcome point_outputs(std::span<const Sample> inputs, Wanted wanted,
                        std::span<Sample> outputs) override;
  Outcome output_curvatures(std::span<const Sample> inputs, std::span<double> result) override {
    return checked(derivatives().output_curvatures(now_.t, now_.h, now_.x, inputs, result));
  }
  std::span<const double> states() const override { return now_.x; }
  std::span<const double> integration_errors() const override { return errors_; }
  Outcome state_derivatives(std::span<const Sample> inputs, std::span<double> result) override;
  Outcome linearize(std::span<const Sample> inputs, Linearization& result) override;
  std::shared_ptr<const LinearPattern> linear_pattern() const override {
    return model_.linear_pattern();
  }
  Outcome linearize_entries(std::span<const Sample> inputs, const LinearPattern& pattern,
                            Linearization& result) override;
  bool keeps(const Linearization& known, std::span<const Sample> inputs) override;
  Outcome derivatives_at(const StatePoint& point, std::span<double> result) override;
  Outcome outputs_at(const StatePoint& point, std::span<Sample> outputs) override;
  Outcome linearize_at(const StatePoint& point, Linearization& result) override;
  Outcome output_curvatures_at(const StatePoint& point, std::span<double> result) override {
    return checked(
        derivatives().output_curvatures(point.t, point.h, point.x, point.inputs, result));
  }
  /// A model that is told of micro-steps does not go back over them.
  bool retraces() const override { return hybrid_ == nullptr || !hybrid_->wants_completed_steps(); }
  Outcome retrace(const MacroStep& step, std::span<const Polynomial> inputs,
                  std::span<double> states, std::span<Sample> outputs) override;
  double next_time_event() const override { return events_->model().next_time_event(); }
  double next_event(std::span<const Sample> inputs) override;
  std::vector<Graze> grazes(std::span<const Sample> inputs) override {
    if (!events_) return {};
    constexpr double tolerances = 10.0;
    const double noise = tolerances * rhs_.weights().tolerance().relative;
    return events_->grazes(now_.begin, now_.t, now_.x, inputs, noise);
  }
  double take_errors(std::span<const Sample> inputs, const Motion& errors,
                     std::span<const double> discrete) override {
    if (!events_) return 0.0;
    return events_->take_errors(now_.begin, now_.t, now_.x, inputs, errors, discrete);
  }
  std::span<const Jump> jumps() const override {
    return events_ ? events_->model().jumps(now_.t) : std::span<const Jump>();
  }
  std::size_t discrete_count() const override {
    return events_ ? events_->model().discrete_count() : 0;
  }
  bool pass_discrete(std::span<const Sample> inputs, std::span<const double> errors,
                     std::span<double> f, std::span<double> g) override {
    return events_->pass_discrete(now_.t, now_.x, inputs, errors, f, g);
  }
  Outcome happen(EventPass pass, std::span<const Sample> inputs, double slack, EventChange& change,
                 std::vector<Happening>& what) override;
  Outcome set_parameter(std::size_t parameter, double value) override;
  std::optional<double> parameter(std::size_t p) override {
    const auto& set = parameters_.values;
    return p < set.size() && set[p] ? set[p] : model_.parameter(p);
  }
  void save() override;
  void restore() override;
  bool io(Archive& archive) override;
  int memory_version() const override { return 3; }
  bool start_from(double t, std::span<const double> x, std::span<const std::byte> memory) override;
  OdeModel* equations() override;
  bool complete_step(double t, std::span<const double> x, std::span<const double> u) override;
  WholeStepTaker whole_step_taker() override {
    const bool explicit_pair = kind_ == IntegratorKind::erk || kind_ == IntegratorKind::automatic;
    if (!explicit_pair || description_.states.empty()) return {};
    return {&rhs_, &now_.x};
  }

 private:
  PointSizes sizes() const { return {now_.states.values(), now_.inputs.values()}; }
  void begin();
  void weigh_aside(const MacroStep& step, std::span<const Polynomial> inputs);
  void make_integrator();
  EventHandling handling() const;
  Outcome change_parameters();
  bool pass_model(Archive& archive);
  Outcome integrate(const MacroStep& step, std::span<const Polynomial> inputs,
                    InputContinuity continuity);
  void arrive(const MacroStep& step, std::span<const Polynomial> inputs);
  History usable_history(InputContinuity continuity);
  void keep_first_trial(const MacroStep& step, std::span<const Polynomial> inputs);
  bool is_first_trial(const MacroStep& step, std::span<const Polynomial> inputs) const;
  std::string remedy() const;
  Outcome checked(bool ok);
  PointDerivatives derivatives() { return {model_, learnt_}; }
  void see(std::span<const Sample> inputs);

  IntegratorKind kind_;
  bool continuation_;
  bool started_ = false;
  bool may_repeat_ = false;  ///< a macro-step: no event can be in it
  bool followed_ = false;    ///< in the last macro-step, which others have integrated
  HybridModel* hybrid_;      ///< the model, if events may change it
  CheckedModel model_;
  RightHandSide rhs_;
  std::unique_ptr<HybridEvents> own_events_;  ///< of hybrid_, for events_
  std::unique_ptr<OdeEvents> events_;         ///< where the network takes part in them
  LearntDerivatives learnt_;
  StateSizes sizes_;
  std::unique_ptr<Integrator> integrator_;  ///< made at the start; null without states and events
  std::unique_ptr<WayBack> way_back_;       ///< made when it is first asked for
  OdeMemory now_;
  SavedMemory saved_;
  /// Where the last way back has ended, of macro-steps since the last advance; not a number:
  /// nowhere.
  double retraced_to_ = std::numeric_limits<double>::quiet_NaN();
  OdeTrials trials_;
  SetParameters parameters_;
  std::vector<double> errors_;      ///< of the last macro-step
  std::vector<Sample> end_inputs_;  ///< of hybrid_: those that led to the communication point
};

OdeSubsystem::OdeSubsystem(SubsystemDescription description, std::unique_ptr<OdeModel> model,
                           const SubsystemSettings& settings)
    : Subsystem(apart_from_withheld(std::move(description), settings)),
      kind_(settings.integrator),
      continuation_(settings.continuation),
      hybrid_(dynamic_cast<HybridModel*>(model.get())),
      model_(std::move(model), description_),
      rhs_(model_, settings.tolerance),
      sizes_(model_, rhs_.weights()),
      now_(description_) {
  if (hybrid_ != nullptr) {
    own_events_ = std::make_unique<HybridEvents>(*hybrid_);
    end_inputs_.resize(description_.inputs.size());
  } else if (description_.events) {
    events_ = std::make_unique<OdeEvents>(dynamic_cast<EventModel&>(model_.native()), model_, rhs_);
  }
}

void OdeSubsystem::start(const MacroStep& first, double stop) {
  if (started_) throw std::logic_error("subsystem '" + description_.name + "' was started twice");
  started_ = true;
  now_.t = first.begin;
  now_.h = first.size();
  now_.x.reserve(description_.states.size());
  for (const StateVariable& state : description_.states.all()) now_.x.push_back(state.start);
  now_.rounding = sizes_.fresh_rounding();
  if (events_) events_->start(now_.t, now_.x, description_.inputs.all());
  if (hybrid_ != nullptr) hybrid_->begin_initialization(first.begin, stop);
  if (!initializing()) begin();
}

Outcome OdeSubsystem::end_initialization(std::span<const Sample> inputs) {
  if (!initializing()) return Outcome::ok;
  Scratch scratch;
  const std::span<const double> u = values_of(inputs, scratch);
  end_inputs_.assign(inputs.begin(), inputs.end());
  const auto end = [&](double) { hybrid_->end_initialization(u, now_.x); };
  if (!model_.attempt(now_.t, end)) return checked(false);
  model_.forget();
  begin();
  return Outcome::ok;
}

/// Only after the initialisation is it known whether there are events.
void OdeSubsystem::begin() {
  if (hybrid_ != nullptr && (description_.events || std::isfinite(hybrid_->next_time_event()))) {
    description_.events = true;
    events_ = std::make_unique<OdeEvents>(*own_events_, model_, rhs_);
    events_->start(now_.t, now_.x, description_.inputs.all());
  }
  make_integrator();
  may_repeat_ =
      rhs_.weights().tolerance().of_size && (hybrid_ == nullptr || !hybrid_->has_events());
  sizes_.note_rising(now_);
}

EventHandling OdeSubsystem::handling() const {
  if (!events_ || hybrid_ == nullptr) return EventHandling::own;
  return own_events_->located() ? EventHandling::located : EventHandling::told;
}

void OdeSubsystem::make_integrator() {
  const bool shows_way = handling() == EventHandling::located;
  const bool any = hybrid_ != nullptr && hybrid_->has_events();
  if (any && (!shows_way || hybrid_->wants_completed_steps()))
    integrator_ = make_event_integrator(rhs_, kind_, *hybrid_, handling());
  else if (!description_.states.empty())
    integrator_ = concord::make_integrator(rhs_, kind_);
  else
    integrator_.reset();
}

Outcome OdeSubsystem::advance(const MacroStep& step, std::span<const Polynomial> inputs,
                              InputContinuity continuity, Wanted wanted,
                              std::span<Sample> outputs) {
  ++counters_.advances;
  sizes_.see(now_, step.size(), [&](std::size_t i) { return inputs[i].at(0.0); });
  now_.begin = step.begin;
  if (integrator_ && integrate(step, inputs, continuity) == Outcome::failed) return Outcome::failed;
  if (!integrator_ && events_) {
    rhs_.begin_step(step, inputs);
    events_->search().pass(step.size());
  }
  arrive(step, inputs);
  if (rhs_.whole_step().outputs(wanted, outputs)) return Outcome::ok;
  Scratch scratch;
  const auto ends = samples_of(inputs, now_.h, scratch);
  return checked(derivatives().outputs(now_.t, now_.h, now_.x, ends, wanted, outputs));
}

void OdeSubsystem::arrive(const MacroStep& step, std::span<const Polynomial> inputs) {
  now_.t = step.end;
  now_.h = step.size();
  now_.seen = false;
  for (std::size_t i = 0; i < end_inputs_.size(); ++i) end_inputs_[i] = inputs[i].at(now_.h);
}

Outcome OdeSubsystem::follow(const MacroStep& step, std::span<const Polynomial> inputs,
                             const IntegratedWay& way) {
  ++counters_.advances;
  followed_ = true;
  rhs_.whole_step().forget_way();
  retraced_to_ = std::numeric_limits<double>::quiet_NaN();
  sizes_.see(now_, step.size(), [&](std::size_t i) { return inputs[i].at(0.0); });
  now_.begin = step.begin;
  rhs_.begin_step(step, inputs);
  const std::size_t n = now_.x.size();
  rhs_.path_begins(now_.x);
  for (std::size_t i = 0; i < way.shares.size(); ++i)
    rhs_.path_reaches(way.shares[i] * step.size(), way.states.subspan(i * n, n));
  rhs_.rethrow();
  std::ranges::copy(way.states.last(n), now_.x.begin());
  errors_.assign(way.errors.begin(), way.errors.end());
  arrive(step, inputs);
  return checked(true);
}

Outcome OdeSubsystem::integrate(const MacroStep& step, std::span<const Polynomial> inputs,
                                InputContinuity continuity) {
  followed_ = false;
  rhs_.whole_step().forget_way();
  retraced_to_ = std::numeric_limits<double>::quiet_NaN();
  if (trials_.first && is_first_trial(step, inputs)) {
    now_.x = trials_.first->x;
    errors_ = trials_.first->errors;
    if (events_) events_->search().take(trials_.first->way);
    ++now_.rounding.macro_steps;
    return Outcome::ok;
  }
  const History history = usable_history(continuity);
  const double h = step.size();
  rhs_.begin_step(step, inputs);
  Scratch scratch;
  const std::span<double> u = scratch.numbers(inputs.size());
  const std::span<double> x_end = scratch.numbers(now_.x.size());
  const std::span<double> sizes = scratch.numbers(now_.x.size());
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = inputs[i](0.0);
  sizes_.weigh(now_, h, u, inputs, sizes);
  Outcome outcome = integrator_->integrate(h, history, now_.x, x_end);
  for (int pass = 1; pass < most_passes && outcome == Outcome::ok && may_repeat_; ++pass) {
    if (!sizes_.weigh_again(now_, step, u, x_end, inputs, sizes)) break;
    outcome = integrator_->integrate(h, History::discard, now_.x, x_end);
  }
  ++now_.rounding.macro_steps;
  counters_.micro_steps = integrator_->micro_steps();
  counters_.rhs_evaluations = model_.rhs_evaluations();
  if (outcome == Outcome::failed) {
    failure_ = integrator_->failure() + remedy();
    return outcome;
  }
  rhs_.whole_step().note_way(now_.x, x_end);
  std::ranges::copy(x_end, now_.x.begin());
  const std::span<const double> errors = integrator_->local_errors();
  errors_.assign(errors.begin(), errors.end());
  keep_first_trial(step, inputs);
  return outcome;
}

/// A macro-step that was tried more than once tells that the coupling iterates, whose trials should
/// all be integrated the same way: then it begins without history.
History OdeSubsystem::usable_history(InputContinuity continuity) {
  const bool settled = !std::exchange(trials_.was_repeated, false);
  const bool smooth = continuity == InputContinuity::smooth;
  return continuation_ && smooth && settled ? History::keep : History::discard;
}

void OdeSubsystem::keep_first_trial(const MacroStep& step, std::span<const Polynomial> inputs) {
  if (!std::exchange(trials_.next_is_first, false) || !integrator_->continued()) return;
  trials_.first = std::make_unique<FirstTrial>(
      FirstTrial{step, {inputs.begin(), inputs.end()}, now_.x, errors_, {}});
  if (events_) trials_.first->way = events_->search().way();
}

bool OdeSubsystem::is_first_trial(const MacroStep& step, std::span<const Polynomial> inputs) const {
  const auto same = [](const Polynomial& a, const Polynomial& b) { return a.c == b.c; };
  return step.begin == trials_.first->step.begin && step.end == trials_.first->step.end &&
         std::equal(inputs.begin(), inputs.end(), trials_.first->inputs.begin(), same);
}

void OdeSubsystem::see(std::span<const Sample> inputs) {
  sizes_.see(now_, now_.h, [&](std::size_t i) { return inputs[i]; });
}

/// What may help where the method failed, not the model.
std::string OdeSubsystem::remedy() const {
  if (rhs_.failed_close_to(integrator_->reached())) return "";
  const bool whole = description_.kind == "monolithic";
  const std::string option = "-subsystem_" + (whole ? "" : description_.name + "_");
  const std::string others = "a smaller -cosim_step or a larger " + option + "rtol";
  switch (kind_) {
    case IntegratorKind::automatic:
      return "; erk, cvode_bdf and dirk were tried: use " + others;
    case IntegratorKind::dirk:
      return "; use " + others;
    default:
      return "; use " + option + "integrator dirk, " + others;
  }
}

Outcome OdeSubsystem::checked(bool ok) {
  counters_.rhs_evaluations = model_.rhs_evaluations();
  if (ok) return Outcome::ok;
  failure_ = model_.failure();
  return Outcome::failed;
}

Outcome OdeSubsystem::point_outputs(std::span<const Sample> inputs, Wanted wanted,
                                    std::span<Sample> outputs) {
  return checked(derivatives().outputs(now_.t, now_.h, now_.x, inputs, wanted, outputs));
}

Outcome OdeSubsystem::state_derivatives(std::span<const Sample> inputs, std::span<double> result) {
  Scratch scratch;
  return checked(model_.f(now_.t, now_.x, values_of(inputs, scratch), result));
}

Outcome OdeSubsystem::linearize(std::span<const Sample> inputs, Linearization& result) {
  see(inputs);
  result.parameters = parameters_.times_set;
  return checked(derivatives().linearize(now_.t, now_.h, now_.x, inputs, sizes(), result));
}

Outcome OdeSubsystem::linearize_entries(std::span<const Sample> inputs,
                                        const LinearPattern& pattern, Linearization& result) {
  see(inputs);
  result.parameters = parameters_.times_set;
  return checked(derivatives().linearize(now_.t, now_.h, now_.x, inputs, sizes(), pattern, result));
}

bool OdeSubsystem::keeps(const Linearization& known, std::span<const Sample> inputs) {
  if (known.parameters != parameters_.times_set) return false;
  if (!model_.constant_jacobians()) see(inputs);
  const bool keeps = derivatives().keeps(known, now_.t, now_.h, now_.x, inputs, sizes());
  counters_.rhs_evaluations = model_.rhs_evaluations();
  return keeps;
}

Outcome OdeSubsystem::derivatives_at(const StatePoint& point, std::span<double> result) {
  Scratch scratch;
  return checked(model_.f(point.t, point.x, values_of(point.inputs, scratch), result));
}

Outcome OdeSubsystem::linearize_at(const StatePoint& point, Linearization& result) {
  return checked(derivatives().linearize_at(point.t, point.x, point.inputs, sizes(),
                                            parameters_.times_set, result));
}

Outcome OdeSubsystem::outputs_at(const StatePoint& point, std::span<Sample> outputs) {
  return checked(
      derivatives().outputs(point.t, point.h, point.x, point.inputs, point.wanted, outputs));
}

/// Where the model has handled an event on the way, it is another one by now.
Outcome OdeSubsystem::retrace(const MacroStep& step, std::span<const Polynomial> inputs,
                              std::span<double> states, std::span<Sample> outputs) {
  const HandledEvents* handled = integrator_ ? integrator_->handled_events() : nullptr;
  if (handled != nullptr && !handled->what.empty()) return unable();
  if (!way_back_) way_back_ = std::make_unique<WayBack>(model_, kind_);
  const bool good = model_.aside([&] {
    if (followed_ && !now_.x.empty()) weigh_aside(step, inputs);
    if (step.begin != retraced_to_) way_back_->begin(followed_ ? nullptr : integrator_.get());
    retraced_to_ = step.end;
    return way_back_->follow(step, inputs, rhs_.weights(), states) &&
           derivatives().outputs(step.end, step.size(), states, way_back_->end_inputs(),
                                 Wanted::values, outputs);
  });
  return good ? Outcome::ok : unable();
}

/// Where it has only been led, nothing else has asked for weights.
void OdeSubsystem::weigh_aside(const MacroStep& step, std::span<const Polynomial> inputs) {
  OdeMemory here = now_;
  Scratch scratch;
  const std::span<double> u = scratch.numbers(inputs.size());
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = inputs[i](step.size());
  sizes_.weigh(here, step.size(), u, inputs, scratch.numbers(now_.x.size()));
}

/// Of a model that handles events itself those, too, that it has come to so.
double OdeSubsystem::next_event(std::span<const Sample> inputs) {
  if (hybrid_ == nullptr) return events_->next(now_.begin, now_.t, now_.x, inputs);
  const HandledEvents* handled = integrator_ ? integrator_->handled_events() : nullptr;
  double first = std::numeric_limits<double>::infinity();
  if (handled != nullptr) first = now_.begin + handled->first;
  if (!own_events_->located()) return first;
  first = own_events_->first_step_event(first, now_.t);
  return std::min(first, events_->next(now_.begin, now_.t, now_.x, inputs));
}

Outcome OdeSubsystem::happen(EventPass pass, std::span<const Sample> inputs, double slack,
                             EventChange& change, std::vector<Happening>& what) {
  trials_.first.reset();
  now_.seen = false;
  change = EventChange::nothing;
  if (pass != EventPass::settle && hybrid_ == nullptr && events_->is_quiet(now_.t, inputs, slack)) {
    events_->search().forget(slack);
    return Outcome::ok;
  }
  HandledEvents* handled = integrator_ ? integrator_->handled_events() : nullptr;
  if (handled != nullptr && handling() == EventHandling::told)
    own_events_->take_handled(std::exchange(handled->what, {}));
  return checked(events_->happen(pass, now_.t, now_.begin, now_.x, inputs, slack, change, what));
}

Outcome OdeSubsystem::set_parameter(std::size_t parameter, double value) {
  bool taken = false;
  const auto take = [&](double) { taken = model_.set_parameter(parameter, value); };
  if (!model_.attempt(now_.t, take)) return checked(false);
  if (!taken) {
    failure_ = "parameter '" + description_.parameters[parameter] + "' cannot be set to " +
               in_words(value);
    return Outcome::failed;
  }
  parameters_.values.resize(description_.parameters.size());
  parameters_.values[parameter] = value;
  ++parameters_.times_set;
  trials_.first.reset();
  if (events_) events_->look_again();
  return hybrid_ != nullptr && started_ && !initializing() ? change_parameters() : Outcome::ok;
}

/// At the communication point, with the inputs that led to it.
Outcome OdeSubsystem::change_parameters() {
  Scratch scratch;
  const std::span<const double> u = values_of(end_inputs_, scratch);
  const auto change = [&](double t) { hybrid_->change_parameters(t, now_.x, u); };
  const bool good = model_.attempt(now_.t, change);
  model_.forget();
  return checked(good);
}

/// With `monolithic`, which integrates itself, this is where the subsystem stands.
bool OdeSubsystem::complete_step(double t, std::span<const double> x, std::span<const double> u) {
  if (hybrid_ == nullptr) return true;
  now_.t = t;
  now_.x.assign(x.begin(), x.end());
  for (std::size_t i = 0; i < u.size(); ++i) end_inputs_[i] = {u[i], 0.0};
  return !hybrid_->completed_step(t, x, u);
}

/// What may be taken back has no events inside.
void OdeSubsystem::save() {
  if (handling() == EventHandling::told) {
    own_events_->locate();
    make_integrator();
  }
  if (events_) events_->begin(now_.t, now_.x);
  saved_.keep(now_);
  trials_.save();
  if (integrator_) integrator_->save();
}

void OdeSubsystem::restore() {
  now_ = saved_.kept();
  trials_.restore();
  if (integrator_) integrator_->restore();
}

/// What events may change is the model's own; one that was only started begins where the other is.
bool OdeSubsystem::pass_model(Archive& archive) {
  std::optional<std::string> reason;
  archive.enter(*hybrid_);
  if (!model_.attempt(now_.t, [&](double) { reason = hybrid_->io(archive); }))
    reason = model_.failure();
  if (reason) {
    failure_ = *reason;
    return false;
  }
  if (archive.reading()) model_.forget();
  bool located = own_events_->located();
  CONCORD_MEMBERS(archive, description_.events, located);
  if (archive.reading() && !integrator_) begin();
  if (located != own_events_->located()) {
    own_events_->locate(located);
    make_integrator();
  }
  if (integrator_) integrator_->io(archive);
  CONCORD_MEMBERS(archive, end_inputs_);
  return true;
}

/// The history of multistep methods is not in it.
bool OdeSubsystem::io(Archive& archive) {
  if (hybrid_ != nullptr && !pass_model(archive)) return false;
  if (events_) CONCORD_MEMBERS(archive, *events_);
  CONCORD_MEMBERS(archive, now_, trials_, parameters_, counters_, learnt_);
  if (integrator_) {
    archive.enter(*integrator_);
    integrator_->pass_course(archive);
  }
  for (std::size_t p = 0; archive.reading() && hybrid_ == nullptr && p < parameters_.values.size();
       ++p) {
    const auto& value = parameters_.values[p];
    if (value && !model_.set_parameter(p, *value)) return false;
  }
  CONCORD_MEMBERS(archive, model_);
  if (archive.reading()) saved_.keep(now_);
  return true;
}

/// What events may change comes first in the memory. A hybrid model has a time of its own.
bool OdeSubsystem::start_from(double t, std::span<const double> x,
                              std::span<const std::byte> memory) {
  Archive archive(std::vector(memory.begin(), memory.end()));
  if (hybrid_ != nullptr && t != now_.t) {
    failure_ = "stands at t = " + short_number(t) + " s and can only start there";
    return false;
  }
  if (hybrid_ != nullptr && !pass_model(archive)) return false;
  now_.x.assign(x.begin(), x.end());
  if (hybrid_ == nullptr && events_) {
    events_->model().take_over(archive);
    events_->start(now_.t, now_.x, description_.inputs.all());
  }
  sizes_.note_rising(now_);
  return true;
}

OdeModel* OdeSubsystem::equations() {
  const bool time_event = hybrid_ != nullptr && std::isfinite(hybrid_->next_time_event());
  return description_.capabilities.equations && !time_event ? &model_.native() : nullptr;
}

}  // namespace

std::unique_ptr<Subsystem> make_ode_subsystem(SubsystemDescription description,
                                              std::unique_ptr<OdeModel> model,
                                              const SubsystemSettings& settings) {
  const double relative = settings.tolerance.relative, absolute = settings.tolerance.absolute;
  const bool finite = std::isfinite(relative) && std::isfinite(absolute);
  if (!finite || !(relative > 0.0) || !(absolute > 0.0))
    throw InputError("subsystem '" + description.name + "': rtol " + in_words(relative) +
                     ", atol " + in_words(absolute) + ": both must be greater than 0");
  return std::make_unique<OdeSubsystem>(std::move(description), std::move(model), settings);
}

}  // namespace concord
