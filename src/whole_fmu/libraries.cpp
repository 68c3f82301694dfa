#include "whole_fmu/libraries.hpp"

#include <mpi.h>
#include <petscsys.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "concord/errors.hpp"
#include "concord/simulation.hpp"
#include "support/library_folder.hpp"

namespace concord {
namespace {

using Environment = std::map<std::string, std::string>;

Environment environment() {
  Environment result;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) result[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return result;
}

/// While it lives, the process knows of no launcher, whose other processes might never come; then
/// the environment is as it was.
class WithoutLauncher {
 public:
  WithoutLauncher() : before_(environment()) {
    for (const auto& [name, value] : before_)
      for (const char* prefix : {"OMPI_COMM_WORLD_", "OMPI_UNIVERSE_", "OMPI_APP_", "OMPI_MCA_orte",
                                 "OMPI_MCA_ess", "OMPI_MCA_pmix", "PMIX_", "PMI_", "SLURM_STEP"})
        if (name.starts_with(prefix)) unsetenv(name.c_str());
  }
  ~WithoutLauncher() {
    for (const auto& [name, value] : environment())
      if (!before_.contains(name)) unsetenv(name.c_str());
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }
  WithoutLauncher(const WithoutLauncher&) = delete;
  WithoutLauncher& operator=(const WithoutLauncher&) = delete;

 private:
  Environment before_;
};

/// The importer's signals stay the importer's.
class SignalsOfImporter {
 public:
  SignalsOfImporter() {
    for (int number = 1; number < count; ++number) sigaction(number, nullptr, &before_[number]);
  }
  ~SignalsOfImporter() {
    for (int number = 1; number < count; ++number) sigaction(number, &before_[number], nullptr);
  }
  SignalsOfImporter(const SignalsOfImporter&) = delete;
  SignalsOfImporter& operator=(const SignalsOfImporter&) = delete;

 private:
  static constexpr int count = 32;
  struct sigaction before_[count] = {};
};

/// Open MPI and hwloc, which it uses, look for them in folders of the system.
void find_carried_plugins() {
  const std::filesystem::path folder = library_folder();
  std::error_code error;
  if (!std::filesystem::exists(folder / "mca_pmix_isolated.so", error)) return;
  for (const char* variable : {"OMPI_MCA_mca_base_component_path", "HWLOC_PLUGINS_PATH"})
    setenv(variable, folder.c_str(), 1);
}

}  // namespace

void need_libraries() {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized != 0)
    throw InputError(
        "MPI has ended in this process, and cannot begin again; make instances before");
  if (initialized != 0 && PetscInitializeCalled == PETSC_TRUE) return;
  const SignalsOfImporter signals;
  if (initialized != 0) {
    new Session(MPI_COMM_SELF);  // NOLINT: up to the end of the process
    return;
  }
  const WithoutLauncher alone;
  find_carried_plugins();
  char name[] = "concord";
  char* arguments[] = {name, nullptr};
  new Session(1, arguments);  // NOLINT: likewise
}

}  // namespace concord
