#include <algorithm>
#include <cstdio>

#include "cli/commands.hpp"
#include "cli/export_options.hpp"
#include "concord/errors.hpp"
#include "export/ssp_writer.hpp"
#include "modelfile/model_file.hpp"
#include "network/network.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

void print_notes(const std::vector<std::string>& notes) {
  std::fflush(stdout);
  for (const std::string& note : notes) std::fprintf(stderr, "concord: note: %s\n", note.c_str());
}

/// The subsystem of equations of that name, or an InputError that says what it is instead.
const SubsystemEntry& exportable(const Model& model, const std::string& name) {
  std::vector<std::string> names;
  for (const SubsystemEntry& entry : model.subsystems) {
    const SubsystemDescription& d = entry.description;
    if (d.name == name && entry.equations) return entry;
    if (d.name == name)
      throw InputError(
          (entry.location.empty() ? model.source : entry.location) + ": subsystem '" + name +
          (entry.fmu ? "' is an FMU already: " + model.source + " names its file"
           : d.constraint
               ? "' is a constraint of the whole model, not a part that an FMU could hold"
               : "' is " + d.kind +
                     ": compiled C++ has no equations that could be written down; 'export-fmu' "
                     "takes subsystems with 'equations:'"));
    if (entry.equations) names.push_back(d.name);
  }
  throw InputError(model.source + ": there is no subsystem " + in_quotes(name) + "; " +
                   known("subsystems with equations", name, names));
}

}  // namespace

int export_fmu_command(int argc, char** argv) {
  const ExportOptions options = parse_export_fmu(argc, argv);
  const Model model = read_model_file(options.model);
  const SubsystemEntry& entry = exportable(model, options.subsystem);
  FmuExport wanted;
  wanted.version = options.version;
  wanted.binary = options.binary;
  wanted.experiment.start = model.start;
  wanted.experiment.stop = model.stop;
  auto notes = export_fmu(*entry.equations, wanted, options.output);
  if (!model.events.empty())
    notes.push_back("the model's events are no part of the FMU, which announces no time events");
  for (std::string& note : notes) note = "subsystem '" + options.subsystem + "': " + note;
  print_notes(notes);
  std::printf("%s\n", options.output.c_str());
  return 0;
}

int export_ssp_command(int argc, char** argv) {
  const ExportOptions options = parse_export_ssp(argc, argv);
  const Model model = read_model_file(options.model);
  const Network check(model);
  print_notes(write_ssp(model, options.output));
  std::printf("%s\n", options.output.c_str());
  return 0;
}

std::string export_fmu_help() {
  return "concord export-fmu MODEL SUBSYSTEM [--fmi 2|3] [--no-binary] [-o FILE.fmu]\n"
         "\n"
         "Writes a subsystem with 'equations:' as an FMU for model exchange and co-simulation: C\n"
         "sources, and a binary for this machine where there is a C compiler.\n"
         "\n"
         "  --fmi 2|3          version of the standard: 2.0, which more tools read and which "
         "takes\n"
         "                     inputs as polynomials, or 3.0 (default 2)\n"
         "  --no-binary        sources only\n"
         "  -o, --output FILE  file to write (default: SUBSYSTEM.fmu)\n"
         "  -h, --help         this text\n"
         "\n"
         "The environment variable CC names the C compiler (default: cc).\n";
}

std::string export_ssp_help() {
  return "concord export-ssp MODEL [-o FILE.ssp | -o FILE.ssd]\n"
         "\n"
         "Writes a model of FMUs as SSP 1.0: components, connections, parameters, start values,\n"
         "units and experiment. An .ssp archive holds the FMUs, and subsystems with 'equations:'\n"
         "as FMUs of their own; an .ssd file names the FMUs where they are.\n"
         "\n"
         "  -o, --output FILE  file to write (default: MODEL's name with .ssp, in this folder)\n"
         "  -h, --help         this text\n";
}

}  // namespace concord
