#include "subsystem/fmu/instance.hpp"

#include <cstdio>

#include "concord/errors.hpp"
#include "subsystem/fmu/fmi2_instance.hpp"
#include "subsystem/fmu/fmi3_instance.hpp"
#include "support/exception_words.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

constexpr int most_printed = 20;
constexpr int most_event_rounds = 10'000;

const char* word_for(int status) {
  constexpr const char* words[] = {"ok", "warning", "discard", "error", "fatal", "pending"};
  return status >= 0 && status < 6 ? words[status] : "a status that does not exist";
}

}  // namespace

void FmuPorts::add(const FmiVariable& variable) {
  references_.push_back(variable.reference);
  items_.push_back({variable.type, variable.reference, size_, variable.size});
  size_ += variable.size;
  all_float64_ = all_float64_ && variable.type == FmiType::float64;
}

void FmuMessages::take(int status, const char* text) noexcept {
  if (text == nullptr) return;
  try {
    if (status > 0) last = text;
    if (!print || printed > most_printed) return;
    if (++printed > most_printed)
      std::fprintf(stderr, "%s: further messages are not shown\n", instance.c_str());
    else
      std::fprintf(stderr, "%s: %s: %s\n", instance.c_str(), word_for(status), text);
  } catch (...) {
    printed = most_printed + 1;
  }
}

FmuInstance::FmuInstance(const FmuSource& source)
    : source_(source), common_(load_common_functions(source_)) {
  messages_.instance = source.name;
  messages_.print = source.log;
  place_.what = "the FMU";
  place_.subsystem = source_.name.c_str();
  place_.origin = source_.library->fmu().c_str();
  ++source_.library->instances;
}

FmuInstance::~FmuInstance() { --source_.library->instances; }

void FmuInstance::end() noexcept {
  if (handle_ == nullptr || source_.library->is_dead()) return;
  if (initialized_ && !in_error_) {
    const Running terminating(*this,
                              "Terminate");  // also where an exception cannot leave from here
    if (invoke_raw(common_.terminate) >= 4) {
      source_.library->declare_dead();
      return;
    }
  }
  const Running running(*this, "FreeInstance");
  common_.free_instance(handle_);
}

std::unique_ptr<FmuInstance> FmuInstance::make(const FmuSource& source) {
  if (source.library->is_dead())
    throw SimulationError("subsystem " + in_quotes(source.name) + ": the FMU " +
                          source.library->fmu() + " has reported fatal before");
  if (source.interface().only_once_per_process && source.library->instances > 0)
    throw InputError("the FMU " + source.library->fmu() +
                     " can be instantiated only once per process; use more MPI ranks, so that each "
                     "has one instance (mpirun -n)");
  if (source.description->version == FmiVersion::v2) return make_fmi2_instance(source);
  return make_fmi3_instance(source);
}

bool FmuInstance::set(const FmuPorts& ports, std::span<const double> values) {
  if (ports.all_float64()) return ports.size() == 0 || set_float64(ports.references(), values);
  for (const FmuPorts::Item& item : ports.items())
    if (!set_item(item, values.data() + item.first)) return false;
  return true;
}

bool FmuInstance::get(const FmuPorts& ports, std::span<double> values) {
  if (ports.all_float64()) return ports.size() == 0 || get_float64(ports.references(), values);
  for (const FmuPorts::Item& item : ports.items())
    if (!get_item(item, values.data() + item.first)) return false;
  return true;
}

std::string FmuInstance::when() const {
  if (std::isnan(place_.time)) return " before the start";
  return " at t = " + short_number(place_.time) + " s";
}

bool FmuInstance::enter_initialization(double start, double stop, double tolerance) {
  place_.time = start;
  return begin_initialization(start, stop, tolerance);
}

bool FmuInstance::leave_initialization() {
  initialized_ = true;
  return invoke(common_.exit_initialization_mode);
}

bool FmuInstance::update_discrete_states(EventOutcome& outcome) {
  bool again = true;
  for (int round = 0; again && !outcome.terminate; ++round) {
    if (round == most_event_rounds) {
      failure_ = "the event iteration of the FMU " + source_.library->fmu() +
                 " has not ended after " + std::to_string(round) + " rounds";
      last_was_discard_ = false;
      return false;
    }
    if (!update_discrete_states_once(outcome, again)) return false;
  }
  return true;
}

bool FmuInstance::set_state(void* state) {
  in_error_ = false;
  return invoke(common_.set_state, state);
}

void FmuInstance::free_state(void*& state) noexcept {
  if (state != nullptr && !source_.library->is_dead()) invoke_raw(common_.free_state, &state);
  state = nullptr;
}

bool FmuInstance::serialize(void* state, std::vector<char>& bytes) {
  std::size_t size = 0;
  if (!invoke(common_.serialized_size, state, &size)) return false;
  bytes.resize(size);
  return invoke(common_.serialize, state, bytes.data(), size);
}

void FmuInstance::judge(int status, const std::string& call) {
  failure_ = call + " of the FMU " + source_.library->fmu() + " returned " + word_for(status);
  if (!messages_.last.empty())
    failure_ += " (" + in_quotes(messages_.last) + ")";
  else if (!messages_.print)
    failure_ += " (-subsystem_fmu_log true shows its messages)";
  messages_.last.clear();
  last_was_discard_ = status == 2;
  in_error_ = in_error_ || status >= 3;
  if (status != 4) return;
  source_.library->declare_dead();
  throw SimulationError(failure_ + when() + "; no instance of this FMU can be called any more");
}

void FmuInstance::throw_dead() const {
  throw SimulationError("another instance of the FMU " + source_.library->fmu() +
                        " has reported fatal; no instance of it can be called any more");
}

/// In a catch block: an exception has left the FMU, which may be anywhere now.
void FmuInstance::throw_thrown(const char* call) const {
  source_.library->declare_dead();
  throw SimulationError("subsystem " + in_quotes(source_.name) + ": " + call + " of the FMU " +
                        source_.library->fmu() + " threw an exception" + when() + ": " +
                        in_words(std::current_exception()));
}

void FmuInstance::fail_to_instantiate(const char* call) const {
  const std::string reason = messages_.last.empty() ? "" : " (" + in_quotes(messages_.last) + ")";
  throw SimulationError("subsystem " + in_quotes(source_.name) + ": " + call + " of the FMU " +
                        source_.library->fmu() + " failed" + reason);
}

}  // namespace concord
