#pragma once

#include <petscsf.h>
#include <petscsnes.h>

#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace concord {

/// A PETSc call failed; the text is PETSc's own first message.
class PetscFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace petsc_detail {
[[noreturn]] void raise(PetscErrorCode code);
}

/// Turns a PETSc error code into an exception.
inline void petsc(PetscErrorCode code) {
  if (code != 0) [[unlikely]] {
    petsc_detail::raise(code);
  }
}

/// Owns one PETSc object; converts to the native handle, so that PETSc's own functions are called.
template <class Object, PetscErrorCode (*Destroy)(Object*)>
class PetscHandle {
 public:
  PetscHandle() = default;
  explicit PetscHandle(Object object) : object_(object) {}
  PetscHandle(PetscHandle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  PetscHandle& operator=(PetscHandle&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  PetscHandle(const PetscHandle&) = delete;
  PetscHandle& operator=(const PetscHandle&) = delete;
  ~PetscHandle() { Destroy(&object_); }

  operator Object() const { return object_; }  // NOLINT: a handle stands for its object
  Object* out() { return &object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  Object object_ = nullptr;
};

using VecHandle = PetscHandle<Vec, VecDestroy>;
using MatHandle = PetscHandle<Mat, MatDestroy>;
using SnesHandle = PetscHandle<SNES, SNESDestroy>;
using KspHandle = PetscHandle<KSP, KSPDestroy>;
using OptionsHandle = PetscHandle<PetscOptions, PetscOptionsDestroy>;
using SfHandle = PetscHandle<PetscSF, PetscSFDestroy>;

/// Newton steps are those of one's own factors: apply(pc, b, x), which finds `context` at the
/// preconditioner.
void solve_with_factors(SNES snes, PetscErrorCode (*apply)(PC, Vec, Vec), void* context);

/// This rank's entries of the vector, all of them.
void copy(std::span<const double> values, Vec vector);

/// MPI for the life of the program: the first object of main. Started without a launcher, OpenMPI
/// is told that it is alone.
class MpiSession {
 public:
  MpiSession(int* argc, char*** argv);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

 private:
  bool owner_ = false;  ///< a program that has started MPI itself ends it itself
};

/// PETSc and its options database, with the precedence defaults, -options_file, command line.
/// Outlives every handle. Throws InputError, the same on every rank, for words and files that are
/// not options.
class PetscSession {
 public:
  /// On the ranks of `comm`, which becomes PETSC_COMM_WORLD.
  PetscSession(int argc, char** argv, MPI_Comm comm);
  ~PetscSession();

  /// Ends the session, with what PETSc prints then. Throws InputError where it cannot.
  void finish();

  PetscSession(const PetscSession&) = delete;
  PetscSession& operator=(const PetscSession&) = delete;

 private:
  void initialize();

  std::vector<std::string> words_;
  std::vector<char*> arguments_;  ///< PETSc keeps pointers to them
  MPI_Comm comm_;
  bool open_ = false;
};

/// A database of the options that these words say: "-name", "value". Those of files that
/// -options_file names come first, so that the words count. Throws InputError.
OptionsHandle options_of(const std::vector<std::string>& words);

/// While it lives, PETSc's objects read their options from this database, and its failures are told
/// by exceptions alone, whatever the program has chosen for its own.
class PetscScope {
 public:
  explicit PetscScope(PetscOptions options);
  ~PetscScope();
  PetscScope(const PetscScope&) = delete;
  PetscScope& operator=(const PetscScope&) = delete;
};

}  // namespace concord
