#include "support/petsc.hpp"

#include <petscsys.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "concord/errors.hpp"

namespace concord {
namespace {

std::string first_message;

PetscErrorCode keep_first_message(MPI_Comm, int, const char*, const char*, PetscErrorCode code,
                                  PetscErrorType type, const char* message, void*) {
  if (type == PETSC_ERROR_INITIAL) {
    first_message = message != nullptr ? message : "";
  }
  return code;
}

bool started_by_a_launcher() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "SLURM_STEP_ID"}) {
    if (std::getenv(variable) != nullptr) {
      return true;
    }
  }
  return false;
}

/// Without a launcher OpenMPI otherwise starts a daemon and searches for networks: 0.3 s.
void tell_openmpi_that_it_is_alone() {
  for (const auto& [variable, value] :
       {std::pair{"OMPI_MCA_ess_singleton_isolated", "1"}, std::pair{"OMPI_MCA_pml", "ob1"},
        std::pair{"OMPI_MCA_btl", "self"}}) {
    setenv(variable, value, 0);
  }
}

struct CommandLine {
  std::vector<std::string> files;
  std::vector<char*> rest;
};

CommandLine split_options_files(int argc, char** argv) {
  CommandLine line;
  for (int i = 0; i < argc; ++i) {
    if (std::strcmp(argv[i], "-options_file") != 0) {
      line.rest.push_back(argv[i]);
    } else if (i + 1 < argc) {
      line.files.emplace_back(argv[++i]);
    } else {
      throw InputError("-options_file needs the name of a file");
    }
  }
  return line;
}

/// PETSc itself would end the program with a stack trace.
void require_option_lines(const std::string& file) {
  std::ifstream stream(file);
  if (std::filesystem::is_directory(file) || !stream.good()) {
    throw InputError("-options_file " + file +
                     ": cannot be read; give the path of a text file with one option per line");
  }
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    const auto first = line.find_first_not_of(" \t\r");
    const bool option = first != std::string::npos && line[first] == '-';
    const bool comment = first == std::string::npos || line[first] == '#';
    if (!option && !comment) {
      throw InputError(file + ":" + std::to_string(number) + ": '" + line.substr(first, 40) +
                       "' is neither an option (-name value) nor a comment (# ...)");
    }
  }
}

}  // namespace

namespace petsc_detail {
void raise(PetscErrorCode code) {
  const char* text = nullptr;
  PetscErrorMessage(code, &text, nullptr);
  std::string message = text != nullptr ? text : "unknown error";
  if (!first_message.empty()) {
    message += ": " + first_message;
  }
  first_message.clear();
  throw PetscFailure("PETSc: " + message);
}
}  // namespace petsc_detail

MpiSession::MpiSession(int* argc, char*** argv) {
  if (!started_by_a_launcher()) {
    tell_openmpi_that_it_is_alone();
  }
  MPI_Init(argc, argv);
}

MpiSession::~MpiSession() { MPI_Finalize(); }

PetscSession::PetscSession(int argc, char** argv) {
  auto line = split_options_files(argc, argv);
  for (const auto& file : line.files) {
    require_option_lines(file);
  }
  int count = static_cast<int>(line.rest.size());
  line.rest.push_back(nullptr);
  char** rest = line.rest.data();
  petsc(PetscInitialize(&count, &rest, line.files.empty() ? nullptr : line.files[0].c_str(),
                        nullptr));
  PetscPopSignalHandler();
  PetscPushErrorHandler(keep_first_message, nullptr);
  for (std::size_t i = 1; i < line.files.size(); ++i) {
    petsc(PetscOptionsInsertFile(PETSC_COMM_WORLD, nullptr, line.files[i].c_str(), PETSC_TRUE));
  }
  if (line.files.size() > 1) {
    petsc(PetscOptionsInsert(nullptr, &count, &rest, nullptr));
  }
}

PetscSession::~PetscSession() {
  PetscPopErrorHandler();
  PetscFinalize();
}

}  // namespace concord
