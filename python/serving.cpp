#include "serving.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "concord/errors.hpp"
#include "subsystem/remote/serving_link.hpp"

namespace concord::python {
namespace {

RemoteSide side_that(bool connects) {
  return connects ? RemoteSide::connects : RemoteSide::listens;
}

/// Others may have the interpreter while nobody asks.
std::optional<py::bytes> next_question(ServingLink& link) {
  std::optional<std::span<const std::uint8_t>> question;
  {
    const py::gil_scoped_release others;
    question = link.next();
  }
  if (!question) return std::nullopt;
  return py::bytes(reinterpret_cast<const char*>(question->data()), question->size());
}

void give_answer(ServingLink& link, const py::bytes& answer) {
  const std::string_view bytes(answer);
  link.answer({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

}  // namespace

void define_serving(py::module_& m) {
  py::class_<ServingLink>(m, "ServingLink")
      .def(py::init([](const std::string& address, bool connects) {
        if (!is_remote_address(address, side_that(connects)))
          throw InputError(address + " is no address to serve at; it must be " + remote_addresses);
        return make_serving_link(address, side_that(connects));
      }))
      .def("next", &next_question)
      .def("answer", &give_answer);
}

}  // namespace concord::python
