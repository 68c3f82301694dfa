#include "cli/command.hpp"
#include "cli/session.hpp"
#include "files/text_output.hpp"
#include "modelfile/yaml/model_schema.hpp"

namespace concord {
namespace {

int print_schema(const Arguments& arguments);

const RegisteredCommand schema({
    .name = "schema",
    .place = 90,
    .usage = "[-o FILE]",
    .summary = "the JSON Schema of model files, for editors",
    .description =
        "Prints the JSON Schema of YAML model files. Editors that know it complete keys, explain\n"
        "them and underline what is wrong.",
    .words = {{.name = "output",
               .letter = 'o',
               .value = "FILE",
               .help = "file to write (default: standard output)"}},
    .example = "schema -o model.schema.json",
    .run =
        [](const Arguments& arguments) {
          return without_session([&] { return print_schema(arguments); });
        },
});

int print_schema(const Arguments& arguments) {
  const GivenWords given = read_words(schema, after_name(arguments));
  if (!given.names.empty()) refuse_words(schema, "'concord schema' takes no files");
  TextOutput output(given.value("output"));
  output.write(model_schema());
  output.close();
  return 0;
}

}  // namespace
}  // namespace concord
