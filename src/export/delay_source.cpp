#include "export/delay_source.hpp"

#include "export/c_expression.hpp"
#include "export/fixed_sources.hpp"

namespace concord {

ExportedModel delay_model(const DelayDescription& delay) {
  EquationsDescription equations;
  equations.subsystem = "delay";
  equations.inputs = {{delay_input_name, 0.0, ""}};
  equations.outputs = {{delay_output_name, delay_input_name, ""}};
  equations.parameters = {{delay_parameter_name, delay.delay, ""}};
  equations.units = {{delay_parameter_name, "s", ""}};
  if (!delay.source.unit.empty())
    for (const char* name : {delay_input_name, delay_output_name})
      equations.units.push_back({name, delay.source.unit, ""});
  ExportedModel model = lay_out(equations);
  model.is_delay = true;
  for (ExportedVariable& variable : model.variables)
    if (variable.role == VariableRole::input || variable.role == VariableRole::output) {
      variable.is_held = delay.source.kind == SignalKind::held;
      variable.description.clear();
    }
  return model;
}

std::vector<FmuFile> delay_sources(const ExportedModel& model, const ExportedExperiment& experiment,
                                   const std::string& token) {
  const ExportedVariable& output = model.variable(VariableRole::output, 0);
  std::string text = sources_begin("A delay", model.name, FmiVersion::v2);
  text += "\n#define NO_EQUATIONS\n#define MODEL_TOKEN \"" + token + "\"\n#define DEFAULT_START " +
          c_number(experiment.start) + "\n#define DEFAULT_TOLERANCE " +
          c_number(experiment.tolerance) + "\n#define DEFAULT_DELAY " +
          c_number(model.starts(VariableRole::parameter).front()) + "\n#define DEFAULT_INPUT " +
          c_number(model.starts(VariableRole::input).front()) + "\n#define HELD " +
          (output.is_held ? "1" : "0") +
          "\n\n#include \"calls.h\"\n#include \"delay.h\"\n#include \"fmi2.h\"\n";
  return {{"sources/" + model.name + ".c", text},
          {"sources/calls.h", fixed_sources::calls},
          {"sources/delay.h", fixed_sources::delay},
          {"sources/fmi2.h", fixed_sources::fmi2}};
}

}  // namespace concord
