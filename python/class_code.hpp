#pragma once

#include <string>
#include <utility>
#include <vector>

#include "calls.hpp"
#include "concord/ode_model.hpp"
#include "record.hpp"

namespace concord::python {

/// An object of a user's class (_subsystem.Instance), and how its functions are called.
struct ClassCode {
  ClassCode(py::object made, std::string read_from);

  /// Without jacobians and the like, which only an OdeModel has.
  OdeInterface interface() const;

  /// What `function`, a method, gives for these; what it raises passes.
  template <class... Arguments>
  static py::object call(const py::object& function, const Arguments&... arguments) {
    PyObject* const given = PyObject_CallFunctionObjArgs(function.ptr(), arguments.ptr()..., NULL);
    if (given == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(given);
  }

  /// `work`, which calls the object.
  template <class Work>
  void guarded(const Work& work) const {
    call_code("", file, work);
  }

  py::object instance;
  std::string file;  ///< as tracebacks name it
  Record states, inputs;
  std::vector<std::string> tunable;  ///< names of parameters
  py::object outputs_at;             ///< None where all outputs are states
  bool outputs_take_inputs;

 private:
  std::vector<std::pair<std::string, py::object>> elements(const char* kind) const;
};

}  // namespace concord::python
