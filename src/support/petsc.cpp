#include "support/petsc.hpp"

#include <petscsys.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cfenv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "concord/errors.hpp"
#include "support/agreement.hpp"
#include "support/callback_guard.hpp"
#include "support/end_of_all.hpp"
#include "support/foreign_call.hpp"
#include "support/node_token.hpp"
#include "support/options_file.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

std::string first_message;

PetscErrorCode keep_first_message(MPI_Comm, int, const char*, const char*, PetscErrorCode code,
                                  PetscErrorType type, const char* message, void*) {
  return CallbackGuard().run(code, [&] {
    if (type == PETSC_ERROR_INITIAL) first_message = message != nullptr ? message : "";
    return code;
  });
}

bool started_by_a_launcher() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "SLURM_STEP_ID"}) {
    if (std::getenv(variable) != nullptr) {
      return true;
    }
  }
  return false;
}

/// Without a launcher OpenMPI otherwise starts a daemon and searches for networks: 0.3 s. Lone
/// programs would also share one folder for their session and remove it under each other. Of the
/// machine's devices, at which hwloc would look for 20 ms, and of its displays nothing is used.
void tell_openmpi_that_it_is_alone() {
  for (const auto& [variable, value] :
       {std::pair{"OMPI_MCA_ess_singleton_isolated", "1"}, std::pair{"OMPI_MCA_pml", "ob1"},
        std::pair{"OMPI_MCA_btl", "self"}, std::pair{"OMPI_MCA_orte_create_session_dirs", "0"},
        std::pair{"HWLOC_COMPONENTS", "-linuxio,-pci,-gl,-opencl"}}) {
    setenv(variable, value, 0);
  }
}

/// Names and values of the command line (or PETSC_OPTIONS), and the options files named there.
struct GivenOptions {
  std::vector<std::filesystem::path> files;
  std::vector<std::string> words;

  /// Words before the first option are the program's own: its command and the model file.
  void read(const std::vector<std::string>& arguments) {
    std::size_t i = 0;
    while (i < arguments.size() && !is_option_name(arguments[i])) {
      ++i;
    }
    while (i < arguments.size()) {
      i = take(arguments, i);
    }
  }

 private:
  /// The option at `i` and its value; gives the place of the next option.
  std::size_t take(const std::vector<std::string>& arguments, std::size_t i) {
    const std::string& name = arguments[i];
    const bool has_value = i + 1 < arguments.size() && !is_option_name(arguments[i + 1]);
    const std::size_t next = i + (has_value ? 2 : 1);
    if (next < arguments.size() && !is_option_name(arguments[next])) {
      throw InputError("found " + in_quotes(arguments[next]) + " after " + name + " " +
                       arguments[i + 1] + "; an option has one value (quotes keep blanks in it)");
    }
    if (name == "-options_file_yaml") {
      throw InputError(
          "-options_file_yaml is not supported; use -options_file, with one option "
          "per line");
    }
    if (name != "-options_file") {
      words.insert(words.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i),
                   arguments.begin() + static_cast<std::ptrdiff_t>(next));
    } else if (has_value) {
      files.emplace_back(arguments[i + 1]);
    } else {
      throw InputError("-options_file needs the name of a file");
    }
    return next;
  }
};

/// The files with a user's or a folder's own defaults that every PETSc program reads.
std::vector<std::filesystem::path> default_options_files() {
  std::vector<std::filesystem::path> files = {".petscrc", "petscrc"};
  if (const char* home = std::getenv("HOME")) {
    files.insert(files.begin(), std::filesystem::path(home) / ".petscrc");
  }
  std::erase_if(files, [](const auto& file) {
    std::error_code error;
    return !std::filesystem::exists(file, error);
  });
  return files;
}

constexpr const char* options_remedy = "; look at the options given to PETSc";
constexpr const char* skip_default_files = "-skip_petscrc";

std::vector<std::string> words_of_files(const std::vector<std::filesystem::path>& files) {
  std::vector<std::string> words;
  for (const auto& file : files) {
    const auto more = read_options_file(file);
    words.insert(words.end(), more.begin(), more.end());
  }
  return words;
}

/// All options in the order of precedence, the strongest last: files, PETSC_OPTIONS, command line.
/// PETSc would read files on one rank; a mistake there would print a stack trace and leave the
/// other ranks waiting.
std::vector<std::string> option_words(int argc, char** argv) {
  GivenOptions given;
  if (const char* environment = std::getenv("PETSC_OPTIONS")) {
    given.read(split_words(environment, "PETSC_OPTIONS: "));
  }
  given.read(std::vector<std::string>(argv + 1, argv + argc));
  std::vector<std::filesystem::path> files = given.files;
  if (std::find(given.words.begin(), given.words.end(), skip_default_files) == given.words.end()) {
    const auto defaults = default_options_files();
    files.insert(files.begin(), defaults.begin(), defaults.end());
  }
  std::vector<std::string> words = words_of_files(files);
  words.insert(words.end(), given.words.begin(), given.words.end());
  return words;
}

/// The value of `option`; empty without one.
std::string value_of(const std::string& option, const std::vector<std::string>& words) {
  const auto found = std::find(words.begin(), words.end(), option);
  const bool has_value =
      found != words.end() && std::next(found) != words.end() && !is_option_name(*std::next(found));
  return has_value ? *std::next(found) : std::string();
}

void require_writable(const std::string& option, const std::string& file) {
  if (!file.empty() && !std::ofstream(file, std::ios::app)) {
    throw InputError(option + ": the file " + in_quotes(file) + " cannot be written (" +
                     std::strerror(errno) + "); name another one");
  }
}

/// Where PETSc 3.18 cannot open its history it crashes, and where the first rank cannot open what
/// -log_view asks for (type:file:format) the others wait for it.
void require_writable_files(const std::vector<std::string>& words) {
  for (const char* option : {"-history", "-citations"}) {
    require_writable(option, value_of(option, words));
  }
  const std::string view = value_of("-log_view", words);
  const std::size_t begin = view.find(':');
  if (begin != std::string::npos) {
    require_writable("-log_view", view.substr(begin + 1, view.find(':', begin + 1) - begin - 1));
  }
}

/// The value of -log_view is type:file:format:mode, of which all may be missing.
void require_log_view(const std::vector<std::string>& words) {
  const std::string value = value_of("-log_view", words), type = value.substr(0, value.find(':'));
  if (type.empty() || type == PETSCVIEWERASCII) return;
  throw InputError("-log_view: " + in_quotes(type) +
                   " shows no log; allowed is ascii, as in -log_view ascii:log.txt");
}

/// What PETSc reads when it is left, which is after the run.
void require_values_read_at_the_end(const std::vector<std::string>& words) {
  for (const char* option : {"-options_left", "-options_view", "-get_total_flops"}) {
    PetscBool value = PETSC_FALSE;
    try {
      petsc(PetscOptionsGetBool(nullptr, nullptr, option, &value, nullptr));
    } catch (const PetscFailure&) {
      throw InputError("option " + std::string(option) + ": found " +
                       in_quotes(value_of(option, words)) + ", but it must be true or false");
    }
  }
  require_log_view(words);
}

/// What the program does on signals, which PETSc's own handlers would leave changed: also that some
/// are ignored.
class SignalsAsTheyWere {
 public:
  SignalsAsTheyWere() {
    for (int number = 1; number < static_cast<int>(before_.size()); ++number) {
      sigaction(number, nullptr, &before_[static_cast<std::size_t>(number)]);
    }
  }
  ~SignalsAsTheyWere() {
    for (int number = 1; number < static_cast<int>(before_.size()); ++number) {
      sigaction(number, &before_[static_cast<std::size_t>(number)], nullptr);
    }
  }
  SignalsAsTheyWere(const SignalsAsTheyWere&) = delete;
  SignalsAsTheyWere& operator=(const SignalsAsTheyWere&) = delete;

 private:
  std::array<struct sigaction, 32> before_ = {};
};

/// MPI would print its own words, and promises nothing after an error.
[[noreturn]] void end_by_mpi(MPI_Comm* /*comm*/, int* code, ...) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(*code, text, &length);
  end_all(MPI_COMM_WORLD, std::string("MPI: ") + text +
                              "; a node or its network may have failed: go on from a checkpoint");
}

/// Of these communicators, and of those that are made from them.
void end_at_mpi_errors() {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(end_by_mpi, &handler);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
    MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
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

void solve_with_factors(SNES snes, PetscErrorCode (*apply)(PC, Vec, Vec), void* context) {
  KSP ksp = nullptr;
  PC pc = nullptr;
  petsc(SNESGetKSP(snes, &ksp));
  petsc(KSPSetType(ksp, KSPPREONLY));
  petsc(KSPGetPC(ksp, &pc));
  petsc(PCSetType(pc, PCSHELL));
  petsc(PCShellSetContext(pc, context));
  petsc(PCShellSetApply(pc, apply));
}

void copy(std::span<const double> values, Vec vector) {
  PetscScalar* v = nullptr;
  petsc(VecGetArrayWrite(vector, &v));
  std::copy(values.begin(), values.end(), v);
  petsc(VecRestoreArrayWrite(vector, &v));
}

MpiSession::MpiSession(int* argc, char*** argv) {
  if (!started_by_a_launcher()) {
    tell_openmpi_that_it_is_alone();
  }
  MPI_Init(argc, argv);
  end_at_mpi_errors();
  share_node_token();
}

MpiSession::~MpiSession() { MPI_Finalize(); }

PetscSession::PetscSession(int argc, char** argv, MPI_Comm comm) : comm_(comm) {
  together(comm_, [&] {
    words_ = option_words(argc, argv);
    require_writable_files(words_);
  });
  words_.insert(words_.begin(), argv[0]);
  words_.emplace_back(skip_default_files);
  for (std::string& word : words_) {
    arguments_.push_back(word.data());
  }
  arguments_.push_back(nullptr);
  unsetenv("PETSC_OPTIONS");
  initialize();
  if (fegetexcept() > 0) watch_foreign_code();
}

void PetscSession::initialize() {
  int count = static_cast<int>(words_.size());
  char** first = arguments_.data();
  PetscPushErrorHandler(keep_first_message, nullptr);
  const SignalsAsTheyWere signals;
  PETSC_COMM_WORLD = comm_;
  try {
    petsc(PetscInitialize(&count, &first, nullptr, nullptr));
    open_ = true;
    require_values_read_at_the_end(words_);
  } catch (const PetscFailure& failure) {
    throw InputError(std::string(failure.what()) + options_remedy);
  }
  end_at_mpi_errors();  // PETSc lets errors return, which only PETSc looks at
  petsc(PetscOptionsClearValue(nullptr, skip_default_files));
  PetscPopSignalHandler();
}

/// The error handler stays: what PETSc allocates before it starts, it cannot free with another
/// allocator (-malloc_debug).
void PetscSession::finish() {
  if (!std::exchange(open_, false)) {
    return;
  }
  try {
    collectively(comm_, [] { petsc(PetscFinalize()); });
  } catch (const SimulationError& failure) {
    throw InputError(std::string(failure.what()) + options_remedy);
  }
}

PetscSession::~PetscSession() {
  if (open_) {
    PetscFinalize();
  }
}

OptionsHandle options_of(const std::vector<std::string>& words) {
  GivenOptions given;
  given.read(words);
  std::vector<std::string> all = words_of_files(given.files);
  all.insert(all.end(), given.words.begin(), given.words.end());
  OptionsHandle database;
  petsc(PetscOptionsCreate(database.out()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const char* name = all[i].c_str();
    const bool has_value = i + 1 < all.size() && !is_option_name(all[i + 1]);
    petsc(PetscOptionsSetValue(database, name, has_value ? all[++i].c_str() : nullptr));
  }
  return database;
}

PetscScope::PetscScope(PetscOptions options) {
  petsc(PetscOptionsPush(options));
  PetscPushErrorHandler(keep_first_message, nullptr);
}

PetscScope::~PetscScope() {
  PetscPopErrorHandler();
  PetscOptionsPop();
}

}  // namespace concord
