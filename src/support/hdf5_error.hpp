#pragma once

#include <hdf5.h>

#include <stdexcept>
#include <string>

namespace concord {

/// A failed HDF5 call; the message is the reason at the bottom of HDF5's error stack. Callers turn
/// it into an InputError or a SimulationError, with the path and the remedy.
class Hdf5Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// It says nothing of the file: the operating system failed, there was no memory, or HDF5 gives no
/// reason.
class Hdf5SystemError : public Hdf5Error {
 public:
  using Hdf5Error::Hdf5Error;
};

/// The reason at the bottom of the calling thread's HDF5 error stack ("No space left on device"),
/// or "unknown HDF5 error".
std::string hdf5_error_reason();

/// Hdf5SystemError or Hdf5Error, with the reason.
[[noreturn]] void throw_hdf5_error();

/// Throws Hdf5Error when an identifier or a status is negative, else gives it back.
template <class Result>
Result hdf5_check(Result result) {
  if (result < 0) throw_hdf5_error();
  return result;
}

/// While alive, HDF5 prints no error stacks to stderr.
class Hdf5Quiet {
 public:
  Hdf5Quiet() noexcept {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Hdf5Quiet() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
  Hdf5Quiet(const Hdf5Quiet&) = delete;
  Hdf5Quiet& operator=(const Hdf5Quiet&) = delete;

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

}  // namespace concord
