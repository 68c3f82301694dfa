#include <fcntl.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "cli/command.hpp"
#include "cli/session.hpp"
#include "cli/starter_model.hpp"
#include "concord/errors.hpp"
#include "files/whole_file.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

int write_starter(const Arguments& arguments);

const RegisteredCommand new_model({
    .name = "new",
    .place = 5,
    .usage = "NAME",
    .summary = "a commented model file to begin with",
    .brief = "a commented model file to begin with",
    .description = "Writes NAME.yaml, a small model that runs as it is, with comments on what can "
                   "be in a model\nfile. A file that is there is left as it is.",
    .example = "new my_system",
    .run =
        [](const Arguments& arguments) {
          return without_session([&] { return write_starter(arguments); });
        },
});

fs::path starter_path(const GivenWords& given) {
  if (given.names.size() != 1 || given.names.front().empty())
    refuse_words(new_model, "'concord new' takes the name of the model, one");
  fs::path path = given.names.front();
  if (!path.has_filename() || fs::is_directory(path))
    refuse_words(new_model, in_quotes(path.string()) + " is a folder; add the model's name");
  if (path.extension() != ".yaml" && path.extension() != ".yml") path += ".yaml";
  return path;
}

int write_starter(const Arguments& arguments) {
  const fs::path path = starter_path(read_words(new_model, after_name(arguments)));
  const std::string name = path.filename().string(),
                    text = starter_model(name, path.stem().string() + ".h5");
  try {
    SystemFile file(path, O_WRONLY | O_CREAT | O_EXCL);
    file.write(std::as_bytes(std::span(text)));
    file.close();
  } catch (const std::system_error& error) {
    const bool there = error.code() == std::errc::file_exists;
    throw InputError(in_quotes(path.string()) +
                     (there ? " is there already, and left as it is; choose another name"
                            : " cannot be written: " + error.code().message()));
  }
  std::printf("%s\nnext: concord check %s; concord run %s\n", path.c_str(), path.c_str(),
              path.c_str());
  return 0;
}

}  // namespace
}  // namespace concord
