#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <span>
#include <string>
#include <utility>

#include "concord/errors.hpp"
#include "concord/program.hpp"

namespace concord::python {

namespace py = pybind11;

/// What a subsystem's function has raised last, until the run that it ends is told in Python.
class Raised {
 public:
  static void keep(const py::error_already_set& error, const std::string& told) {
    kept() = {error.value(), told};
  }
  /// What was told in this message; else None, as a smaller step has cured it. Forgotten from here
  /// on.
  static py::object take(const std::string& message) {
    const auto [value, told] = std::exchange(kept(), {py::none(), ""});
    return !told.empty() && message.find(told) != message.npos ? value : py::none();
  }

 private:
  using Kept = std::pair<py::object, std::string>;
  static Kept& kept() {
    static auto* const one = new Kept;  // nothing frees Python's objects after the interpreter
    return *one;
  }
};

/// "ZeroDivisionError: float division by zero (ball.py, line 12)", where it was raised; with
/// `file`, the line of that file from which it came.
std::string told(const py::error_already_set& error, const std::string& file = {});

/// `work`, which runs code of a subsystem: what it raises comes out as RecoverableFailure, where a
/// smaller step may help, or as SimulationError, with `before` in front.
template <class Work>
void call_code(const std::string& before, const std::string& file, const Work& work) {
  const CrashesEndProcess crashes_end_process;
  try {
    work();
  } catch (const py::error_already_set& error) {
    const std::string text = before + told(error, file);
    Raised::keep(error, text);
    if (error.matches(PyExc_ArithmeticError)) throw RecoverableFailure(text);
    throw SimulationError(text);
  }
}

/// The numbers that `function` gave, one for each of its `whose`: a number, an array, or a sequence
/// of these. Throws SimulationError where they are others.
void take_numbers(py::handle given, const char* function, const char* whose,
                  std::span<double> result);

}  // namespace concord::python
