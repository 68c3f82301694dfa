#include <cstdio>

#include "cli/model_export.hpp"
#include "export/ssp_writer.hpp"
#include "modelfile/model_file.hpp"
#include "network/network.hpp"

namespace concord {
namespace {

int export_model(const Arguments& arguments);

const RegisteredCommand export_ssp({
    .name = "export-ssp",
    .place = 80,
    .usage = "MODEL [-o FILE.ssp | -o FILE.ssd]",
    .summary = "a model of FMUs as SSP",
    .description =
        "Writes a model of FMUs as SSP 1.0: components, connections, parameters, start values,\n"
        "units and experiment. An .ssp archive holds the FMUs, and subsystems with 'equations:',\n"
        "tables and delays as FMUs of their own; an .ssd file names the FMUs where they are.",
    .words = {{.name = "output",
               .letter = 'o',
               .value = "FILE",
               .help = "file to write (default: MODEL's name with .ssp, in this folder)"}},
    .example = "export-ssp model.yaml -o model.ssp",
    .run =
        [](const Arguments& arguments) {
          return on_one_rank(arguments, [&] { return export_model(arguments); });
        },
});

int export_model(const Arguments& arguments) {
  const GivenWords given = read_words(export_ssp, after_name(arguments));
  if (given.names.size() != 1)
    refuse_words(export_ssp, "'concord export-ssp' takes one model file");
  const std::string& path = given.names[0];
  const std::filesystem::path output =
      given.value("output").value_or(std::filesystem::path(path).stem().string() + ".ssp");
  check_output(export_ssp, output, path, {".ssp", ".ssd"});
  const Model model = read_model_file(path);
  const Network check(model);
  print_notes(write_ssp(model, output));
  std::printf("%s\n", output.c_str());
  return 0;
}

}  // namespace
}  // namespace concord
