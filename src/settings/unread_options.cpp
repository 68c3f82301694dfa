#include "settings/unread_options.hpp"

#include <algorithm>

#include "concord/errors.hpp"
#include "settings/option_table.hpp"
#include "settings/petsc_names.hpp"
#include "support/petsc.hpp"

namespace concord {
namespace {

bool has_prefix(const std::string& name, std::initializer_list<const char*> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const char* prefix) { return options::begins_with(name, prefix); });
}

/// Names as they stand in the database, less one dash, that nothing has asked for so far.
std::vector<std::string> unread_names() {
  PetscInt count = 0;
  char **names = nullptr, **values = nullptr;
  petsc(PetscOptionsLeftGet(nullptr, &count, &names, &values));
  std::vector<std::string> result(names, names + count);
  petsc(PetscOptionsLeftRestore(nullptr, &count, &names, &values));
  return result;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const auto& option : option_table()) {
    names.push_back("-" + option.name);
  }
  for (const auto& name : petsc_option_names()) {
    names.push_back("-" + name);
  }
  return names;
}

[[noreturn]] void refuse(const std::string& name) {
  const auto candidates = all_names();
  const std::string single = name.starts_with('-') ? name : "-" + name;
  const auto similar = name.size() > 3 ? nearest(single, candidates) : std::nullopt;
  throw InputError("unknown option -" + name +
                   (similar ? "; did you mean " + *similar + "?" : ".") +
                   " Neither Concord nor PETSc reads it; see concord run --help-all" +
                   (name.starts_with('-') ? ", where options have one dash" : ""));
}

}  // namespace

void refuse_unread_options() {
  for (const std::string& name : unread_names()) {
    const bool own = has_prefix(name, {"cosim_", "subsystem_", "missiles_"});
    if (name.starts_with('-') || (!own && !is_option_of_libraries(name))) {
      refuse(name);
    }
  }
}

std::vector<std::string> options_left_unread() {
  std::vector<std::string> left;
  for (const std::string& name : unread_names()) {
    const bool told_before = name == "snes_rtol" || name == "snes_atol" || name == "snes_stol";
    if (!told_before && has_prefix(name, {"snes_", "ksp_", "pc_", "mat_", "sub_", "npc_", "loop_",
                                          "missiles_ksp_", "missiles_pc_", "gauss_ksp_",
                                          "gauss_pc_", "radau_ksp_", "radau_pc_", "fit_tao_"})) {
      left.push_back("-" + name + ": no solver of this run has read it");
    }
  }
  return left;
}

}  // namespace concord
