#include "settings/petsc_names.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <functional>
#include <string_view>

#include "support/callback_guard.hpp"
#include "support/petsc.hpp"

namespace concord {

namespace {

/// Prefixes of Concord's own objects, and of those that PETSc's objects have within them.
constexpr std::array<std::string_view, 6> own_prefixes = {"loop_",  "missiles_", "estimate_",
                                                          "gauss_", "radau_",    "fit_"};
constexpr std::array<std::string_view, 16> inner_prefixes = {
    "npc_",    "fas_",       "sub_",       "inner_",      "mg_levels_", "mg_coarse_",
    "esteig_", "redundant_", "telescope_", "fieldsplit_", "schur_",     "galerkin_",
    "mffd_",   "lu_",        "gamg_",      "deflation_"};
constexpr std::array<std::string_view, 6> families = {"snes_", "ksp_", "pc_", "mat", "vec", "tao_"};

/// What options of PETSc itself begin with. Time integrators and grids are not used.
constexpr std::array<std::string_view, 33> of_petsc_itself = {
    "help",     "version",  "info",    "log_",     "malloc", "memory",  "options_",
    "on_error", "error_",   "start_",  "debug",    "stop_",  "fp_trap", "history",
    "no_sig",   "objects_", "check_",  "shared_",  "not_",   "tmp",     "viewer_",
    "draw_",    "nox",      "display", "x_",       "get_",   "saws",    "python",
    "use_gpu",  "device_",  "cuda_",   "skip_pet", "mpi_"};
constexpr std::array<std::string_view, 5> of_small_objects = {"is_", "sf_", "random_", "blas_",
                                                              "citations"};

using Bytes = std::string_view;

/// The constant parts of a loaded library.
struct Library {
  std::string_view file;
  bool holds_petsc = false;
  bool holds_concord = false;
  std::vector<Bytes> constants;
};

bool lies_in(const void* address, Bytes bytes) {
  const auto* place = static_cast<const char*>(address);
  return std::less_equal<>()(bytes.data(), place) &&
         std::less<>()(place, bytes.data() + bytes.size());
}

Library look_into(const dl_phdr_info* info) {
  Library library;
  library.file = info->dlpi_name;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_R) == 0) continue;
    const Bytes bytes(reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr), part.p_memsz);
    library.holds_petsc |= lies_in(reinterpret_cast<const void*>(&PetscInitialize), bytes);
    library.holds_concord |= lies_in(reinterpret_cast<const void*>(&petsc_option_names), bytes);
    if ((part.p_flags & PF_W) == 0) library.constants.push_back(bytes);
  }
  return library;
}

struct LoadedLibraries {
  std::vector<Library> all;
  CallbackGuard guard;
};

int add_library(dl_phdr_info* info, std::size_t /*size*/, void* list) {
  auto& libraries = *static_cast<LoadedLibraries*>(list);
  return libraries.guard.run(1, [&] {
    libraries.all.push_back(look_into(info));
    return 0;
  });
}

std::vector<Library> loaded_libraries() {
  LoadedLibraries libraries;
  dl_iterate_phdr(add_library, &libraries);
  libraries.guard.rethrow();
  return std::move(libraries.all);
}

bool is_name_character(char c) {
  return std::islower(static_cast<unsigned char>(c)) != 0 ||
         std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Every text "-name" that ends there.
void collect(Bytes bytes, std::vector<std::string>& names) {
  for (std::size_t at = bytes.find('-'); at != Bytes::npos; at = bytes.find('-', at + 1)) {
    std::size_t end = at + 1;
    while (end < bytes.size() && is_name_character(bytes[end])) ++end;
    const bool letter = end > at + 2 && std::islower(static_cast<unsigned char>(bytes[at + 1]));
    if (letter && end < bytes.size() && bytes[end] == '\0')
      names.emplace_back(bytes.substr(at + 1, end - at - 1));
  }
}

bool is_known(const std::string& name) {
  const auto& names = petsc_option_names();
  return std::binary_search(names.begin(), names.end(), name);
}

template <std::size_t N>
bool begins_with_one(std::string_view text, const std::array<std::string_view, N>& list) {
  return std::any_of(list.begin(), list.end(),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

std::string without_own_prefix(const std::string& name) {
  for (const std::string_view prefix : own_prefixes)
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  return name;
}

/// "mg_levels_1_pc_type": an inner prefix, and behind some "_" an object's option.
bool is_option_of_inner_object(const std::string& name) {
  if (!begins_with_one(name, inner_prefixes)) return false;
  for (std::size_t at = name.find('_'); at != std::string::npos; at = name.find('_', at + 1)) {
    const std::string rest = name.substr(at + 1);
    if (begins_with_one(rest, families) && is_known(rest)) return true;
  }
  return false;
}

/// In what was loaded for subsystems in C++, which may read options of their own.
bool is_in_users_library(const std::string& name) {
  const std::string text = "-" + name + std::string(1, '\0');
  for (const Library& library : loaded_libraries()) {
    const bool of_system = library.file.starts_with("/usr/") || library.file.starts_with("/lib");
    if (of_system || library.holds_concord || library.holds_petsc) continue;
    for (const Bytes bytes : library.constants)
      if (bytes.find(text) != Bytes::npos) return true;
  }
  return false;
}

}  // namespace

const std::vector<std::string>& petsc_option_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found;
    for (const Library& library : loaded_libraries())
      if (library.holds_petsc)
        for (const Bytes bytes : library.constants) collect(bytes, found);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    std::erase_if(found, [](const std::string& name) {
      return !begins_with_one(name, families) && !begins_with_one(name, of_petsc_itself) &&
             !begins_with_one(name, of_small_objects);
    });
    return found;
  }();
  return names;
}

bool is_option_of_libraries(const std::string& name) {
  std::string plain = name;
  std::transform(plain.begin(), plain.end(), plain.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string rest = without_own_prefix(plain);
  return is_known(plain) || (begins_with_one(rest, families) && is_known(rest)) ||
         is_option_of_inner_object(rest) || is_in_users_library(name);
}

}  // namespace concord
