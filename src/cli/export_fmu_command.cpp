#include <csignal>
#include <cstdio>

#include "cli/commands.hpp"
#include "cli/model_command.hpp"
#include "cli/model_export.hpp"
#include "cli/whole_model_export.hpp"
#include "concord/errors.hpp"
#include "export/fmu_export.hpp"
#include "export/table_equations.hpp"
#include "modelfile/model_file.hpp"
#include "support/options.hpp"
#include "support/petsc.hpp"
#include "support/ranks.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

int export_fmu_of(const ModelFileCall& call);

const RegisteredCommand export_fmu_command({
    .name = "export-fmu",
    .place = 70,
    .usage = "MODEL [SUBSYSTEM] [--fmi 2|3] [-o FILE.fmu] [-options]",
    .summary = "a model with the solver inside, or equations, as an FMU",
    .brief = "a model with its solver, or one subsystem, as an FMU",
    .description =
        "Writes the whole model as one FMU for co-simulation, with Concord's solver inside and\n"
        "the options that are given; its binary needs the system's MPI, PETSc, SUNDIALS, HDF5, or\n"
        "has them beside itself (--with-libraries).\n"
        "With SUBSYSTEM, one with 'equations:' or a table as an FMU for model exchange and\n"
        "co-simulation: C sources, and a binary for this machine where there is a C compiler,\n"
        "which the environment variable CC names (default: cc), with options in CFLAGS.",
    .words = {{.name = "fmi",
               .value = "2|3",
               .help = "version of the standard: 2.0, which more tools read and in which a\n"
                       "subsystem takes inputs as polynomials, or 3.0 (default 2)"},
              {.name = "no-binary", .help = "of a subsystem: sources only"},
              {.name = "with-libraries",
               .help =
                   "of the whole model: puts the libraries that its binary needs beside it, so\n"
                   "that it runs on machines that have the C library alone"},
              {.name = "output",
               .letter = 'o',
               .value = "FILE",
               .help = "file to write (default: MODEL's name or SUBSYSTEM with .fmu, in this "
                       "folder)"},
              {.name = "set",
               .value = "left.m=2",
               .help = "of the whole model: a parameter or start value other than the model's"},
              {.name = "subsystem", .value = "NAME", .help = "the same as NAME behind MODEL"}},
    .more = "subsystem",
    .example = "export-fmu model.yaml --fmi 3 -cosim_accuracy 1e-6",
    .more_help = options_help,
    .run =
        [](const Arguments& arguments) {
          return with_model_file(export_fmu_command, arguments, export_fmu_of);
        },
});

/// The subsystem of equations of that name, or an InputError that says what it is instead.
const SubsystemEntry& exportable(const Model& model, const std::string& name) {
  std::vector<std::string> names;
  for (const SubsystemEntry& entry : model.subsystems) {
    const SubsystemDescription& d = entry.description;
    if (d.name == name && (entry.equations || entry.type->table)) return entry;
    if (d.name == name)
      throw InputError(
          (entry.location.empty() ? model.source : entry.location.text()) + ": subsystem '" + name +
          (entry.type->fmu ? "' is an FMU already: " + model.source + " names its file"
           : d.constraint
               ? "' is a constraint of the whole model, not a part that an FMU could hold"
               : "' is " + d.kind +
                     ", which has no equations that could be written down; 'export-fmu' takes "
                     "subsystems with 'equations:' and tables; without a subsystem, the whole "
                     "model"));
    if (entry.equations || entry.type->table) names.push_back(d.name);
  }
  throw InputError(model.source + ": there is no subsystem " + in_quotes(name) + "; " +
                   known("subsystems with equations and tables", name, names));
}

struct WantedFmu {
  std::string model, subsystem;  ///< subsystem empty: the whole
  std::filesystem::path output;
  FmiVersion version = FmiVersion::v2;
  bool with_libraries = false;
};

WantedFmu read(const ModelFileCall& call) {
  const Command& command = export_fmu_command;
  const GivenWords& given = call.own;
  const std::vector<std::string> subsystems = given.all("subsystem");
  if (subsystems.size() > 1)
    refuse_words(command,
                 "'concord export-fmu' takes a model file and the name of one of its subsystems, "
                 "or none for the whole model");
  WantedFmu wanted{call.path, subsystems.empty() ? "" : subsystems.front(), {}};
  const std::string version = given.value("fmi").value_or("2");
  if (version != "2" && version != "3")
    refuse_words(command, "--fmi takes 2 or 3, not " + in_quotes(version));
  if (version == "3") wanted.version = FmiVersion::v3;
  const bool whole = wanted.subsystem.empty();
  const std::string name =
      whole ? std::filesystem::path(wanted.model).stem().string() : wanted.subsystem;
  wanted.output = given.value("output").value_or(name + ".fmu");
  check_output(command, wanted.output, wanted.model, {".fmu"});
  if (whole && given.has("no-binary"))
    refuse_words(command, "--no-binary is for a subsystem: a whole model has no sources");
  wanted.with_libraries = given.has("with-libraries");
  if (!whole && wanted.with_libraries)
    refuse_words(command,
                 "--with-libraries is for the whole model; a subsystem's FMU needs none but the C "
                 "library");
  if (!whole && given.has("set"))
    refuse_words(command, "--set is for the whole model; a subsystem's FMU has parameters");
  return wanted;
}

std::vector<std::string> export_one(const WantedFmu& wanted, ExportedBinary binary) {
  for (const char* prefix : {"cosim_", "subsystem_"})
    for (const std::string& option : options::given(prefix))
      throw InputError("option -" + option +
                       " is for FMUs of whole models; a subsystem's FMU has no coupling inside");
  const Model model = read_model_file(wanted.model);
  const SubsystemEntry& entry = exportable(model, wanted.subsystem);
  const FmuExport how{wanted.version, binary, {model.start, model.stop}};
  auto notes = export_fmu(equations_of(entry, model.start), how, wanted.output);
  if (!model.listed_events.empty())
    notes.push_back("the model's events are no part of the FMU, which announces no time events");
  if (!model.initial.empty())
    notes.push_back(
        "the model's initial equations are no part of the FMU, which begins with the "
        "start values that are written");
  for (std::string& note : notes) note = "subsystem '" + wanted.subsystem + "': " + note;
  return notes;
}

/// On one rank; the others are there because of mpirun. A file beyond the size limit is an error
/// like a full disk.
int export_fmu_of(const ModelFileCall& call) {
  if (rank_in(PETSC_COMM_WORLD) != 0) return 0;
  std::signal(SIGXFSZ, SIG_IGN);
  const WantedFmu wanted = read(call);
  const ExportedBinary binary =
      call.own.has("no-binary") ? ExportedBinary::leave_out : ExportedBinary::if_possible;
  print_notes(wanted.subsystem.empty()
                  ? export_whole_model({wanted.model, call.own.all("set"), wanted.version,
                                        wanted.output, wanted.with_libraries})
                  : export_one(wanted, binary));
  std::printf("%s\n", wanted.output.c_str());
  return 0;
}

}  // namespace
}  // namespace concord
