#include "whole_fmu/whole_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "files/sealed_bytes.hpp"
#include "files/text_file.hpp"
#include "simulation/run_quality.hpp"
#include "simulation/run_summary.hpp"
#include "simulation/simulation_core.hpp"
#include "subsystem/fmu/probe/probe.hpp"
#include "support/options_file.hpp"
#include "support/wording.hpp"
#include "whole_fmu/libraries.hpp"

namespace concord {
namespace {

using Role = WholeRole;
using Values = std::vector<WholeValue>;

Options options_in(const std::filesystem::path& file) {
  Options result;
  const std::vector<std::string> words = read_options_file(file);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool valued = i + 1 < words.size() && !is_option_name(words[i + 1]);
    const std::string name = words[i].substr(1);
    result[name] = valued ? words[++i] : "";
  }
  return result;
}

/// Which many importers' unpacking leaves to us. Where it cannot be, starting it says so.
void allow_running(const std::filesystem::path& program) {
  using std::filesystem::perms;
  std::error_code error;
  if (std::filesystem::exists(program, error))
    std::filesystem::permissions(program, perms::owner_exec, std::filesystem::perm_options::add,
                                 error);
}

const WholeValue* find(const Values& values, std::size_t position) {
  const auto place = std::ranges::find(values, position, &WholeValue::position);
  return place == values.end() ? nullptr : &*place;
}

/// In the order of positions, each once.
void put(Values& values, WholeValue given) {
  const auto place = std::ranges::lower_bound(values, given.position, {}, &WholeValue::position);
  if (place != values.end() && place->position == given.position)
    place->value = given.value;
  else
    values.insert(place, given);
}

void take_out(Values& values, std::size_t position) {
  std::erase_if(values, [&](const WholeValue& one) { return one.position == position; });
}

/// Of times that are one time, added up in another way.
double rounding(double time, double other) {
  constexpr double spacings = 4.0;
  return spacings * std::numeric_limits<double>::epsilon() *
         std::max(std::abs(time), std::abs(other));
}

}  // namespace

WholeModel::WholeModel(const std::filesystem::path& resources, const std::string& token,
                       EventUse events)
    : events_(events) {
  const std::filesystem::path file = resources / whole_model_file;
  interface_ =
      whole_interface_of(read_text_file(file, "what an FMU of a whole model holds"), file.string());
  if (token != interface_.token)
    throw InputError("the token " + in_quotes(token) + " is not this FMU's, " + interface_.token +
                     "; give that of its modelDescription.xml");
  options_ = options_in(resources / whole_options_file);
  allow_running(resources / "../binaries/bin/concord_subsystem_host");
  model_ = model_file(resources / interface_.model, interface_.changes);
  state_.experiment.start = interface_.start;
}

double WholeModel::time() const {
  const bool begun =
      state_.phase != WholePhase::instantiated && state_.phase != WholePhase::initializing;
  return simulation_ && begun ? simulation_->time() : state_.experiment.start;
}

std::string WholeModel::take_warning() { return std::exchange(warning_, ""); }

std::size_t WholeModel::position(unsigned reference) const {
  if (reference >= interface_.variables.size())
    throw InputError("there is no variable with the value reference " + std::to_string(reference) +
                     "; they end at " + std::to_string(interface_.variables.size() - 1));
  return reference;
}

void WholeModel::require(std::initializer_list<WholePhase> phases, const char* remedy) const {
  if (std::find(phases.begin(), phases.end(), state_.phase) == phases.end())
    throw InputError(std::string("not now: ") + (state_.phase == WholePhase::failed
                                                     ? "the simulation has failed; reset it, or "
                                                       "restore a state"
                                                     : remedy));
}

void WholeModel::set_up(const WholeExperiment& experiment) {
  require({WholePhase::instantiated}, "it comes before initialisation");
  if (!std::isfinite(experiment.start))
    throw InputError("the start time " + exact_number(experiment.start) + " is no time");
  if (experiment.stop && !(*experiment.stop > experiment.start))
    throw InputError("the stop time " + exact_number(*experiment.stop) +
                     " does not lie behind the start time " + exact_number(experiment.start));
  state_.experiment = experiment;
}

void WholeModel::begin_initialization() {
  require({WholePhase::instantiated}, "initialisation begins once");
  state_.phase = WholePhase::initializing;
}

void WholeModel::end_initialization() {
  require({WholePhase::initializing}, "initialisation has to begin first");
  state_.phase = WholePhase::failed;
  need_start();
  state_.phase = events_.mode ? WholePhase::event : WholePhase::stepping;
}

void WholeModel::terminate() {
  require({WholePhase::stepping, WholePhase::event, WholePhase::terminated},
          "it ends what was initialised");
  if (state_.phase != WholePhase::terminated) look_at_quality();
  state_.phase = WholePhase::terminated;
}

/// The simulation stays, which costs less to reset than to make.
void WholeModel::reset() {
  if (simulation_ && simulation_->stop_time() != first_stop()) simulation_.reset();
  state_ = {};
  state_.experiment.start = interface_.start;
  forget_point();
}

void WholeModel::set(std::span<const unsigned> references, const double* values) {
  require(
      {WholePhase::instantiated, WholePhase::initializing, WholePhase::stepping, WholePhase::event},
      "values are set before the end");
  forget_point();
  for (std::size_t i = 0; i < references.size(); ++i) {
    const WholeValue given{position(references[i]), values[i]};
    if (!std::isfinite(given.value))
      throw InputError("'" + interface_.variables[given.position].name + "' cannot be set to " +
                       exact_number(given.value) + "; give a finite number");
    const bool begun = state_.phase == WholePhase::stepping || state_.phase == WholePhase::event;
    begun ? set_later(given) : set_start(given);
  }
}

/// What the model has itself is as if nothing had been given: what is computed from other
/// parameters goes on to follow them.
void WholeModel::set_start(WholeValue given) {
  const WholeVariable& variable = interface_.variables[given.position];
  if (!variable.start) throw InputError("'" + variable.name + "' is computed and cannot be set");
  if (given.value == *variable.start)
    take_out(state_.starts, given.position);
  else
    put(state_.starts, given);
}

/// What is there already is no event.
void WholeModel::set_later(WholeValue given) {
  const WholeVariable& variable = interface_.variables[given.position];
  const bool is_input = variable.role == Role::input;
  if (!is_input && !variable.tunable)
    throw InputError("'" + variable.name + "' cannot be set any more" +
                     (variable.start ? ": only until initialisation ends" : ": it is computed"));
  const double now = is_input ? simulation_->value(found(given.position)) : known(given.position);
  take_out(state_.waiting, given.position);
  if (given.value != now) put(state_.waiting, given);
}

/// The last value that was given, or the model's.
double WholeModel::known(std::size_t position) const {
  for (const Values* values : {&state_.waiting, &state_.settled, &state_.starts})
    if (const WholeValue* given = find(*values, position)) return given->value;
  return *interface_.variables[position].start;
}

void WholeModel::get(std::span<const unsigned> references, double* values) {
  if (state_.phase == WholePhase::initializing) need_start();
  const bool begun = state_.phase != WholePhase::instantiated;
  std::vector<Variable> wanted;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < references.size(); ++i) {
    const std::size_t place = position(references[i]);
    const WholeVariable& variable = interface_.variables[place];
    const bool is_read = variable.role == Role::input || variable.role == Role::output ||
                         variable.role == Role::state;
    if (variable.role == Role::time) {
      values[i] = time();
    } else if (variable.role == Role::error_estimate && begun) {
      values[i] = estimate();
    } else if (const auto left = left_limit(place)) {
      values[i] = *left;
    } else if (begun && variable.role == Role::output && !state_.waiting.empty()) {
      values[i] = point().outputs[place_in_network(place)].value;
    } else if (begun && is_read && find(state_.waiting, place) == nullptr) {
      require({WholePhase::initializing, WholePhase::stepping, WholePhase::event,
               WholePhase::terminated},
              "");
      wanted.push_back(found(place));
      places.push_back(i);
    } else if (variable.start) {
      values[i] = known(place);
    } else {
      throw InputError("'" + variable.name +
                       "' has no value yet; initialisation has to begin first");
    }
  }
  std::vector<double> read(wanted.size());
  if (!wanted.empty()) simulation_->values(wanted, read);
  for (std::size_t i = 0; i < places.size(); ++i) values[places[i]] = read[i];
}

void WholeModel::forget_places() {
  found_.clear();
  settable_.clear();
  forget_point();
}

void WholeModel::forget_point() {
  with_waiting_.reset();
  feedthrough_.reset();
}

/// Where the model stands, with inputs that the next step begins with; parameters that are set
/// count in it only.
const CommunicationPoint& WholeModel::point() {
  if (with_waiting_) return *with_waiting_;
  std::vector<InputChange> inputs;
  for (const auto& [place, value] : state_.waiting)
    if (interface_.variables[place].role == Role::input)
      inputs.push_back({place_in_network(place), value});
  return with_waiting_.emplace(point_with(simulation_->core(), inputs));
}

/// Of an input that nothing feeds, an output or a state.
std::size_t WholeModel::place_in_network(std::size_t position) {
  const WrittenVariables& written = simulation_->core().plan().written;
  const Variable variable = found(position);
  switch (variable.kind()) {
    case Variable::Kind::output:
      return written.output(variable.index());
    case Variable::Kind::input:
      return written.input(variable.index()).input;
    default:
      return written.state(variable.index());
  }
}

std::optional<double> WholeModel::left_limit(std::size_t position) {
  const Role role = interface_.variables[position].role;
  if (state_.left_outputs.empty() || (role != Role::output && role != Role::state)) return {};
  const auto& values = role == Role::output ? state_.left_outputs : state_.left_states;
  return values.at(place_in_network(position));
}

/// Whether the last macro-step has ended at an event.
bool WholeModel::take_left_limits() {
  StepReport report;
  simulation_->core().stepper().events().tell(report);
  if (report.events.empty() || report.left == nullptr) return false;
  state_.left_outputs.clear();
  for (const Sample& output : report.left->outputs) state_.left_outputs.push_back(output.value);
  state_.left_states = report.left->states;
  return true;
}

void WholeModel::forget_left_limits() {
  state_.left_outputs.clear();
  state_.left_states.clear();
}

const DirectFeedthrough& WholeModel::feedthrough() {
  if (!interface_.derives)
    throw InputError("this FMU does not offer derivatives, as its export has told");
  require({WholePhase::initializing, WholePhase::stepping, WholePhase::event},
          "derivatives are those of a point between initialisation and the end");
  if (state_.phase == WholePhase::initializing) need_start();
  if (state_.phase == WholePhase::initializing && simulation_->core().plan().model.start_problem)
    throw InputError(
        "there are no derivatives yet: the start follows from initial equations, of which inputs "
        "are a part; ask behind initialisation");
  if (!state_.left_outputs.empty())
    throw InputError("an event is to be handled first: enter event mode");
  if (!feedthrough_) feedthrough_.emplace(simulation_->core(), point().inputs);
  return *feedthrough_;
}

/// Its place in the network; none where nothing moves it at once.
std::optional<Eigen::Index> WholeModel::output_to_derive(unsigned reference) {
  const std::size_t place = position(reference);
  const WholeVariable& variable = interface_.variables[place];
  if (variable.role == Role::error_estimate) return std::nullopt;
  if (variable.role != Role::output)
    throw InputError("'" + variable.name + "' is no output: derivatives are those of outputs");
  return static_cast<Eigen::Index>(place_in_network(place));
}

Eigen::Index WholeModel::input_to_derive_by(unsigned reference) {
  const std::size_t place = position(reference);
  const WholeVariable& variable = interface_.variables[place];
  if (variable.role != Role::input)
    throw InputError("'" + variable.name + "' is no input: derivatives are by inputs");
  return static_cast<Eigen::Index>(place_in_network(place));
}

void WholeModel::derive(std::span<const unsigned> unknowns, std::span<const unsigned> knowns,
                        const double* seed, double* result) {
  const DirectFeedthrough& at_once = feedthrough();
  const Network& network = simulation_->core().plan().network;
  Eigen::VectorXd inputs = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(network.n_inputs()));
  for (std::size_t i = 0; i < knowns.size(); ++i) inputs[input_to_derive_by(knowns[i])] += seed[i];
  const Eigen::VectorXd outputs = at_once.forward(inputs);
  for (std::size_t i = 0; i < unknowns.size(); ++i) {
    const auto output = output_to_derive(unknowns[i]);
    result[i] = output ? outputs[*output] : 0.0;
  }
}

void WholeModel::derive_adjoint(std::span<const unsigned> unknowns,
                                std::span<const unsigned> knowns, const double* seed,
                                double* result) {
  const DirectFeedthrough& at_once = feedthrough();
  const Network& network = simulation_->core().plan().network;
  Eigen::VectorXd outputs = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(network.n_outputs()));
  for (std::size_t i = 0; i < unknowns.size(); ++i)
    if (const auto output = output_to_derive(unknowns[i])) outputs[*output] += seed[i];
  const Eigen::VectorXd inputs = at_once.adjoint(outputs);
  for (std::size_t i = 0; i < knowns.size(); ++i) result[i] = inputs[input_to_derive_by(knowns[i])];
}

void WholeModel::enter_event_mode() {
  if (!events_.mode) throw InputError("the instance was made without event mode");
  require({WholePhase::stepping}, "event mode comes between steps");
  forget_left_limits();
  state_.phase = WholePhase::event;
}

std::optional<double> WholeModel::update_discrete_states() {
  require({WholePhase::event}, "discrete states are updated in event mode");
  state_.phase = WholePhase::failed;
  at_start_ = false;
  settle();
  simulation_->core().take_changes();
  state_.phase = WholePhase::event;
  const double next = simulation_->core().stepper().next_event();
  return std::isfinite(next) ? std::optional(next) : std::nullopt;
}

void WholeModel::enter_step_mode() {
  require({WholePhase::event}, "step mode comes behind event mode");
  state_.phase = WholePhase::stepping;
}

/// A name may be that of an output and of a state that is something else.
void WholeModel::find_all() {
  const WrittenVariables& written = simulation_->core().plan().written;
  using Kind = Variable::Kind;
  const std::pair<Role, std::pair<Kind, const std::vector<std::string>*>> all[] = {
      {Role::input, {Kind::input, &written.input_names()}},
      {Role::output, {Kind::output, &written.output_names()}},
      {Role::state, {Kind::state, &written.state_names()}}};
  found_.assign(interface_.variables.size(), std::nullopt);
  for (const auto& [role, known] : all) {
    const auto& [kind, names] = known;
    std::unordered_map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < names->size(); ++i) places.emplace((*names)[i], i);
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const auto place = places.find(interface_.variables[i].source);
      if (interface_.variables[i].role == role && place != places.end())
        found_[i] = Variable(kind, place->second);
    }
  }
}

Variable WholeModel::found(std::size_t position) {
  if (found_.empty()) find_all();
  if (!found_[position])
    throw InputError("with these parameters the model has no '" +
                     interface_.variables[position].source +
                     "', which the FMU has; leave what gives vectors their sizes");
  return *found_[position];
}

/// At the start, with what was given until now.
void WholeModel::need_start() {
  const bool made = simulation_ && made_for_ == state_.experiment;
  if (made && at_start_ && made_with_ == state_.starts) return;
  at_start_ = false;
  if (!made) make(first_stop());
  Changes changes;
  for (const auto& [position, value] : state_.starts)
    changes.push_back(interface_.variables[position].source + "=" + exact_number(value));
  forget_places();
  if (changes.empty() && !made)
    simulation_->start();
  else
    simulation_->reset(changes);
  made_with_ = state_.starts;
  at_start_ = true;
}

/// The model's own where the importer says none.
double WholeModel::first_stop() const {
  const auto& [start, stop, accuracy] = state_.experiment;
  const double own = interface_.stop;
  return stop.value_or(own > start ? own : start + (own - interface_.start));
}

/// The importer's tolerance counts where the accuracy decides.
void WholeModel::make(double stop) {
  need_libraries();
  const WholeExperiment& experiment = state_.experiment;
  Options options = options_;
  if (experiment.start != interface_.start) options["cosim_start"] = exact_number(experiment.start);
  if (stop != interface_.stop) options["cosim_stop"] = exact_number(stop);
  const double accuracy = experiment.accuracy.value_or(interface_.tolerance);
  if (interface_.step == 0.0 && accuracy != interface_.tolerance)
    options["cosim_accuracy"] = exact_number(accuracy);
  simulation_.reset();
  simulation_ = std::make_unique<Simulation>(MPI_COMM_SELF, model_, options);
  made_for_ = experiment;
  forget_places();
}

void WholeModel::settle() {
  forget_point();
  for (const WholeValue& given : std::exchange(state_.waiting, {})) {
    settable_.resize(interface_.variables.size());
    auto& place = settable_[given.position];
    if (!place) place = simulation_->settable(interface_.variables[given.position].source);
    simulation_->set(*place, given.value);
    put(state_.settled, given);
  }
}

/// The importer has not said where it ends: the same simulation with a later stop.
void WholeModel::go_beyond(double time) {
  const double stop = simulation_->stop_time();
  if (state_.experiment.stop)
    throw InputError("the step ends at t = " + exact_number(time) + " s, behind the stop time " +
                     exact_number(stop) + " s that was said before initialisation");
  if (!interface_.keeps_state)
    throw InputError("the step ends at t = " + exact_number(time) +
                     " s, behind the model's own "
                     "stop time " +
                     exact_number(stop) +
                     " s; say the stop time before "
                     "initialisation: this model's state cannot be passed on to another one");
  const Snapshot here = simulation_->snapshot();
  make(std::max(time, stop + (stop - state_.experiment.start)));
  Changes changes;
  for (const auto& [position, value] : made_with_)
    changes.push_back(interface_.variables[position].source + "=" + exact_number(value));
  changes.empty() ? simulation_->start() : simulation_->reset(changes);
  simulation_->restore(here);
}

StepOutcome WholeModel::step(double time, double size) {
  require({WholePhase::stepping}, "steps come after initialisation and before the end");
  constexpr double share = 1e-6;
  const double here = simulation_->time(), end = time + size;
  if (!(size > 0.0) || !std::isfinite(end))
    throw InputError("a step of " + exact_number(size) + " s from t = " + exact_number(time) +
                     " s leads nowhere; give a size that is greater than zero");
  if (!(std::abs(time - here) <= share * size + rounding(time, here)))
    throw InputError("the step begins at t = " + exact_number(time) +
                     " s, and the FMU is at t = " + exact_number(here) + " s");
  if (end - simulation_->stop_time() > rounding(end, simulation_->stop_time())) go_beyond(end);
  state_.phase = WholePhase::failed;
  at_start_ = false;
  forget_left_limits();
  settle();
  bool event = false;
  simulation_->advance_until(std::max(end, here), [&] {
    event = events_.mode && take_left_limits();
    return !(event && events_.early_return);
  });
  if (!event) forget_left_limits();
  state_.phase = WholePhase::stepping;
  const double now = simulation_->time();
  const StepOutcome ended{event, event && end - now > rounding(end, now)};
  if (!simulation_->finished()) return ended;
  look_at_quality();
  if (simulation_->end_reason().empty()) return ended;
  forget_left_limits();
  state_.phase = WholePhase::terminated;
  throw EndedEarly(simulation_->end_reason());
}

/// What a run's summary would say first, or a run would begin again for.
void WholeModel::look_at_quality() {
  const SimulationCore& core = simulation_->core();
  const RunQuality quality = quality_of(core, RunSummary{});
  const Settings& settings = core.plan().settings;
  constexpr double of_a_range = 0.1;
  const double most = settings.by_accuracy ? settings.accuracy : of_a_range;
  if (!quality.undecided.empty())
    warning_ = quality.undecided;
  else if (quality.of_range.value_or(0.0) > most)
    warning_ = "the estimated error, " + short_number(*quality.of_range) +
               " of a signal's range (" + quality.worst_output + "), is more than " +
               short_number(most) + "; take a smaller " +
               (settings.by_accuracy ? "-cosim_accuracy (tolerance)" : "-cosim_step") +
               ", or shorter communication steps";
}

double WholeModel::estimate() {
  const RunQuality quality = quality_of(simulation_->core(), RunSummary{});
  return quality.of_range.value_or(1.0);
}

WholeState WholeModel::saved() {
  require({WholePhase::instantiated, WholePhase::initializing, WholePhase::stepping,
           WholePhase::event, WholePhase::terminated},
          "");
  WholeState result = state_;
  if (state_.phase != WholePhase::instantiated && state_.phase != WholePhase::initializing)
    result.snapshot = simulation_->snapshot();
  return result;
}

void WholeModel::restore(const WholeState& state) {
  if (state.phase == WholePhase::event && !events_.mode)
    throw InputError("the state is one of event mode, which this instance was made without");
  forget_point();
  state_ = state;
  state_.snapshot.reset();
  if (!state.snapshot) return;
  state_.phase = WholePhase::failed;
  if (!simulation_ || made_for_ != state_.experiment || made_with_ != state_.starts) need_start();
  at_start_ = false;
  simulation_->restore(*state.snapshot);
  state_.phase = state.phase;
}

std::vector<std::byte> WholeModel::bytes_of(const WholeState& state) const {
  WholeState copy = state;
  std::string token = interface_.token;
  std::vector<std::byte> snapshot;
  if (copy.snapshot) snapshot = copy.snapshot->bytes();
  Archive archive;
  archive(token, copy.phase, copy.experiment.start, copy.experiment.stop, copy.experiment.accuracy,
          copy.starts, copy.settled, copy.waiting, copy.left_outputs, copy.left_states, snapshot);
  return sealed(archive.bytes());
}

WholeState WholeModel::state_of(std::span<const std::byte> bytes) const {
  const auto content = unsealed(bytes);
  if (!content)
    throw InputError("these " + std::to_string(bytes.size()) +
                     " bytes are no state that this FMU has serialised");
  Archive archive(std::vector<std::byte>(content->begin(), content->end()));
  std::string token;
  archive(token);
  if (token != interface_.token)
    throw InputError("the state is of another FMU, with the token " + token);
  WholeState result;
  std::vector<std::byte> snapshot;
  archive(result.phase, result.experiment.start, result.experiment.stop, result.experiment.accuracy,
          result.starts, result.settled, result.waiting, result.left_outputs, result.left_states,
          snapshot);
  if (!snapshot.empty()) result.snapshot = Snapshot::of_bytes(snapshot);
  return result;
}

}  // namespace concord
