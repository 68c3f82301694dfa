#include "subsystem/fmu/binary/logged_call.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "support/wording.hpp"

namespace concord {
namespace {

constexpr std::size_t most_entries = 16;
constexpr std::size_t longest_text = 120;

using Role = CallArgument::Role;

/// Of the functions in FMI 1.0, 2.0.4 and 3.0.2, behind "fmi"; those that read and write
/// variables are not here.
constexpr std::pair<std::string_view, std::string_view> parameter_names[] = {
    {"Initialize", "toleranceControlled relativeTolerance eventInfo"},
    {"InitializeSlave", "tStart StopTimeDefined tStop"},
    {"2SetupExperiment", "toleranceDefined tolerance startTime stopTimeDefined stopTime"},
    {"3EnterInitializationMode", "toleranceDefined tolerance startTime stopTimeDefined stopTime"},
    {"2GetFMUstate", "FMUstate"},
    {"3GetFMUState", "FMUState"},
    {"2SetFMUstate", "FMUstate"},
    {"3SetFMUState", "FMUState"},
    {"2FreeFMUstate", "FMUstate"},
    {"3FreeFMUState", "FMUState"},
    {"2SerializedFMUstateSize", "FMUstate size"},
    {"3SerializedFMUStateSize", "FMUState size"},
    {"2SerializeFMUstate", "FMUstate serializedState size"},
    {"3SerializeFMUState", "FMUState serializedState size"},
    {"2DeSerializeFMUstate", "serializedState size FMUstate"},
    {"3DeserializeFMUState", "serializedState size FMUState"},
    {"SetTime", "time"},
    {"2SetTime", "time"},
    {"3SetTime", "time"},
    {"SetContinuousStates", "x nx"},
    {"2SetContinuousStates", "x nx"},
    {"3SetContinuousStates", "continuousStates nContinuousStates"},
    {"GetContinuousStates", "x nx"},
    {"2GetContinuousStates", "x nx"},
    {"3GetContinuousStates", "continuousStates nContinuousStates"},
    {"GetDerivatives", "derivatives nx"},
    {"2GetDerivatives", "derivatives nx"},
    {"3GetContinuousStateDerivatives", "derivatives nContinuousStates"},
    {"GetEventIndicators", "eventIndicators ni"},
    {"2GetEventIndicators", "eventIndicators ni"},
    {"3GetEventIndicators", "eventIndicators nEventIndicators"},
    {"GetStateValueReferences", "vrx nx"},
    {"EventUpdate", "intermediateResults eventInfo"},
    {"2NewDiscreteStates", "eventInfo"},
    {"3UpdateDiscreteStates",
     "discreteStatesNeedUpdate terminateSimulation nominalsOfContinuousStatesChanged "
     "valuesOfContinuousStatesChanged nextEventTimeDefined nextEventTime"},
    {"CompletedIntegratorStep", "callEventUpdate"},
    {"2CompletedIntegratorStep",
     "noSetFMUStatePriorToCurrentPoint enterEventMode terminateSimulation"},
    {"3CompletedIntegratorStep",
     "noSetFMUStatePriorToCurrentPoint enterEventMode terminateSimulation"},
    {"2GetDirectionalDerivative", "vUnknown_ref nUnknown vKnown_ref nKnown dvKnown dvUnknown"},
    {"3GetDirectionalDerivative",
     "unknowns nUnknowns knowns nKnowns seed nSeed sensitivity nSensitivity"},
    {"SetRealInputDerivatives", "vr nvr order value"},
    {"2SetRealInputDerivatives", "vr nvr order value"},
    {"GetRealOutputDerivatives", "vr nvr order value"},
    {"2GetRealOutputDerivatives", "vr nvr order value"},
    {"3GetOutputDerivatives", "valueReferences nValueReferences orders values nValues"},
    {"DoStep", "currentCommunicationPoint communicationStepSize newStep"},
    {"2DoStep", "currentCommunicationPoint communicationStepSize noSetFMUStatePriorToCurrentPoint"},
    {"3DoStep",
     "currentCommunicationPoint communicationStepSize noSetFMUStatePriorToCurrentPoint "
     "eventHandlingNeeded terminateSimulation earlyReturn lastSuccessfulTime"},
    {"GetRealStatus", "s value"},
    {"3SetClock", "valueReferences nValueReferences values"},
    {"3GetClock", "valueReferences nValueReferences values"},
    {"3GetIntervalDecimal", "valueReferences nValueReferences intervals qualifiers"},
    {"3GetIntervalFraction", "valueReferences nValueReferences counters resolutions qualifiers"},
    {"3GetShiftDecimal", "valueReferences nValueReferences shifts"},
    {"3GetShiftFraction", "valueReferences nValueReferences counters resolutions"},
    {"3ActivateModelPartition", "clockReference activationTime"},
    {"3GetBinary", "valueReferences nValueReferences valueSizes values nValues"},
    {"3SetBinary", "valueReferences nValueReferences valueSizes values nValues"},
    {"2GetRealStatus", "s value"},
    {"2GetBooleanStatus", "s value"}};

std::vector<std::string> names_of(std::string_view function) {
  constexpr std::string_view prefix = "fmi";
  const std::string_view key = function.substr(std::min(prefix.size(), function.size()));
  const auto* found = std::find_if(std::begin(parameter_names), std::end(parameter_names),
                                   [&](const auto& names) { return names.first == key; });
  if (found != std::end(parameter_names)) return words(std::string(found->second));
  return words(key.starts_with('3') ? "valueReferences nValueReferences values nValues"
                                    : "vr nvr value");
}

std::size_t size_in(const CallArgument& argument) {
  return *static_cast<const std::size_t*>(argument.entries);
}

bool has_entries(const CallArgument& argument) {
  return argument.role == Role::given || argument.role == Role::filled;
}

/// Whether the argument is the number of entries of the one before it.
bool counts_entries(std::span<const CallArgument> arguments, std::size_t i) {
  return arguments[i].role == Role::size && i > 0 && has_entries(arguments[i - 1]);
}

/// Entries have their number behind them; else, in FMI 2, what the FMU fills has that of the first
/// list, what it reads that of the list before. Nothing: it is one entry.
std::optional<std::size_t> count_of(std::span<const CallArgument> arguments, std::size_t i) {
  if (i + 1 < arguments.size() && counts_entries(arguments, i + 1))
    return size_in(arguments[i + 1]);
  std::optional<std::size_t> found;
  for (std::size_t k = 0; k < i; ++k) {
    const bool first_counts = arguments[i].role == Role::filled && found;
    if (counts_entries(arguments, k) && !first_counts) found = size_in(arguments[k]);
  }
  return found;
}

void append_list(std::string& text, const CallArgument& argument, std::size_t count) {
  text += '[';
  for (std::size_t k = 0; k < std::min(count, most_entries); ++k) {
    if (k > 0) text += ' ';
    argument.append(text, argument.entries, k);
  }
  if (count > most_entries) text += " ... of " + std::to_string(count);
  text += ']';
}

}  // namespace

void append_text(std::string& text, const char* entry) {
  if (entry == nullptr) {
    text += "null";
    return;
  }
  text += '\'';
  const std::string_view whole = entry;
  for (const char c : whole.substr(0, longest_text))
    text += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  text += whole.size() > longest_text ? "...'" : "'";
}

namespace {

/// "{name=value name=value}"
class FieldsInWords {
 public:
  explicit FieldsInWords(std::string& text) : text_(text) { text_ += '{'; }
  ~FieldsInWords() { text_ += '}'; }
  FieldsInWords(const FieldsInWords&) = delete;
  FieldsInWords& operator=(const FieldsInWords&) = delete;

  template <class Value>
  void operator()(const char* name, Value value) {
    text_ += std::string(text_.ends_with('{') ? "" : " ") + name + "=";
    append_entry(text_, value);
  }

 private:
  std::string& text_;
};

}  // namespace

void append_entry(std::string& text, const fmi1::EventInfo& info) {
  FieldsInWords add(text);
  add("iterationConverged", info.iteration_converged);
  add("stateValueReferencesChanged", info.state_references_changed);
  add("stateValuesChanged", info.states_changed);
  add("terminateSimulation", info.terminate_simulation);
  add("upcomingTimeEvent", info.upcoming_time_event);
  if (info.upcoming_time_event != 0) add("nextEventTime", info.next_event_time);
}

void append_entry(std::string& text, const fmi2::EventInfo& info) {
  FieldsInWords add(text);
  add("newDiscreteStatesNeeded", info.new_discrete_states_needed);
  add("terminateSimulation", info.terminate_simulation);
  add("nominalsOfContinuousStatesChanged", info.nominals_changed);
  add("valuesOfContinuousStatesChanged", info.states_changed);
  add("nextEventTimeDefined", info.next_event_time_defined);
  if (info.next_event_time_defined != 0) add("nextEventTime", info.next_event_time);
}

std::string arguments_in_words(std::string_view function, std::span<const CallArgument> arguments,
                               bool filled) {
  const std::vector<std::string> names = names_of(function);
  std::string text;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const CallArgument& argument = arguments[i];
    const bool wanted = argument.role != Role::unshown && !counts_entries(arguments, i) &&
                        (argument.role == Role::filled) == filled;
    if (!wanted) continue;
    text += (text.empty() ? "" : " ") + names.at(i) + "=";
    const auto count = has_entries(argument) ? count_of(arguments, i) : std::nullopt;
    if (count)
      append_list(text, argument, *count);
    else
      argument.append(text, argument.entries, 0);
  }
  return text;
}

LoggedCall::LoggedCall(CallLog* log, CalledInstance instance, std::string_view function,
                       std::string_view arguments)
    : log_(log), instance_(instance), function_(function) {
  if (log_ == nullptr) return;
  number_ = log_->begin(instance_, function_, arguments);
  began_ = std::chrono::steady_clock::now();
}

LoggedCall::~LoggedCall() { returned("exception"); }

void LoggedCall::returned(std::string_view status, std::string_view results) {
  if (log_ == nullptr) return;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began_;
  std::exchange(log_, nullptr)->end(number_, instance_, function_, results, status, taken.count());
}

}  // namespace concord
