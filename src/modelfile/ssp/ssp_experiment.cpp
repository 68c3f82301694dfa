#include "modelfile/ssp/ssp_experiment.hpp"

#include <optional>
#include <string>

#include "concord/errors.hpp"
#include "modelfile/ssp/ssp_xml.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

void read_experiment(const pugi::xml_node& root, Model& model) {
  const pugi::xml_node experiment = child_named(root, "DefaultExperiment");
  const auto time = [&](const char* attribute) -> std::optional<double> {
    if (!experiment.attribute(attribute)) return std::nullopt;
    const auto value = parse_number(text(experiment, attribute));
    if (!value)
      throw InputError(model.source + ": the attribute " + attribute + " must be a number");
    return value;
  };
  const auto stop = time("stopTime");
  if (!stop && !options::has("cosim_stop"))
    throw InputError(model.source +
                     ": there is no default experiment with a stop time; give -cosim_stop "
                     "<seconds>");
  model.start = time("startTime").value_or(0.0);
  model.stop = stop.value_or(model.start + 1.0);
  model.start_location = model.stop_location = model.source;
}

}  // namespace concord
