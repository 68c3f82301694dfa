#include "subsystem/fmu/probe/saved_states.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "concord/errors.hpp"
#include "files/child_process.hpp"
#include "subsystem/fmu/setup.hpp"

namespace concord {

namespace {

using Tell = std::function<void(const std::string&)>;
using Values = std::vector<double>;

constexpr int most_quiet = 10, most_pushed = 2;  ///< steps

/// By which inputs are moved, of themselves.
constexpr double part = 0.1;

/// The part of what moves that may not be missing, and what is no movement.
constexpr double half = 0.5, hundredth = 0.01,
                 rounding = 16.0 * std::numeric_limits<double>::epsilon();

/// What a child process says: records "doing X", "lost", and "way " with numbers behind it.
constexpr const char* doing_record = "doing ";
const std::string way_record = "way ";
constexpr const char* lost_record = "lost";
constexpr const char* saving = "saves its state";
constexpr const char* restoring = "restores its state";
constexpr const char* repeating = "repeats a step after a restore";

/// One instance, which makes the same steps whenever it stands at the start: some under the inputs
/// of the start, until something moves, and a few under others, which may move what rests.
class StatesTrial {
 public:
  StatesTrial(const FmuSetup& setup, const TriedSteps& steps, const Tell& tell)
      : setup_(setup),
        steps_(steps),
        tell_(tell),
        inputs_(setup.model->version),
        outputs_(setup.ports(setup.output_variables)),
        clocks_(clocked_variables(setup)),
        most_(static_cast<int>(
            std::min(static_cast<double>(most_quiet + 2 * most_pushed),
                     std::floor((steps.stop - steps.start) / steps.size + 1e-6)))) {
    for (const InputVariable& input : setup.description.inputs)
      u_.push_back(input.start.value_or(0.0));
    add_inputs();
  }

  /// In steps after which nobody sets it back.
  void go_freely() {
    start();
    move_on(true);
    go(true);
    tell_way();
  }

  void go_back() {
    start();
    doing(saving);
    FmuSnapshot saved(*instance_);
    require(instance_->save(saved));
    doing("makes steps");
    move_on(false);
    doing(saving);
    require(instance_->save(saved));  // over what it saved before, which some don't do
    saved_ticks_ = ticks_;
    doing("makes steps");
    go(false);
    tell_way();
    const Values quiet = quiet_, pushed = pushed_;
    go_again(saved, true);
    bool lost = is_lost(at_start_, quiet, quiet_);
    if (!lost && pushed != quiet) {
      const Values again = pushed_;
      go_again(saved, false);
      lost = answers_are_lost(pushed_, pushed, again);
    }
    if (lost) tell_(lost_record);
  }

 private:
  void doing(const char* what) { tell_(std::string(doing_record) + what); }
  void require(bool good) const {
    if (!good) throw SimulationError(instance_->failure());
  }
  void add_inputs();
  void start();
  void go(bool freely);
  void move_on(bool freely);
  void tell_way() const;
  void go_again(const FmuSnapshot& saved, bool push);
  void go_pushed(bool push, bool freely);
  void step(int k, bool freely);
  void step_by(double size, bool freely);
  Ticking ticking() { return {clocks_, ticks_, t_, u_}; }
  Values values();
  static bool is_lost(const Values& before, const Values& first, const Values& again);
  static bool answers_are_lost(const Values& without, const Values& first, const Values& again);

  const FmuSetup& setup_;
  const TriedSteps& steps_;
  const Tell& tell_;
  FmuPorts inputs_, outputs_;
  FmuClocks clocks_;
  ClockMemory ticks_, saved_ticks_;
  double t_ = 0.0;
  int most_;         ///< steps that there is room for
  int before_ = 0;   ///< steps made before those that are repeated
  int n_quiet_ = 0;  ///< under the inputs of the start
  Values u_;
  Values initial_, at_start_, quiet_, pushed_;  ///< then, and after either steps
  std::unique_ptr<FmuInstance> instance_;
};

/// Real ones that may be set between steps.
void StatesTrial::add_inputs() {
  std::size_t first = 0;
  for (const FmiVariable* input : setup_.input_variables) {
    const bool real = input->type == FmiType::float64 || input->type == FmiType::float32;
    const bool held = kind_of(*input) == SignalKind::held;
    if (real && !(held && setup_.use.event_mode)) inputs_.add(*input, first);
    first += input->size;
  }
}

void StatesTrial::start() {
  doing("starts");
  FmuUse use = setup_.use;
  instance_ = make_instance(setup_, use);
  EventOutcome outcome;
  ticks_ = clocks_.memory();
  t_ = steps_.start;
  const Ticking at_start = ticking();
  require(begin_initialization(setup_, *instance_, steps_.start, steps_.stop,
                               setup_.model->tolerance.value_or(0.0)) &&
          clocks_.read_outputs(*instance_, ticks_) &&
          end_initialization(setup_, *instance_, outcome, clocks_.empty() ? nullptr : &at_start));
  initial_ = at_start_ = values();
}

void StatesTrial::go(bool freely) {
  const int most = std::min(most_quiet, std::max(most_ - most_pushed, 0));
  quiet_ = at_start_;
  require(instance_->set(inputs_, u_));
  while (n_quiet_ < most && quiet_ == at_start_) {
    step(n_quiet_++, freely);
    quiet_ = values();
  }
  go_pushed(true, freely);
}

/// To another state than that of the start, and other inputs than the start's.
void StatesTrial::move_on(bool freely) {
  const int count = std::min(most_pushed, most_ - 1);
  if (count <= 0) return;
  Values u = u_;
  for (double& one : u) one -= part * std::max(1.0, std::abs(one));
  require(instance_->set(inputs_, u));
  for (int k = 0; k < count; ++k) step(k, freely);
  before_ = count;
  most_ -= count;
  at_start_ = values();
}

/// Where it went before it was set back: all values, stage by stage.
void StatesTrial::tell_way() const {
  std::string bytes;
  for (const Values* stage : {&initial_, &at_start_, &quiet_, &pushed_})
    bytes.append(reinterpret_cast<const char*>(stage->data()), stage->size() * sizeof(double));
  tell_(way_record + bytes);
}

void StatesTrial::go_again(const FmuSnapshot& saved, bool push) {
  doing(restoring);
  require(instance_->restore(saved));
  ticks_ = saved_ticks_;
  doing(repeating);
  require(instance_->set(inputs_, u_));
  for (int k = 0; k < n_quiet_; ++k) step(k, false);
  if (n_quiet_ > 0) quiet_ = values();
  go_pushed(push, false);
}

void StatesTrial::go_pushed(bool push, bool freely) {
  Values u = u_;
  for (double& one : u) one += push ? part * std::max(1.0, std::abs(one)) : 0.0;
  require(instance_->set(inputs_, u));
  const int end = std::min(n_quiet_ + most_pushed, most_);
  for (int k = n_quiet_; k < end; ++k) step(k, freely);
  pushed_ = values();
}

/// Clocks tick on the way, as in a run.
void StatesTrial::step(int k, bool freely) {
  const double begin = steps_.start + (before_ + k) * steps_.size, end = begin + steps_.size;
  t_ = begin;
  for (double next = clocks_.next(ticks_); next < end; next = clocks_.next(ticks_)) {
    if (next > t_ + rounding * std::max(std::abs(t_), std::abs(next))) step_by(next - t_, freely);
    t_ = next;
    EventOutcome outcome;
    const Ticking here = ticking();
    require(instance_->enter_event_mode() && iterate_events(*instance_, outcome, &here));
  }
  step_by(t_ == begin ? steps_.size : end - t_, freely);
}

void StatesTrial::step_by(double size, bool freely) {
  double reached = 0.0;
  bool event = false;
  if (instance_->do_step(t_, size, freely, reached, event) != StepEnd::completed)
    throw SimulationError("a step did not end as it should");
}

Values StatesTrial::values() {
  Values y(setup_.description.outputs.size()), x(setup_.description.states.size());
  require(instance_->get(outputs_, y) && instance_->get(setup_.states, x));
  clocks_.give(ticks_, y);
  y.insert(y.end(), x.begin(), x.end());
  return y;
}

/// Of what anything has moved, half.
bool StatesTrial::is_lost(const Values& before, const Values& first, const Values& again) {
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double size = std::max(std::abs(first[i]), std::abs(before[i]));
    const double moved = std::abs(first[i] - before[i]);
    if (std::abs(again[i] - first[i]) > half * moved + rounding * size) return true;
  }
  return false;
}

/// Of all that answers other inputs, half: an answer may be small beside what an integrator that
/// begins anew makes of the rest.
bool StatesTrial::answers_are_lost(const Values& without, const Values& first,
                                   const Values& again) {
  bool any = false, kept = false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double size = std::max(std::abs(first[i]), std::abs(without[i]));
    const double answer = std::abs(first[i] - without[i]);
    if (answer <= rounding * size) continue;
    any = true;
    kept = kept || std::abs(again[i] - first[i]) <= half * answer;
  }
  return any && !kept;
}

/// What a child process has found.
struct Found {
  bool lost = false;
  Values way;
  std::string broken;  ///< what it was doing of all that has to do with saved states when it ended
};

Values numbers_in(const std::string& bytes) {
  Values numbers(bytes.size() / sizeof(double));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

/// Whether two ways part by a hundredth of what the second has moved: nobody is set back on either,
/// and nothing begins anew, but on the first one may be, and was saved.
bool part_ways(const Values& first, const Values& second) {
  constexpr std::size_t stages = 4;
  if (first.size() != second.size()) return false;
  const std::size_t n = second.size() / stages;
  for (std::size_t i = 0; i < n; ++i) {
    double moved = 0.0, size = 0.0, apart = 0.0;
    for (std::size_t at = i; at < second.size(); at += n) {
      moved = std::max(moved, std::abs(second[at] - second[i]));
      size = std::max(size, std::abs(second[at]));
      apart = std::max(apart, std::abs(first[at] - second[at]));
    }
    if (apart > hundredth * moved + rounding * size) return true;
  }
  return false;
}

Found tried(const FmuSetup& setup, const TriedSteps& steps, void (StatesTrial::*work)()) {
  const ChildReport report = in_child_process(
      steps.longest, [&](const Tell& tell) { (StatesTrial(setup, steps, tell).*work)(); });
  Found found;
  std::string doing;
  bool ended = report.ended;
  for (const std::string& record : report.records) {
    if (record.starts_with(doing_record)) doing = record.substr(std::string(doing_record).size());
    if (record.starts_with("stopped ")) ended = false;
    if (record.starts_with(way_record)) found.way = numbers_in(record.substr(way_record.size()));
    found.lost = found.lost || record == lost_record;
  }
  const bool of_states = doing == saving || doing == restoring || doing == repeating;
  if (!ended && of_states) found.broken = doing;
  return found;
}

}  // namespace

std::string refuted_states(const FmuSetup& setup, const TriedSteps& steps) {
  const Found back = tried(setup, steps, &StatesTrial::go_back);
  if (!back.broken.empty())
    return "claims to save and restore its state, but fails where it " + back.broken;
  if (back.lost)
    return "claims to save and restore its state, but the same steps after a restore give OTHER "
           "values";
  if (part_ways(back.way, tried(setup, steps, &StatesTrial::go_freely).way))
    return "claims to save and restore its state, but goes another way (or STANDS STILL) once it "
           "is saved and as long as it may be set back";
  return "";
}

}  // namespace concord
