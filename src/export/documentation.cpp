#include "export/documentation.hpp"

#include <sstream>

#include "export/description_writer.hpp"
#include "export/whole_description.hpp"

namespace concord {

namespace {

using Node = pugi::xml_node;

void add_text(Node parent, const char* element, const std::string& text) {
  parent.append_child(element).text() = text.c_str();
}

void add_row(Node table, const char* cell, std::initializer_list<std::string> texts) {
  Node row = table.append_child("tr");
  for (const std::string& text : texts) add_text(row, cell, text);
}

Node body_of_page(pugi::xml_document& document, const std::string& title) {
  document.append_child(pugi::node_doctype).set_value("html");
  Node html = document.append_child("html");
  html.append_attribute("lang") = "en";
  Node head = html.append_child("head"), body = html.append_child("body");
  head.append_child("meta").append_attribute("charset") = "utf-8";
  add_text(head, "title", title);
  add_text(body, "h1", title);
  return body;
}

std::string html_text(const pugi::xml_document& document) {
  std::ostringstream stream;
  document.save(stream, "  ", pugi::format_default | pugi::format_no_declaration,
                pugi::encoding_utf8);
  return stream.str();
}

}  // namespace

std::string documentation(const ExportedModel& model, FmiVersion version,
                          const ExportedExperiment& experiment) {
  pugi::xml_document document;
  Node body = body_of_page(document, model.name);
  const std::string written =
      std::string(" FMI ") + (version == FmiVersion::v2 ? "2.0" : "3.0") +
      (model.is_delay ? " for co-simulation" : ", model exchange and co-simulation") +
      ", written by Concord " CONCORD_VERSION ".";
  add_text(body, "p",
           (model.is_delay ? "y(t) = u(t - delay) as an FMU of"
                           : "A subsystem of equations as an FMU of") +
               written);
  Node table = body.append_child("table");
  add_row(table, "th", {"variable", "causality", "unit", "start", "equation"});
  for (const ExportedVariable& variable : model.variables) {
    add_row(table, "td",
            {variable.name, causality_of(variable), variable.unit,
             has_start(variable) ? xml_number(variable.start) : "", variable.description});
  }
  if (model.is_delay) {
    add_text(
        body, "p",
        "Before the start u was what it is there. Steps may have any size. Derivatives of u up "
        "to the third are followed exactly; where the importer tells none, u is taken to be "
        "linear between communication points, or constant where it is discrete.");
    return html_text(document);
  }
  add_text(body, "p",
           "Co-simulation integrates with the pair of orders 5 and 4 of Dormand and Prince (1980), "
           "an explicit method with step control: relative tolerance as the importer says, else " +
               xml_number(experiment.tolerance) +
               "; absolute tolerance a hundredth of it. For stiff equations use model exchange. "
               "Directional derivatives are exact.");
  if (model.events.any())
    add_text(
        body, "p",
        "Relations (<, abs, min, floor, ...) change their truth at events alone; the equations "
        "are smooth between them. Event indicators: " +
            std::to_string(model.events.indicators) +
            "; what is known ahead is a time event. Conditions act in event mode; in "
            "co-simulation all events are found and handled within the steps.");
  for (const std::string& note : model.notes) add_text(body, "p", "Note: " + note + ".");
  return html_text(document);
}

std::string documentation(const WholeInterface& interface, FmiVersion version) {
  pugi::xml_document document;
  Node body = body_of_page(document, interface.name);
  add_text(body, "p",
           std::string("A whole model as an FMU of FMI ") +
               (version == FmiVersion::v2 ? "2.0" : "3.0") +
               " for co-simulation, written by Concord " CONCORD_VERSION
               ", whose solver it has inside; the model's files are in resources/.");
  add_text(
      body, "p",
      "Its binary is for machines like the one that has written it. But for those that are "
      "beside it in binaries/*/concord/ it needs shared libraries of the system: MPI, PETSc, "
      "SUNDIALS, HDF5, GSL, UDUNITS, yaml-cpp, pugixml, libzip, "
      "OpenSSL, ZeroMQ. On Debian the packages of these bring them, as Concord's own package does; "
      "'ldd binaries/*/*.so' says which are missing.");
  add_text(
      body, "p",
      "Each communication step ends exactly where it is asked to, after as many macro-steps "
      "as the model takes. Inputs that are set hold from then on. Parameters and starts "
      "can be set until initialisation ends, tunable ones later, too. There is no event mode.");
  Node table = body.append_child("table");
  add_row(table, "th", {"variable", "causality", "unit", "start", "meaning"});
  for (const WholeVariable& variable : interface.variables)
    add_row(table, "td",
            {variable.name, causality_of(variable.role), variable.unit,
             variable.start ? xml_number(*variable.start) : "", variable.description});
  return html_text(document);
}

}  // namespace concord
