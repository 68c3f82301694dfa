#include "cli/whole_model_export.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>

#include "cli/model_resources.hpp"
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
#include "simulation/simulation_core.hpp"
#include "subsystem/fmu/binary/library.hpp"
#include "subsystem/fmu/probe/probe.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

/// Beside this library, as it was built or installed.
fs::path whole_binary() {
  Dl_info own = {};
  std::error_code error;
  const bool known = dladdr(reinterpret_cast<const void*>(&whole_binary), &own) != 0;
  const fs::path folder = fs::canonical(known ? own.dli_fname : "", error).parent_path();
  const fs::path binary = folder / "concord" / "whole_model.so";
  if (!fs::exists(binary, error))
    throw InputError("FMUs of whole models need " + binary.string() +
                     ", which is not there; install Concord again");
  return binary;
}

/// What only a run has that writes files of its own or goes by the clock.
void refuse_options_of_runs() {
  constexpr std::array of_runs = {
      "cosim_output", "cosim_record",     "cosim_checkpoint", "cosim_restart",    "cosim_summary",
      "cosim_trace",  "cosim_time_limit", "cosim_realtime",   "cosim_monitor",    "cosim_progress",
      "cosim_view",   "cosim_fmu_calls",  "cosim_halving",    "cosim_hang_limit", "cosim_scenario"};
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

/// What foreign code needs beside it is not in the archive.
void refuse_code_of_others(const Model& model) {
  for (const SubsystemEntry& entry : model.subsystems) {
    const std::string& kind = entry.description.kind;
    const bool is_code = kind == "native" || kind == "python";
    if (!is_code && !entry.isolated) continue;
    throw InputError((entry.location.empty() ? model.source : entry.location) + ": subsystem '" +
                     entry.description.name + "' is " +
                     (is_code ? kind : "isolated in a process of its own") +
                     ", which needs Concord itself beside it; an FMU of the whole model takes "
                     "equations, tables and FMUs" +
                     (is_code ? "" : ": give -subsystem_isolated false"));
  }
}

/// A name of C.
std::string identifier_of(const fs::path& output) {
  std::string name = output.stem().string();
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ? "m" + name : name;
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

/// From the files that go into the archive.
WholeInterface tried_interface(const WantedWhole& wanted, const Options& options,
                               const ModelResources& resources, const fs::path& folder,
                               std::vector<std::string>& notes) {
  try {
    Simulation simulation(MPI_COMM_SELF, model_file(folder / resources.model, wanted.changes),
                          options);
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
  const fs::path binary = whole_binary();
  const Options options = given_options();
  const Model model = read_model_file(wanted.model, read_changes(wanted.changes));
  refuse_code_of_others(model);
  const ModelResources resources = resources_of(model);
  const fs::path folder =
      shared_scratch_folder("whole|" + fs::absolute(wanted.output).string(),
                            [&](const fs::path& place) { resources.write(place); });
  std::vector<std::string> notes;
  WholeInterface interface = tried_interface(wanted, options, resources, folder, notes);
  interface.model = "model/" + resources.model;
  Options kept = options;
  for (const char* experiment : {"cosim_start", "cosim_stop"}) kept.erase(experiment);
  interface.token = token_of(interface, kept, resources, folder,
                             sha256_of(binary) + (wanted.version == FmiVersion::v2 ? "2" : "3"));
  ArchiveWriter archive(wanted.output);
  archive.add("modelDescription.xml", whole_description(interface, wanted.version));
  archive.add("documentation/index.html", documentation(interface, wanted.version));
  archive.add("documentation/licenses/license.txt", fixed_sources::license);
  archive.add(std::string("binaries/") + platform_folder(wanted.version) + "/" +
                  interface.identifier + ".so",
              content_of(binary));
  add_resources(archive, interface, kept, resources, folder);
  archive.close();
  return notes;
}

}  // namespace concord
