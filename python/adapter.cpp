#include "adapter.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "class_model.hpp"
#include "class_subsystem.hpp"
#include "interpreter.hpp"

namespace concord::python {
namespace {

/// What the model gives of the class's own parameter, as Python reads it: a whole number stays one
/// where the class has one.
py::object value_of(const std::string& name, const py::object& own, const Parameters& given) {
  if (PyBool_Check(own.ptr())) return py::bool_(given.flag(name, own.cast<bool>()));
  if (py::isinstance<py::str>(own)) return py::str(given.text(name, own.cast<std::string>()));
  const bool whole = py::isinstance<py::int_>(own);
  if (own.is_none() || whole || py::isinstance<py::float_>(own)) {
    if (!own.is_none() && !given.has(name)) return own;
    const double value = given.number(name);
    if (whole && value == std::floor(value)) return py::int_(given.integer(name));
    return py::float_(value);
  }
  if (given.has(name))
    throw ParameterError("parameter '" + name +
                             "' is neither a number nor a flag nor a text in "
                             "the class, and can be set there only",
                         {});
  return own;
}

py::dict parameters_for(const py::object& found, const Parameters& given) {
  py::dict result;
  for (const auto& [name, own] :
       Interpreter::helper().attr("parameters_of")(found).cast<py::dict>())
    result[name] = value_of(name.cast<std::string>(), own.cast<py::object>(), given);
  given.check_all_asked();
  return result;
}

PythonCode code_of(const PythonDescription& description, const std::string& file) {
  const py::module_ helper = Interpreter::helper();
  const py::object found = helper.attr("class_of")(file, description.class_name);
  const py::dict parameters = parameters_for(found, description.parameters);
  ClassCode code(helper.attr("Instance")(found, parameters), file);
  PythonCode result;
  result.remarks = code.instance.attr("remarks").cast<std::vector<std::string>>();
  if (code.instance.attr("steps").cast<bool>())
    result.subsystem = std::make_unique<ClassSubsystem>(std::move(code));
  else
    result.model = std::make_unique<ClassModel>(std::move(code));
  return result;
}

/// What Python has raised while the class was read, in words of the model.
[[noreturn]] void refuse(const PythonDescription& description, const std::string& file,
                         const py::error_already_set& error) {
  const py::module_ helper = Interpreter::helper();
  const std::string words = py::str(error.value());
  if (error.matches(helper.attr("WrongFile")))
    throw ParameterError(words, description.file_location);
  const std::string who = "class '" + description.class_name + "' of " + file + ": ";
  if (error.matches(helper.attr("WrongClass")))
    throw ParameterError(who + words, description.class_location);
  throw ParameterError(file + " fails: " + told(error, file), description.file_location);
}

PythonCode make(const PythonDescription& description) {
  const std::string file = (description.folder / description.file).lexically_normal().string();
  const CrashesEndProcess crashes_end_process;
  try {
    return code_of(description, file);
  } catch (const py::error_already_set& error) {
    refuse(description, file, error);
  }
}

}  // namespace

const PythonAdapter& adapter() {
  static const PythonAdapter one{&make};
  return one;
}

}  // namespace concord::python

const concord::PythonAdapter* concord_python_adapter() {
  concord::python::Interpreter::need();
  return &concord::python::adapter();
}
