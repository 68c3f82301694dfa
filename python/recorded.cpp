#include "recorded.hpp"

#include <unistd.h>

#include <cerrno>
#include <map>
#include <optional>
#include <system_error>
#include <tuple>
#include <vector>

#include "cli/dense_curves.hpp"
#include "cli/results_options.hpp"
#include "cli/shown_units.hpp"
#include "files/replaceable.hpp"
#include "files/text_output.hpp"
#include "files/whole_file.hpp"
#include "record/results_lock.hpp"
#include "record/results_reader.hpp"
#include "support/name_patterns.hpp"

namespace concord::python {
namespace {

using Numbers = py::array_t<double>;

Numbers array_of(std::span<const double> values) {
  return Numbers(static_cast<py::ssize_t>(values.size()), values.data());
}

/// Names, units to show them in, and the groups in which they are.
using Told = std::tuple<std::string, std::string, std::string>;

std::vector<Told> told(const std::vector<RecordedVariable>& variables) {
  std::vector<Told> all;
  for (const RecordedVariable& one : variables)
    all.emplace_back(one.name, one.display, std::string(one.quantity));
  return all;
}

/// Time, s, and of each variable its unit and its values there, [time]. `wanted`: names, and units
/// to show them in, which those take that can; what is not there is left out.
std::tuple<Numbers, std::map<std::string, std::pair<std::string, Numbers>>> curves(
    const ResultsReader& results, const std::vector<std::pair<std::string, std::string>>& wanted,
    std::optional<std::pair<double, double>> range, std::size_t least) {
  const DenseCurves drawn(results, range, least);
  std::map<std::string, std::pair<std::string, Numbers>> found;
  for (const auto& [name, unit] : wanted) {
    const RecordedVariable* const there = results.find(name);
    if (there == nullptr) continue;
    RecordedVariable like = *there;
    like.display = unit;
    const RecordedVariable shown = shown_like(like, *there);
    found[name] = {shown.display, array_of(drawn.values(shown))};
  }
  return {array_of(drawn.time()), found};
}

std::vector<std::tuple<double, std::string, std::string>> events(const ResultsReader& results) {
  const auto happened = results.read_events();
  std::vector<std::tuple<double, std::string, std::string>> all;
  for (std::size_t i = 0; i < happened.size(); ++i)
    all.emplace_back(results.events()[i], happened[i].subsystem, happened[i].what);
  return all;
}

/// In place of a picture, at once; any other file stays.
void write_picture(const std::string& path, const py::bytes& bytes) {
  const std::string content = bytes;
  require_replaceable(path, FileContent::picture);
  try {
    if (access(path.c_str(), F_OK) == 0 && access(path.c_str(), W_OK) != 0)
      throw std::system_error(errno, std::generic_category());
    replace_file(path, std::as_bytes(std::span(content)));
  } catch (const std::system_error& error) {
    throw InputError("cannot write the picture '" + path + "': " + error.code().message());
  }
}

void write_text(const std::string& path, const std::string& text) {
  TextOutput file(path);
  file.write(text);
  file.close();
}

}  // namespace

void define_recorded(py::module_& m) {
  py::class_<ResultsReader>(m, "Recorded")
      .def(py::init<const std::string&>())
      .def_property_readonly("model", &ResultsReader::model_name)
      .def_property_readonly("status", &ResultsReader::status)
      .def_property_readonly("time", [](const ResultsReader& r) { return array_of(r.time()); })
      .def("chosen",
           [](const ResultsReader& r, const std::vector<std::string>& wanted) {
             return told(select_variables(r, wanted));
           })
      .def("shown",
           [](const ResultsReader& r, const std::vector<std::string>& wanted) {
             return told(shown_variables(r, wanted));
           })
      .def("curves", &curves)
      .def("events", &events)
      .def("costs",
           [](const ResultsReader& r) {
             std::vector<std::pair<std::string, double>> all;
             for (const RecordedCost& cost : r.costs()) all.emplace_back(cost.subsystem, cost.all);
             return all;
           })
      .def("numbers", [](const ResultsReader& r,
                         const std::string& path) { return array_of(r.numbers(path)); })
      .def("texts", [](const ResultsReader& r, const std::string& path) { return r.texts(path); })
      .def("text",
           [](const ResultsReader& r, const std::string& name) { return r.text(name.c_str()); })
      .def("number",
           [](const ResultsReader& r, const std::string& name) { return r.number(name.c_str()); });
  m.def("listed_names", [](const std::string& list) { return listed_names(list); });
  m.def("is_being_written", [](const std::string& path) { return is_being_written(path); });
  m.def("write_picture", &write_picture);
  m.def("write_text", &write_text);
}

}  // namespace concord::python
