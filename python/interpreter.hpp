#pragma once

#include <pybind11/pybind11.h>

namespace concord::python {

/// The interpreter of this process, which runs Concord or was started for subsystems.
class Interpreter {
 public:
  /// The module _subsystem, beside this one.
  static pybind11::module_ helper();

  /// Starts one where there is none. Throws InputError.
  static void need();

  /// Whether `need` has started it.
  static bool is_ours() { return ours_; }

 private:
  static inline bool ours_ = false;
};

}  // namespace concord::python
