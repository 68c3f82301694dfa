#pragma once

#include <arkode/arkode_arkstep.h>
#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <sundials/sundials_config.h>
#include <sundials/sundials_context.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>
#include <sundials/sundials_nonlinearsolver.h>
#include <sundials/sundials_nvector.h>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace concord::sundials_handle {

template <auto Free>
struct Freed {
  template <class Native>
  void operator()(Native* native) const noexcept {
    Free(native);
  }
};

/// The libraries' ...Free functions that want the address of the pointer.
template <auto Free>
struct FreedByAddress {
  template <class Native>
  void operator()(Native* native) const noexcept {
    Free(&native);
  }
};

/// Owning pointers; `get()` is the native handle, on which SUNDIALS' own functions are called.
using Context = std::unique_ptr<std::remove_pointer_t<SUNContext>, FreedByAddress<SUNContext_Free>>;
using Vector = std::unique_ptr<std::remove_pointer_t<N_Vector>, Freed<N_VDestroy>>;
using Matrix = std::unique_ptr<std::remove_pointer_t<SUNMatrix>, Freed<SUNMatDestroy>>;
using LinearSolver = std::unique_ptr<std::remove_pointer_t<SUNLinearSolver>, Freed<SUNLinSolFree>>;
using NonlinearSolver =
    std::unique_ptr<std::remove_pointer_t<SUNNonlinearSolver>, Freed<SUNNonlinSolFree>>;

using ButcherTable =
    std::unique_ptr<std::remove_pointer_t<ARKodeButcherTable>, Freed<ARKodeButcherTable_Free>>;

struct ErkStepFreed {
  void operator()(void* memory) const noexcept { ERKStepFree(&memory); }
};
struct ArkStepFreed {
  void operator()(void* memory) const noexcept { ARKStepFree(&memory); }
};
struct CvodeFreed {
  void operator()(void* memory) const noexcept { CVodeFree(&memory); }
};
using ErkStepMemory = std::unique_ptr<void, ErkStepFreed>;
using ArkStepMemory = std::unique_ptr<void, ArkStepFreed>;
using CvodeMemory = std::unique_ptr<void, CvodeFreed>;

/// What SUNDIALS' own functions return where they cannot be used as they are here: a bug.
inline void require(int code) {
  if (code < 0) throw std::logic_error("SUNDIALS returned " + std::to_string(code));
}

/// What SUNDIALS has made; it gives nothing only where there is no memory left.
template <class Native>
Native* made(Native* native) {
  if (native == nullptr) throw std::bad_alloc();
  return native;
}

// What differs between SUNDIALS 6 and 7: contexts' communicators, and who is told of errors. Error
// codes say it all, so that nobody is.
#if SUNDIALS_VERSION_MAJOR < 7
inline constexpr void* no_communicator = nullptr;
inline void ignore_message(int, const char*, const char*, char*, void*) {}
inline void silence(SUNContext) {}
inline int silence_erkstep(void* memory) {
  return ERKStepSetErrHandlerFn(memory, &ignore_message, nullptr);
}
inline int silence_arkstep(void* memory) {
  return ARKStepSetErrHandlerFn(memory, &ignore_message, nullptr);
}
inline int silence_cvode(void* memory) {
  return CVodeSetErrHandlerFn(memory, &ignore_message, nullptr);
}
#else
inline constexpr SUNComm no_communicator = SUN_COMM_NULL;
inline void silence(SUNContext context) { SUNContext_ClearErrHandlers(context); }
inline int silence_erkstep(void*) { return 0; }
inline int silence_arkstep(void*) { return 0; }
inline int silence_cvode(void*) { return 0; }
#endif

/// A context without communicator: the objects made with it live on one rank.
inline Context make_context() {
  SUNContext native = nullptr;
  if (SUNContext_Create(no_communicator, &native) != 0) throw std::bad_alloc();
  silence(native);
  return Context(native);
}

}  // namespace concord::sundials_handle
