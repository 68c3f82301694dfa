#include "export/model_source.hpp"

#include <cstdint>
#include <cstdio>
#include <numbers>

#include "export/c_tangents.hpp"
#include "export/fixed_sources.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

/// The role's part in C: how its arrays and enumerators are called. Nothing else in the sources
/// begins with "the_", and no name can be a keyword behind it.
struct InC {
  const char *array, *prefix;
};

InC in_c(VariableRole role) {
  switch (role) {
    case VariableRole::state:
      return {"x", "the_state_"};
    case VariableRole::input:
      return {"u", "the_input_"};
    case VariableRole::parameter:
      return {"p", "the_parameter_"};
    default:
      return {"y", "the_output_"};
  }
}

CNames names_in_c(const ExportedModel& model) {
  CNames names;
  names["t"] = {"t", "dt"};
  names["pi"] = {c_number(std::numbers::pi), ""};
  const auto add = [&](const std::vector<std::string>& list, VariableRole role) {
    const InC c = in_c(role);
    for (const std::string& name : list) {
      const std::string place = std::string(c.array) + "[" + c.prefix + name + "]";
      names[name] = {place, "d" + place};
    }
  };
  add(model.states, VariableRole::state);
  add(model.inputs, VariableRole::input);
  add(model.parameters, VariableRole::parameter);
  return names;
}

std::string enumeration(const std::vector<std::string>& names, VariableRole role,
                        const std::string& count) {
  std::string text = "enum { ";
  for (const std::string& name : names) text += in_c(role).prefix + name + ", ";
  return text + count + " };\n";
}

std::string start_values(const ExportedModel& model, VariableRole role, const std::string& what) {
  std::string values;
  for (const double value : model.starts(role))
    values += (values.empty() ? "" : ", ") + c_number(value);
  return "static const double start_" + what + "[n_" + what + " + 1] = {" +
         (values.empty() ? "0.0" : values) + "};\n";
}

constexpr const char* unused = "  (void)t, (void)x, (void)u, (void)p;\n";

std::string evaluation(const std::string& function, const std::vector<ExportedEquation>& equations,
                       const std::string& target, const char* prefix, const CNames& names) {
  std::string text = "static void " + function +
                     "(double t, const double *x, const double *u, const double *p, double *" +
                     target + ") {\n" + unused + "  (void)" + target + ";\n";
  for (const ExportedEquation& equation : equations)
    text += "  " + target + "[" + prefix + equation.name +
            "] = " + c_expression(equation.expression, names) + ";\n";
  return text + "}\n\n";
}

std::string tangents(const std::string& function, const std::vector<ExportedEquation>& equations,
                     const std::string& target, const char* prefix, const CNames& names) {
  std::string text = "static void " + function +
                     "_tangent(double t, const double *x, const double *u, const double *p, double "
                     "dt,\n    const double *dx, const double *du, const double *dp, double *" +
                     target + ") {\n" + unused +
                     "  (void)dt, (void)dx, (void)du, (void)dp, (void)" + target + ";\n";
  CTangents derivation(names);
  std::string assignments;
  for (const ExportedEquation& equation : equations) {
    const std::string tangent = derivation.tangent(equation.expression);
    assignments += "  " + target + "[" + prefix + equation.name +
                   "] = " + (tangent.empty() ? "0.0" : tangent) + ";\n";
  }
  return text + derivation.statements() + assignments + "}\n\n";
}

const char* interface_file(FmiVersion version) {
  return version == FmiVersion::v2 ? "fmi2.h" : "fmi3.h";
}

std::string main_source(const ExportedModel& model, FmiVersion version,
                        const ExportedExperiment& experiment, const std::string& token) {
  const CNames names = names_in_c(model);
  const std::string fmi = version == FmiVersion::v2 ? "2.0" : "3.0";
  std::string text = "/* The subsystem '" + model.name + "' as an FMU of FMI " + fmi +
                     ", written by Concord " CONCORD_VERSION
                     ".\n   Concord's parts: BSD 2-Clause License, "
                     "documentation/licenses/license.txt.\n   Compile this file alone: it includes "
                     "the others. For example:\n"
                     "   cc -std=c99 -O2 -fPIC -shared " +
                     model.name + ".c -lm -o " + model.name + ".so */\n\n";
  for (const char* header : {"math", "stdarg", "stddef", "stdio", "stdlib", "string"})
    text += std::string("#include <") + header + ".h>\n";
  text += "\n#define MODEL_TOKEN \"" + token + "\"\n#define DEFAULT_START " +
          c_number(experiment.start) + "\n#define DEFAULT_TOLERANCE " +
          c_number(experiment.tolerance) + "\n\n";
  text += enumeration(model.states, VariableRole::state, "n_states") +
          enumeration(model.inputs, VariableRole::input, "n_inputs") +
          enumeration(names_of(model.outputs), VariableRole::output, "n_outputs") +
          enumeration(model.parameters, VariableRole::parameter, "n_parameters") + "\n";
  text += start_values(model, VariableRole::state, "states") +
          start_values(model, VariableRole::input, "inputs") +
          start_values(model, VariableRole::parameter, "parameters") + "\n";
  text += "#include \"functions.h\"\n\n";
  text += evaluation("derivatives", model.derivatives, "dxdt", "the_state_", names) +
          evaluation("outputs", model.outputs, "y", "the_output_", names);
  text += "/* The same, differentiated in the direction (dt, dx, du, dp). */\n" +
          tangents("derivatives", model.derivatives, "df", "the_state_", names) +
          tangents("outputs", model.outputs, "dy", "the_output_", names);
  return text + "#include \"instance.h\"\n#include \"integrator.h\"\n#include \"" +
         interface_file(version) + "\"\n";
}

const char* interface_source(FmiVersion version) {
  return version == FmiVersion::v2 ? fixed_sources::fmi2 : fixed_sources::fmi3;
}

/// FNV-1a (Fowler, Noll, Vo), from a basis of choice.
std::uint64_t hashed(const std::string& text, std::uint64_t basis) {
  for (const unsigned char c : text) basis = (basis ^ c) * 1099511628211ull;
  return basis;
}

}  // namespace

std::vector<FmuFile> model_sources(const ExportedModel& model, FmiVersion version,
                                   const ExportedExperiment& experiment, const std::string& token) {
  return {{"sources/" + model.name + ".c", main_source(model, version, experiment, token)},
          {"sources/functions.h", fixed_sources::functions},
          {"sources/instance.h", fixed_sources::instance},
          {"sources/integrator.h", fixed_sources::integrator},
          {std::string("sources/") + interface_file(version), interface_source(version)}};
}

std::string instantiation_token(const ExportedModel& model, FmiVersion version,
                                const ExportedExperiment& experiment) {
  std::string all;
  for (const auto& [name, content] : model_sources(model, version, experiment, ""))
    all += name + content;
  for (const ExportedVariable& variable : model.variables)
    all += variable.name + "," + variable.unit + ";";
  all += c_number(experiment.stop);
  const std::uint64_t a = hashed(all, 14695981039346656037ull), b = hashed(all, a);
  char text[48];
  std::snprintf(text, sizeof text, "{%08x-%04x-%04x-%04x-%012llx}", static_cast<unsigned>(a >> 32),
                static_cast<unsigned>(a >> 16) & 0xffffu, static_cast<unsigned>(a) & 0xffffu,
                static_cast<unsigned>(b >> 48),
                static_cast<unsigned long long>(b & 0xffffffffffffull));
  return text;
}

}  // namespace concord
