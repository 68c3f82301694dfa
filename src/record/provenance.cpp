#include "record/provenance.hpp"

#include <arkode/arkode.h>
#include <hdf5.h>
#include <mpi.h>
#include <petscsys.h>
#include <sundials/sundials_version.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "settings/option_table.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string whole(text.data());
  return whole.substr(0, whole.find_first_of(",\n"));
}

std::string petsc_version() {
  PetscInt major = 0, minor = 0, patch = 0, release = 0;
  PetscGetVersionNumber(&major, &minor, &patch, &release);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

std::string versions() {
  std::array<char, 64> sundials{};
  SUNDIALSGetVersion(sundials.data(), static_cast<int>(sundials.size()));
  return std::string("Concord ") + CONCORD_VERSION + "\nPETSc " + petsc_version() + "\nSUNDIALS " +
         sundials.data() + "\nHDF5 " + hdf5_version() + "\n" + mpi_version() + "\ncompiler " +
         __VERSION__ + "\n";
}

std::string effective_options(const Settings& settings) {
  std::string text;
  for (const auto& option : run_options())
    text += "-" + option.name() + " " + option.written(settings) + "\n";
  for (const auto& option : subsystem_options())
    text += "-" + std::string(subsystem_prefix) + option.name() + " " +
            option.written(settings.defaults) + "\n";
  return text;
}

/// Empty where nothing describes the model.
std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

void add_provenance(const SimulationPlan& plan, std::vector<FilePrint> files,
                    const std::string& command_line, ResultsLayout& layout) {
  if (rank_in(plan.comm) != 0) return;
  std::stable_sort(files.begin(), files.end(),
                   [](const FilePrint& a, const FilePrint& b) { return a.name < b.name; });
  for (const FilePrint& file : files) {
    layout.file_names.push_back(file.name);
    layout.file_roles.push_back(file.role);
    layout.file_sha256.push_back(file.sha256);
  }
  layout.model_text = text_of(plan.model.text);
  layout.run_record = {utc_now(),
                       host_name(),
                       std::to_string(ranks_of(plan.comm)),
                       command_line,
                       effective_options(plan.settings),
                       versions(),
                       ""};
}

}  // namespace concord
