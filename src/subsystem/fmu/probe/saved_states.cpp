#include "subsystem/fmu/probe/saved_states.hpp"

#include <algorithm>
#include <cmath>
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

constexpr int most_steps = 10;  ///< until something moves, and once more with other inputs

/// What a child process says: records "doing X", "moved", "lost".
constexpr const char* doing_record = "doing ";
constexpr const char* moved_record = "moved";
constexpr const char* lost_record = "lost";
constexpr const char* saving = "saves its state";
constexpr const char* restoring = "restores its state";
constexpr const char* repeating = "repeats a step after a restore";

/// One instance, which makes the same steps whenever it stands at the start.
class StatesTrial {
 public:
  StatesTrial(const FmuSetup& setup, const TriedSteps& steps, const Tell& tell)
      : setup_(setup),
        steps_(steps),
        tell_(tell),
        inputs_(setup.ports(setup.input_variables, {}, SignalKind::continuous)),
        outputs_(setup.ports(setup.output_variables)) {
    for (const InputVariable& input : setup.description.inputs)
      u_.push_back(input.start.value_or(0.0));
  }

  /// In steps after which nobody sets it back.
  void go_freely() {
    start();
    go_until_moved(true);
  }

  void go_back() {
    start();
    doing(saving);
    FmuSnapshot saved(*instance_);
    require(instance_->save(saved));
    doing("makes steps");
    const int count = go_until_moved(false);
    if (count == 0) return;
    const Values first = values();
    doing(restoring);
    require(instance_->restore(saved));
    doing(repeating);
    for (int k = 0; k < count; ++k) step(k, false);
    if (differs(first, values())) tell_(lost_record);
  }

 private:
  void doing(const char* what) { tell_(std::string(doing_record) + what); }
  void require(bool good) const {
    if (!good) throw SimulationError(instance_->failure());
  }
  void start();
  int go_until_moved(bool freely);
  void step(int k, bool freely);
  Values values();
  bool differs(const Values& first, const Values& again) const;

  const FmuSetup& setup_;
  const TriedSteps& steps_;
  const Tell& tell_;
  FmuPorts inputs_, outputs_;
  Values u_, at_start_;
  std::unique_ptr<FmuInstance> instance_;
};

void StatesTrial::start() {
  doing("starts");
  FmuUse use = setup_.use;
  instance_ = make_instance(setup_, use);
  EventOutcome outcome;
  require(begin_initialization(setup_, *instance_, steps_.start, steps_.stop,
                               setup_.model->tolerance.value_or(0.0)) &&
          end_initialization(setup_, *instance_, outcome));
  at_start_ = values();
}

/// After how many steps something has moved; 0: nothing does.
int StatesTrial::go_until_moved(bool freely) {
  const double room = (steps_.stop - steps_.start) / steps_.size;
  const int most = static_cast<int>(std::min(2.0 * most_steps, std::floor(room + 1e-6)));
  for (int k = 0; k < most; ++k) {
    step(k, freely);
    if (values() == at_start_) continue;
    tell_(moved_record);
    return k + 1;
  }
  return 0;
}

/// What rests under the inputs of the start may move under others.
void StatesTrial::step(int k, bool freely) {
  constexpr double part = 0.1;
  if (k == most_steps) {
    Values others = u_;
    for (double& u : others) u += part * std::max(1.0, std::abs(u));
    require(instance_->set(inputs_, others));
  }
  double reached = 0.0;
  bool event = false;
  const double time = steps_.start + k * steps_.size;
  if (instance_->do_step(time, steps_.size, freely, reached, event) != StepEnd::completed)
    throw SimulationError("a step did not end as it should");
}

Values StatesTrial::values() {
  Values y(setup_.description.outputs.size()), x(setup_.description.states.size());
  require(instance_->get(outputs_, y) && instance_->get(setup_.states, x));
  y.insert(y.end(), x.begin(), x.end());
  return y;
}

bool StatesTrial::differs(const Values& first, const Values& again) const {
  constexpr double half = 0.5, rounding = 16.0 * std::numeric_limits<double>::epsilon();
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double size = std::max(std::abs(first[i]), std::abs(at_start_[i]));
    if (std::abs(again[i] - first[i]) > half * std::abs(first[i] - at_start_[i]) + rounding * size)
      return true;
  }
  return false;
}

/// What a child process has found.
struct Found {
  bool moved = false, lost = false;
  std::string broken;  ///< what it was doing of all that has to do with saved states when it ended
};

Found tried(const FmuSetup& setup, const TriedSteps& steps, void (StatesTrial::*work)()) {
  const ChildReport report = in_child_process(
      steps.longest, [&](const Tell& tell) { (StatesTrial(setup, steps, tell).*work)(); });
  Found found;
  std::string doing;
  bool ended = report.ended;
  for (const std::string& record : report.records) {
    if (record.starts_with(doing_record)) doing = record.substr(std::string(doing_record).size());
    if (record.starts_with("stopped ")) ended = false;
    found.moved = found.moved || record == moved_record;
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
  if (!back.moved && tried(setup, steps, &StatesTrial::go_freely).moved)
    return "claims to save and restore its state, but STANDS STILL as long as it may be set back";
  return "";
}

}  // namespace concord
