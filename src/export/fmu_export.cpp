#include "export/fmu_export.hpp"

#include <fstream>
#include <iterator>

#include "concord/errors.hpp"
#include "export/delay_source.hpp"
#include "export/documentation.hpp"
#include "export/fixed_sources.hpp"
#include "export/shared_library.hpp"
#include "files/archive_writer.hpp"
#include "files/scratch_folder.hpp"
#include "subsystem/fmu/binary/library.hpp"

namespace concord {

namespace {

namespace fs = std::filesystem;

/// Adds what is beside the sources and the binary.
void add_descriptions(const ExportedModel& model, const FmuExport& wanted, const std::string& token,
                      std::vector<FmuFile>& files) {
  files.insert(files.begin(), {"modelDescription.xml",
                               model_description(model, wanted.version, wanted.experiment, token)});
  if (wanted.version == FmiVersion::v3)
    files.push_back({"sources/buildDescription.xml", build_description(model)});
  files.push_back({"documentation/licenses/license.txt",
                   std::string("For the parts of sources/ that Concord wrote; the equations are "
                               "their author's.\n\n") +
                       fixed_sources::license});
  files.push_back(
      {"documentation/index.html", documentation(model, wanted.version, wanted.experiment)});
}

void unfold(const std::vector<FmuFile>& files, const fs::path& folder) {
  for (const auto& [name, content] : files) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream stream(folder / name, std::ios::binary);
    stream << content;
    if (!stream.flush()) throw InputError("cannot write '" + (folder / name).string() + "'");
  }
}

std::string binary_content(const fs::path& library) {
  std::ifstream stream(library, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// The shared library's bytes, or nothing and a note.
std::string compiled(const ExportedModel& model, const std::vector<FmuFile>& files,
                     const FmuExport& wanted, const std::string& token,
                     std::vector<std::string>& notes) {
  Compilation compilation;
  const std::string library = model.name + ".so";
  const fs::path folder = shared_scratch_folder("export|" + token, [&](const fs::path& place) {
    unfold(files, place);
    compilation = compile_shared_library(place / "sources" / (model.name + ".c"), place / library);
  });
  using Outcome = Compilation::Outcome;
  if (compilation.outcome == Outcome::failed)
    throw InputError("subsystem '" + model.name + "': " + compilation.compiler +
                     " cannot compile the FMU's sources; --no-binary leaves the binary out:\n" +
                     compilation.messages);
  if (compilation.outcome == Outcome::done) return binary_content(folder / library);
  const std::string missing =
      "there is no C compiler '" + compilation.compiler +
      "': install one (Debian: apt-get install gcc) or name it in the environment variable CC";
  if (wanted.binary == ExportedBinary::required)
    throw InputError("subsystem '" + model.name + "': " + missing);
  notes.push_back(missing +
                  "; the FMU has sources only, so that Concord and others cannot run it "
                  "before they are compiled");
  return "";
}

std::vector<std::string> write_fmu(const ExportedModel& model, const FmuExport& wanted,
                                   const std::string& token, std::vector<FmuFile> files,
                                   const fs::path& path) {
  std::vector<std::string> notes = model.notes;
  add_descriptions(model, wanted, token, files);
  const std::string binary = wanted.binary == ExportedBinary::leave_out
                                 ? ""
                                 : compiled(model, files, wanted, token, notes);
  ArchiveWriter archive(path);
  for (const auto& [name, content] : files) archive.add(name, content);
  if (!binary.empty())
    archive.add(
        std::string("binaries/") + platform_folder(wanted.version) + "/" + model.name + ".so",
        binary);
  archive.close();
  return notes;
}

}  // namespace

std::vector<std::string> export_fmu(const EquationsDescription& description,
                                    const FmuExport& wanted, const fs::path& path) {
  const ExportedModel model = lay_out(description);
  const std::string token = instantiation_token(model, wanted.version, wanted.experiment);
  return write_fmu(model, wanted, token,
                   model_sources(model, wanted.version, wanted.experiment, token), path);
}

std::vector<std::string> export_delay(const DelayDescription& delay, const FmuExport& wanted,
                                      const fs::path& path) {
  const ExportedModel model = delay_model(delay);
  std::string all;
  for (const auto& [name, content] : delay_sources(model, wanted.experiment, "")) all += content;
  const std::string token = guid_of(all + delay.source.unit);
  return write_fmu(model, wanted, token, delay_sources(model, wanted.experiment, token), path);
}

}  // namespace concord
