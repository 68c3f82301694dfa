#include "subsystem/fmu/probe/probe.hpp"

#include <algorithm>
#include <filesystem>

#include "concord/errors.hpp"
#include "files/child_process.hpp"
#include "subsystem/fmu/probe/probe_trials.hpp"
#include "subsystem/fmu/setup.hpp"
#include "support/ranks.hpp"

namespace concord {

namespace {

constexpr unsigned longest_trial = 60;  ///< seconds

/// A claim that its own trial does not confirm is not believed.
void withhold(FmuTrial trial, FmuProbe& probe) {
  if (trial == FmuTrial::rollback) probe.rollback = probe.rollback.value_or(false);
  if (trial == FmuTrial::serialization) probe.serializes = false;
  if (trial == FmuTrial::directional) probe.directional = false;
  if (trial == FmuTrial::input_derivatives) probe.input_order = probe.input_order.value_or(0);
}

/// Adds what the "key value" records of a child say; what it was doing last.
std::string understand(const std::vector<std::string>& records, FmuProbe& probe,
                       SerializedState& state, std::string& stopped) {
  std::string doing = "loading it";
  const auto also = [](std::optional<bool>& found, const std::string& value) {
    found = found.value_or(true) && value == "1";
  };
  for (const std::string& record : records) {
    const std::size_t blank = std::min(record.find(' '), record.size());
    const std::string key = record.substr(0, blank);
    const std::string value = blank == record.size() ? "" : record.substr(blank + 1);
    if (key == "doing") doing = value;
    if (key == "stopped") stopped = value;
    if (key == "line") probe.lines.push_back(value);
    if (key == "rollback") also(probe.rollback, value);
    if (key == "serializes") also(probe.serializes, value);
    if (key == "directional") also(probe.directional, value);
    if (key == "input_order") probe.input_order = std::stoi(value);
    if (key == "state") state.bytes = value;
    if (key == "values") state.values = value;
  }
  return doing;
}

/// Makes one trial in a child process of its own and adds what it finds. An FMU that cannot even be
/// stepped crashes; elsewhere only the claim is lost.
void make_trial(FmuTrial trial, const FmuSetup& setup, FmuProbe& probe, SerializedState& state) {
  const ChildReport report = in_child_process(
      longest_trial, [&](const auto& tell) { run_probe_trial(trial, setup, state, tell); });
  std::string stopped;
  const std::string doing = understand(report.records, probe, state, stopped);
  if (!report.ended) {
    probe.lines.push_back((report.late ? "no end after a minute while " : "CRASHES while ") +
                          doing);
    if (trial == FmuTrial::stepping) probe.crash = doing;
  }
  if (!stopped.empty()) probe.lines.push_back("stopped while " + doing + ": " + stopped);
  if (!report.ended || !stopped.empty()) withhold(trial, probe);
}

}  // namespace

bool can_be_tried(const FmuSetup& setup) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  return initialized == 0 || ranks_of(MPI_COMM_WORLD) == 1 ||
         !std::filesystem::exists(setup.folder / "resources" / whole_model_file);
}

FmuProbe probe_fmu(const FmuSetup& setup) {
  FmuProbe probe;
  if (!can_be_tried(setup)) {
    probe.lines = {"not tried: it has MPI inside, which takes a run on one rank"};
    return probe;
  }
  if (has_clocks(*setup.model)) {
    probe.lines = {"not tried: it has clocks, which tick in runs only"};
    return probe;
  }
  SerializedState state;
  make_trial(FmuTrial::stepping, setup, probe, state);
  for (const FmuTrial trial : claimed_trials(setup))
    if (probe.crash.empty()) make_trial(trial, setup, probe, state);
  if (!state.bytes.empty()) make_trial(FmuTrial::serialization, setup, probe, state);
  return probe;
}

std::shared_ptr<const FmuSetup> without_refuted(const FmuSetup& setup, const FmuProbe& probe) {
  const FmuRequest& request = setup.request;
  if (!probe.crash.empty())
    throw InputError(request.location + ": subsystem '" + request.subsystem + "' (" +
                     request.path.string() + "): the FMU crashes while " + probe.crash);
  auto result = std::make_shared<FmuSetup>(setup);
  FmuUse& use = result->use;
  use.state = use.state && probe.rollback.value_or(true);
  use.serializes = use.serializes && probe.serializes.value_or(true);
  use.directional = use.directional && probe.directional.value_or(true);
  use.input_order = std::min(use.input_order, probe.input_order.value_or(use.input_order));
  result->description.capabilities = capabilities_of(*result, use);
  return result;
}

}  // namespace concord
