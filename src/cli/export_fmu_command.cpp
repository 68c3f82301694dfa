#include <cstdio>

#include "cli/model_export.hpp"
#include "concord/errors.hpp"
#include "export/fmu_export.hpp"
#include "modelfile/model_file.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

int export_one(const Arguments& arguments);

const RegisteredCommand export_fmu_command({
    .name = "export-fmu",
    .place = 70,
    .usage = "MODEL SUBSYSTEM [--fmi 2|3] [--no-binary] [-o FILE.fmu]",
    .summary = "equations as an FMU",
    .description =
        "Writes a subsystem with 'equations:' as an FMU for model exchange and co-simulation: C\n"
        "sources, and a binary for this machine where there is a C compiler, which the "
        "environment\nvariable CC names (default: cc).",
    .words = {{.name = "fmi",
               .value = "2|3",
               .help = "version of the standard: 2.0, which more tools read and which takes\n"
                       "inputs as polynomials, or 3.0 (default 2)"},
              {.name = "no-binary", .help = "sources only"},
              {.name = "output",
               .letter = 'o',
               .value = "FILE",
               .help = "file to write (default: SUBSYSTEM.fmu)"}},
    .example = "export-fmu model.yaml left --fmi 3",
    .run =
        [](const Arguments& arguments) {
          return on_one_rank(arguments, [&] { return export_one(arguments); });
        },
});

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
                     ", which has no equations that could be written down; 'export-fmu' takes "
                     "subsystems with 'equations:'"));
    if (entry.equations) names.push_back(d.name);
  }
  throw InputError(model.source + ": there is no subsystem " + in_quotes(name) + "; " +
                   known("subsystems with equations", name, names));
}

struct WantedFmu {
  std::string model, subsystem;
  std::filesystem::path output;
  FmuExport fmu;
};

WantedFmu read(const Arguments& arguments) {
  const Command& command = export_fmu_command;
  const GivenWords given = read_words(command, after_name(arguments));
  if (given.names.size() != 2)
    refuse_words(command,
                 "'concord export-fmu' takes a model file and the name of one of its subsystems");
  const std::string version = given.value("fmi").value_or("2");
  if (version != "2" && version != "3")
    refuse_words(command, "--fmi takes 2 or 3, not " + in_quotes(version));
  WantedFmu wanted{
      given.names[0], given.names[1], given.value("output").value_or(given.names[1] + ".fmu"), {}};
  wanted.fmu.version = version == "2" ? FmiVersion::v2 : FmiVersion::v3;
  wanted.fmu.binary =
      given.has("no-binary") ? ExportedBinary::leave_out : ExportedBinary::if_possible;
  check_output(command, wanted.output, wanted.model, {".fmu"});
  return wanted;
}

int export_one(const Arguments& arguments) {
  WantedFmu wanted = read(arguments);
  const Model model = read_model_file(wanted.model);
  const SubsystemEntry& entry = exportable(model, wanted.subsystem);
  wanted.fmu.experiment.start = model.start;
  wanted.fmu.experiment.stop = model.stop;
  auto notes = export_fmu(*entry.equations, wanted.fmu, wanted.output);
  if (!model.events.empty())
    notes.push_back("the model's events are no part of the FMU, which announces no time events");
  if (!model.initial.empty())
    notes.push_back(
        "the model's initial equations are no part of the FMU, which begins with the "
        "start values that are written");
  for (std::string& note : notes) note = "subsystem '" + wanted.subsystem + "': " + note;
  print_notes(notes);
  std::printf("%s\n", wanted.output.c_str());
  return 0;
}

}  // namespace
}  // namespace concord
