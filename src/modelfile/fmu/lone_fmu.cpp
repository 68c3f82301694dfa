#include "modelfile/fmu/lone_fmu.hpp"

#include <algorithm>
#include <utility>

#include "concord/errors.hpp"
#include "files/time_table.hpp"
#include "modelfile/fmu/clock_connections.hpp"
#include "modelfile/fmu/fmu_entry.hpp"
#include "subsystem/driven/driven_subsystem.hpp"
#include "subsystem/fmu/setup.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

namespace fs = std::filesystem;

std::string name_in_model(const fs::path& path) {
  std::string name = path.stem().string();
  for (char& c : name)
    if (!is_name(std::string("x") + c)) c = '_';
  return is_name(name) ? name : "_" + name;
}

/// The variable behind an input of the description, which may be an element of an array.
const FmiVariable& variable_of(const FmuSetup& setup, std::size_t input) {
  std::size_t first = 0;
  for (const FmiVariable* variable : setup.input_variables) {
    if (input < first + variable->size) return *variable;
    first += variable->size;
  }
  throw InputError("there is no such input");
}

std::size_t input_named(const SubsystemDescription& fmu, const std::string& name,
                        const std::string& file) {
  std::vector<std::string> names;
  for (const InputVariable& input : fmu.inputs) names.push_back(input.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw InputError(file + ": column " + in_quotes(name) + " is no input of the FMU that takes " +
                     "numbers; " + known("inputs", name, names));
  return static_cast<std::size_t>(found - names.begin());
}

Drive drive_from(const fs::path& file, const SubsystemEntry& entry) {
  TimeTable table = read_table(file);
  Drive drive;
  std::vector<SampledSignals::Signal> signals;
  for (std::size_t i = 0; i < table.names.size(); ++i) {
    const std::size_t input = input_named(entry.description, table.names[i], file.string());
    const FmiVariable& variable = variable_of(*entry.type->fmu, input);
    const bool real = variable.type == FmiType::float64 || variable.type == FmiType::float32;
    const bool held = !real || variable.variability != FmiVariability::continuous;
    signals.push_back({table.names[i], std::move(table.columns[i]), held});
    drive.inputs.push_back(input);
  }
  drive.signals = std::make_shared<SampledSignals>(std::move(table.time), std::move(signals));
  const bool stepped = entry.type->fmu->role == FmuRole::co_simulation;
  drive.any_step = !stepped || (entry.type->fmu->interface().variable_steps &&
                                entry.type->fmu->interface().fixed_internal_step == 0.0);
  return drive;
}

std::string described(const Drive& drive, const fs::path& file) {
  std::string linear, held;
  for (const auto& signal : drive.signals->signals()) {
    std::string& list = signal.held ? held : linear;
    list += (list.empty() ? "" : ", ") + signal.name;
  }
  return "inputs from " + file.string() + ":" + (linear.empty() ? "" : " linear " + linear) +
         (held.empty() ? "" : std::string(linear.empty() ? "" : ";") + " held " + held) +
         (drive.any_step ? "" : "; as they are at the begin of each step, whose size is fixed");
}

void feed_from(const fs::path& file, Model& model) {
  SubsystemEntry& entry = model.subsystems.front();
  const Drive drive = drive_from(file, entry);
  entry.description = driven_description(entry.description, drive);
  entry.description.remarks.push_back(described(drive, file));
  entry.type.own().create = [create = entry.type->create, drive](
                                const SubsystemEntry& self, const SubsystemSettings& settings) {
    return drive_subsystem(create(self, settings), drive);
  };
  if (drive.any_step && entry.description.capabilities.point_outputs)
    model.events = drive.signals->jumps();
}

/// "ball.h=2", as --set would say it.
std::string in_lines(const FmuRequest& request) {
  std::string result;
  for (const FmuValue& value : request.values)
    result += (result.empty() ? "" : "\n") + request.subsystem + "." + value.name + "=" +
              joined(value.texts, " ");
  return result;
}

}  // namespace

bool is_fmu(const fs::path& path) { return path.extension() == ".fmu"; }

Model read_lone_fmu(const LoneFmu& fmu) {
  std::error_code error;
  if (!fs::is_regular_file(fmu.path, error))
    throw InputError(fmu.path.string() + ": there is no such file; give the path of an FMU");
  FmuRequest request;
  request.subsystem = name_in_model(fmu.path);
  request.path = fmu.path;
  request.location = fmu.path.string();
  request.values = fmu.start_values;
  Model model;
  model.name = fmu.path.stem().string();
  model.source = request.location;
  model.changes = in_lines(request);
  model.subsystems.push_back(fmu_entry(std::move(request)));
  const ModelDescription& description = *model.subsystems.front().type->fmu->model;
  model.start = description.start.value_or(0.0);
  model.stop = description.stop.value_or(model.start + 1.0);
  model.start_location = model.stop_location = model.source + ": DefaultExperiment";
  model.files = {model.subsystems.front().type->file};
  if (!fmu.input_file.empty()) {
    feed_from(fmu.input_file, model);
    model.files.push_back({"input file", fmu.input_file});
  }
  check_clocks(model);
  return model;
}

double preferred_step(const Model& model) {
  return model.subsystems.front().type->fmu->model->step.value_or(0.0);
}

}  // namespace concord
