#include "cli/whole_model_export.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "cli/carried_libraries.hpp"
#include "cli/model_resources.hpp"
#include "cli/whole_companions.hpp"
#include "cli/whole_variables.hpp"
#include "concord/errors.hpp"
#include "concord/simulation.hpp"
#include "export/documentation.hpp"
#include "export/fixed_sources.hpp"
#include "export/whole_description.hpp"
#include "files/archive_writer.hpp"
#include "files/file_hash.hpp"
#include "files/scratch_folder.hpp"
#include "modelfile/model_file.hpp"
#include "simulation/direct_feedthrough.hpp"
#include "simulation/simulation_core.hpp"
#include "subsystem/fmu/binary/library.hpp"
#include "subsystem/fmu/probe/probe.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

/// What only a run has that writes files of its own or goes by the clock.
void refuse_options_of_runs() {
  constexpr std::array of_runs = {
      "cosim_output",  "cosim_record",     "cosim_checkpoint", "cosim_restart",
      "cosim_summary", "cosim_trace",      "cosim_time_limit", "cosim_realtime",
      "cosim_monitor", "cosim_progress",   "cosim_view",       "cosim_fmu_calls",
      "cosim_halving", "cosim_hang_limit", "cosim_scenario",   "cosim_stream"};
  for (const std::string& name : options::given("cosim_"))
    for (const std::string prefix : of_runs)
      if (name.starts_with(prefix))
        throw InputError("option -" + name +
                         " is for runs, and an FMU's importer makes its own; leave it out");
}

/// In the form of options files; start and stop go into the description.
std::string options_text(const Options& options) {
  std::string text;
  for (const auto& [name, value] : options) {
    const char quote = value.find('"') == std::string::npos ? '"' : '\'';
    text += "-" + name + (value.empty() ? "" : std::string(" ") + quote + value + quote) + "\n";
  }
  return text;
}

Options given_options() {
  refuse_options_of_runs();
  Options result;
  for (auto& [name, value] : options::named(options::all())) result[name] = value;
  return result;
}

/// A name of C.
std::string identifier_of(const fs::path& output) {
  std::string name = output.stem().string();
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ? "m" + name : name;
}

/// Whether outputs have derivatives by inputs that nothing feeds, which are tried at the start.
bool has_derivatives(SimulationCore& core, const WholeInterface& interface,
                     std::vector<std::string>& notes) {
  if (std::ranges::none_of(interface.variables, [](const WholeVariable& variable) {
        return variable.role == WholeRole::input;
      }))
    return false;
  try {
    DirectFeedthrough(core, core.stepper().point().inputs);
    return true;
  } catch (const std::runtime_error& error) {
    notes.push_back(std::string("there are no directional derivatives: ") + error.what());
    return false;
  }
}

/// Started once: what is in it, and what it can.
WholeInterface interface_of(Simulation& simulation, const WantedWhole& wanted,
                            std::vector<std::string>& notes) {
  simulation.start();
  SimulationCore& core = simulation.core();
  const Settings& settings = core.plan().settings;
  WholeInterface result;
  result.name = core.plan().model.name;
  result.identifier = identifier_of(wanted.output);
  result.changes = wanted.changes;
  result.start = settings.start;
  result.stop = settings.stop;
  result.tolerance = settings.accuracy;
  result.step = settings.by_accuracy || settings.adapt != Adapt::none ? 0.0 : settings.step;
  result.variables = whole_variables(core);
  if (const auto& missing = core.stepper().errors().missing())
    notes.push_back("there is no output error_estimate: " + *missing);
  result.derives = has_derivatives(core, result, notes);
  try {
    simulation.snapshot();
    result.keeps_state = true;
  } catch (const InputError& error) {
    notes.push_back(std::string("the FMU's state can be neither saved nor restored: ") +
                    error.what());
  }
  return result;
}

/// What is said of copies is meant of the model's own files.
std::string of_sources(std::string words, const ModelResources& resources, const fs::path& folder) {
  for (const auto& [place, source] : resources.files) {
    const std::string copy = (folder / place).string();
    for (std::size_t at = words.find(copy); at != words.npos; at = words.find(copy, at))
      words.replace(at, copy.size(), source.string());
  }
  return words;
}

/// From the files that go into the archive, whatever groups a run makes of subsystems. What was
/// tried goes into the options.
WholeInterface tried_interface(const WantedWhole& wanted, const Model& model, Options& options,
                               const ModelResources& resources, const fs::path& folder,
                               std::vector<std::string>& notes) {
  try {
    Options at_one_pace = options;
    at_one_pace.erase("cosim_paces");
    Simulation simulation(MPI_COMM_SELF, model_file(folder / resources.model, wanted.changes),
                          at_one_pace);
    options = with_trials(model, simulation.core().plan().model, options);
    return interface_of(simulation, wanted, notes);
  } catch (const InputError& error) {
    throw InputError(of_sources(error.what(), resources, folder));
  } catch (const SimulationError& error) {
    throw SimulationError(of_sources(error.what(), resources, folder));
  }
}

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// Beside what the archive holds: the model's files.
void add_resources(ArchiveWriter& archive, const WholeInterface& interface, const Options& options,
                   const ModelResources& resources, const fs::path& folder) {
  archive.add(std::string("resources/") + whole_model_file, as_json(interface));
  archive.add(std::string("resources/") + whole_options_file, options_text(options));
  for (const auto& [place, source] : resources.files)
    archive.add("resources/model/" + place, content_of(folder / place));
}

/// That no FMU with other content has.
std::string token_of(const WholeInterface& interface, const Options& options,
                     const ModelResources& resources, const fs::path& folder,
                     const std::string& more) {
  std::string all = as_json(interface) + options_text(options) + more;
  for (const auto& [place, source] : resources.files) all += place + sha256_of(folder / place);
  return guid_of(all);
}

}  // namespace

std::vector<std::string> export_whole_model(const WantedWhole& wanted) {
  const fs::path binary = whole_model_folder() / "whole_model.so";
  const Options given = given_options();
  const Model model = read_model_file(wanted.model, read_changes(wanted.changes));
  Options options = with_isolation(model, given);
  const ModelResources resources = resources_of(model);
  const fs::path folder =
      shared_scratch_folder("whole|" + fs::absolute(wanted.output).string(),
                            [&](const fs::path& place) { resources.write(place); });
  std::vector<std::string> notes;
  WholeInterface interface = tried_interface(wanted, model, options, resources, folder, notes);
  interface.model = "model/" + resources.model;
  for (const char* experiment : {"cosim_start", "cosim_stop"}) options.erase(experiment);
  interface.token = token_of(interface, options, resources, folder,
                             sha256_of(binary) + (wanted.version == FmiVersion::v2 ? "2" : "3"));
  ArchiveWriter archive(wanted.output);
  archive.add("modelDescription.xml", whole_description(interface, wanted.version));
  archive.add("documentation/index.html", documentation(interface, wanted.version));
  archive.add("documentation/licenses/license.txt", fixed_sources::license);
  archive.add(std::string("binaries/") + platform_folder(wanted.version) + "/" +
                  interface.identifier + ".so",
              content_of(binary));
  if (wanted.with_libraries)
    for (const auto& [name, source] : carried_files(binary))
      archive.add(std::string("binaries/") + platform_folder(wanted.version) + "/concord/" + name,
                  looking_beside(content_of(source)));
  for (const auto& [place, source] : companions_of(model))
    archive.add("binaries/" + place, content_of(source));
  add_resources(archive, interface, options, resources, folder);
  archive.close();
  return notes;
}

}  // namespace concord
