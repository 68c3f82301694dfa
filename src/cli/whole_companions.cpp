#include "cli/whole_companions.hpp"

#include <algorithm>

#include "concord/errors.hpp"
#include "files/python_place.hpp"
#include "settings/option_table.hpp"
#include "subsystem/isolated/subsystem_process.hpp"
#include "subsystem/python/python_code.hpp"
#include "support/library_folder.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

bool is_python(const SubsystemEntry& entry) { return entry.type->file.role == "Python file"; }
bool is_native(const SubsystemEntry& entry) { return entry.description.kind == "native"; }

/// Where the host looks for it, seen from binaries/bin.
void add_python_package(std::map<std::string, fs::path>& files) {
  const fs::path module = python_module_file();
  const fs::path place = (fs::path("bin") / python_place::built_module).lexically_normal();
  for (const auto& entry : fs::directory_iterator(module.parent_path()))
    if (entry.is_regular_file())
      files[(place.parent_path() / entry.path().filename()).string()] = entry.path();
}

}  // namespace

fs::path whole_model_folder() {
  const fs::path folder = library_folder();
  std::error_code error;
  if (!fs::exists(folder / "whole_model.so", error))
    throw InputError(
        "FMUs of whole models need concord/whole_model.so beside Concord's library, which is not "
        "there; install Concord again");
  return folder;
}

Options with_isolation(const Model& model, Options given) {
  for (const SubsystemEntry& entry : model.subsystems) {
    if (!is_native(entry) && !is_python(entry)) continue;
    if (is_native(entry) && entry.type->file.role.empty())
      throw InputError(entry.location + ": subsystem '" + entry.description.name +
                       "' has a type that is compiled into the program, which an FMU cannot hold; "
                       "give its library:");
    given[prefix_of(entry.description.name) + "isolated"] = "true";
  }
  return given;
}

Options with_trials(const Model& model, const Model& tried, Options given) {
  for (std::size_t k = 0; k < model.subsystems.size(); ++k)
    if (model.subsystems[k].type->try_states)
      given[prefix_of(model.subsystems[k].description.name) + "rollback"] =
          tried.subsystems[k].type->false_states.empty() ? "true" : "false";
  return given;
}

std::map<std::string, fs::path> companions_of(const Model& model) {
  std::map<std::string, fs::path> files;
  const auto& all = model.subsystems;
  const auto needs_host = [](const SubsystemEntry& entry) {
    return entry.isolated || is_native(entry) || is_python(entry);
  };
  if (std::ranges::none_of(all, needs_host)) return files;
  files["bin/concord_subsystem_host"] = host_program();
  for (const auto& entry : fs::directory_iterator(whole_model_folder()))
    if (entry.path().filename().string().starts_with("libconcord."))
      files["bin/" + entry.path().filename().string()] = entry.path();
  if (std::ranges::any_of(all, is_python)) add_python_package(files);
  return files;
}

}  // namespace concord
