#pragma once

#include <arkode/arkode_arkstep.h>
#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <sundials/sundials_context.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>
#include <sundials/sundials_nonlinearsolver.h>
#include <sundials/sundials_nvector.h>

#include <memory>
#include <new>
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

/// A context without communicator: the objects made with it live on one rank.
inline Context make_context() {
  SUNContext native = nullptr;
  if (SUNContext_Create(nullptr, &native) != 0) throw std::bad_alloc();
  return Context(native);
}

}  // namespace concord::sundials_handle
