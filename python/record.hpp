#pragma once

#include <span>
#include <vector>

#include "calls.hpp"

namespace concord::python {

/// Makes named tuples of a subsystem's states or inputs: a float for a number, an array for a
/// vector (a tuple where numpy is not installed).
class Record {
 public:
  /// `type`: the class of these; `variables`: what it names, with their sizes
  /// (_subsystem.Variable).
  Record(py::object type, const py::object& variables);

  py::object of(std::span<const double> values) const;

 private:
  py::object vector(std::span<const double> values) const;

  py::object type_;
  std::vector<std::size_t> sizes_;  ///< 0: a number
  bool arrays_ = false;
};

}  // namespace concord::python
