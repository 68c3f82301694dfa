#include "calls.hpp"

#include <algorithm>
#include <string_view>

namespace concord::python {
namespace {

py::object file_of(const py::object& frame) {
  return frame.attr("tb_frame").attr("f_code").attr("co_filename");
}

/// The innermost frame, or the innermost one of the file; None without.
py::object place_of(const py::error_already_set& error, const std::string& file) {
  py::object found = py::none();
  py::object frame = error.trace() ? py::object(error.trace()) : py::object(py::none());
  for (; !frame.is_none(); frame = frame.attr("tb_next"))
    if (file.empty() || py::str(file).equal(file_of(frame))) found = frame;
  return found;
}

/// Numbers from whatever Python takes for some, in their order.
class Taken {
 public:
  explicit Taken(std::span<double> places) : places_(places) {}

  std::size_t count() const { return count_; }

  /// False where something is no number.
  bool take(PyObject* given) {
    if (PyFloat_Check(given)) return put(PyFloat_AS_DOUBLE(given));
    if (takes_array(given)) return true;
    const bool is_text = PyUnicode_Check(given) || PyBytes_Check(given);
    if (PyList_Check(given) || PyTuple_Check(given) || (PySequence_Check(given) && !is_text)) {
      const auto items = py::reinterpret_steal<py::object>(PySequence_Fast(given, ""));
      if (items) return take_all(items.ptr());
      PyErr_Clear();
    }
    const double number = is_text ? -1.0 : PyFloat_AsDouble(given);
    if (!is_text && !(number == -1.0 && PyErr_Occurred())) return put(number);
    PyErr_Clear();
    return false;
  }

 private:
  bool put(double number) {
    if (count_ < places_.size()) places_[count_] = number;
    ++count_;
    return true;
  }

  /// Not of what contains itself.
  bool take_all(PyObject* items) {
    if (Py_EnterRecursiveCall(" in numbers") != 0) {
      PyErr_Clear();
      return false;
    }
    const auto size = PySequence_Fast_GET_SIZE(items);
    bool all = true;
    for (py::ssize_t i = 0; i < size && all; ++i) all = take(PySequence_Fast_GET_ITEM(items, i));
    Py_LeaveRecursiveCall();
    return all;
  }

  /// Doubles that lie one behind the other are copied at once.
  bool takes_array(PyObject* given) {
    if (PyObject_CheckBuffer(given) == 0) return false;
    Py_buffer view;
    if (PyObject_GetBuffer(given, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
      PyErr_Clear();
      return false;
    }
    const bool doubles = view.format != nullptr && std::string_view(view.format) == "d";
    const auto* const numbers = static_cast<const double*>(view.buf);
    const auto size = doubles ? static_cast<std::size_t>(view.len) / sizeof(double) : 0;
    for (std::size_t i = 0; i < size; ++i) put(numbers[i]);
    PyBuffer_Release(&view);
    return doubles;
  }

  std::span<double> places_;
  std::size_t count_ = 0;
};

}  // namespace

std::string told(const py::error_already_set& error, const std::string& file) {
  std::string text = py::str(error.type().attr("__name__"));
  const std::string message = py::str(error.value());
  text += message.empty() ? "" : ": " + message;
  const py::object place = place_of(error, file);
  if (place.is_none()) return text;
  return text + " (" + std::string(py::str(file_of(place))) + ", line " +
         std::string(py::str(place.attr("tb_lineno"))) + ")";
}

void take_numbers(py::handle given, const char* function, const char* whose,
                  std::span<double> result) {
  Taken taken(result);
  const bool are_numbers = taken.take(given.ptr());
  if (are_numbers && taken.count() == result.size()) return;
  const std::string found = are_numbers ? std::to_string(taken.count()) + " numbers"
                                        : std::string(py::repr(given)).substr(0, 200);
  throw SimulationError(std::string(function) + "() gave " + found + "; it must give " +
                        std::to_string(result.size()) + ", one for each of its " + whose);
}

}  // namespace concord::python
