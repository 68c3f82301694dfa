#include "record.hpp"

#include <algorithm>
#include <utility>

namespace concord::python {

Record::Record(py::object type, const py::object& variables) : type_(std::move(type)) {
  for (const py::handle variable : variables)
    sizes_.push_back(variable.attr("size").cast<std::size_t>());
  const auto is_vector = [](std::size_t size) { return size > 0; };
  if (std::none_of(sizes_.begin(), sizes_.end(), is_vector)) return;
  try {
    py::module_::import("numpy");
    arrays_ = true;
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_ImportError)) throw;
  }
}

py::object Record::vector(std::span<const double> values) const {
  if (arrays_) return py::array_t<double>(static_cast<py::ssize_t>(values.size()), values.data());
  py::tuple result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) result[i] = py::float_(values[i]);
  return result;
}

/// As tuple.__new__ does for classes derived from tuple, without a tuple in between.
py::object Record::of(std::span<const double> values) const {
  auto* const type = reinterpret_cast<PyTypeObject*>(type_.ptr());
  PyObject* const made = type->tp_alloc(type, static_cast<py::ssize_t>(sizes_.size()));
  if (made == nullptr) throw py::error_already_set();
  auto result = py::reinterpret_steal<py::object>(made);
  for (std::size_t i = 0, first = 0; i < sizes_.size(); ++i) {
    const std::size_t size = std::max<std::size_t>(sizes_[i], 1);
    PyObject* const item = sizes_[i] == 0 ? PyFloat_FromDouble(values[first])
                                          : vector(values.subspan(first, size)).release().ptr();
    if (item == nullptr) throw py::error_already_set();
    PyTuple_SET_ITEM(made, static_cast<py::ssize_t>(i), item);
    first += size;
  }
  return result;
}

}  // namespace concord::python
