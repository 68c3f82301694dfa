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

#include "files/file_hash.hpp"
#include "settings/option_table.hpp"
#include "support/ranks.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

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

std::string versions() {
  std::array<char, 64> sundials{}, petsc{};
  SUNDIALSGetVersion(sundials.data(), static_cast<int>(sundials.size()));
  int major = 0, minor = 0, patch = 0, release = 0;
  PetscGetVersionNumber(&major, &minor, &patch, &release);
  std::snprintf(petsc.data(), petsc.size(), "%d.%d.%d", major, minor, patch);
  return std::string("Concord ") + CONCORD_VERSION + "\nPETSc " + petsc.data() + "\nSUNDIALS " +
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

/// An archive is none.
std::string text_of(const fs::path& path) {
  if (path.extension() == ".ssp" || path.extension() == ".fmu") return "";
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The model, and what its subsystems are read from; each once.
std::vector<std::string> files_of(const Model& model) {
  std::vector<std::string> files;
  const auto add = [&](const std::string& file) {
    std::error_code error;
    if (!file.empty() && fs::is_regular_file(file, error)) files.push_back(file);
  };
  add(model.source);
  for (const SubsystemEntry& entry : model.subsystems) add(entry.file);
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

}  // namespace

void add_provenance(const SimulationPlan& plan, const std::string& command_line,
                    ResultsLayout& layout) {
  if (rank_in(plan.comm) != 0) return;
  layout.model_text = text_of(plan.model.source);
  layout.file_names = files_of(plan.model);
  for (const std::string& file : layout.file_names) layout.file_sha256.push_back(sha256_of(file));
  layout.run_record = {utc_now(),
                       host_name(),
                       std::to_string(ranks_of(plan.comm)),
                       command_line,
                       effective_options(plan.settings),
                       versions(),
                       ""};
}

}  // namespace concord
