#include "recorded.hpp"

#include <optional>
#include <tuple>
#include <vector>

#include "cli/shown_results.hpp"

namespace concord::python {
namespace {

using Numbers = py::array_t<double>;
using Named = std::vector<std::pair<std::string, std::string>>;  // names and units

Numbers array_of(std::span<const double> values) {
  return Numbers(static_cast<py::ssize_t>(values.size()), values.data());
}

Named told(const std::vector<ShownResults::Variable>& variables) {
  Named all;
  for (const auto& [name, unit] : variables) all.emplace_back(name, unit);
  return all;
}

/// Time, s, and of each variable its unit and its values there.
py::tuple curves(const ShownResults& results, const Named& wanted,
                 std::optional<std::pair<double, double>> range, std::size_t least) {
  std::vector<ShownResults::Variable> variables;
  for (const auto& [name, unit] : wanted) variables.push_back({name, unit});
  const auto drawn = results.curves(variables, range, least);
  py::dict found;
  for (const auto& [name, curve] : drawn.of)
    found[py::str(name)] = py::make_tuple(curve.unit, array_of(curve.values));
  return py::make_tuple(array_of(drawn.time), found);
}

std::vector<std::tuple<double, std::string, std::string>> events(const ShownResults& results) {
  std::vector<std::tuple<double, std::string, std::string>> all;
  for (const auto& [time, subsystem, what] : results.events())
    all.emplace_back(time, subsystem, what);
  return all;
}

}  // namespace

void define_recorded(py::module_& m) {
  using Names = std::vector<std::string>;
  py::class_<ShownResults>(m, "Recorded")
      .def(py::init<const std::string&>())
      .def_property_readonly("model", &ShownResults::model_name)
      .def_property_readonly("status", &ShownResults::status)
      .def_property_readonly("time", [](const ShownResults& r) { return array_of(r.time()); })
      .def("chosen",
           [](const ShownResults& r, const Names& wanted) { return told(r.chosen(wanted)); })
      .def("shown",
           [](const ShownResults& r, const Names& wanted) { return told(r.shown(wanted)); })
      .def("curves", &curves)
      .def("events", &events)
      .def("costs", &ShownResults::costs)
      .def("numbers",
           [](const ShownResults& r, const std::string& path) { return array_of(r.numbers(path)); })
      .def("texts", &ShownResults::texts)
      .def("text", &ShownResults::text)
      .def("number", &ShownResults::number);
  m.def("goes_on", &goes_on);
  m.def("names_in", &names_in);
  m.def("write_picture",
        [](const std::string& path, const py::bytes& bytes) { write_picture(path, bytes); });
  m.def("write_text", &write_shown_text);
}

}  // namespace concord::python
