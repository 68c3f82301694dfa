#include "export/model_source.hpp"

#include <algorithm>
#include <cctype>
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
    case VariableRole::discrete:
      return {"held", "the_discrete_"};
    default:
      return {"y", "the_output_"};
  }
}

/// What stands behind a prefix: "2_1_of_A" of "A[2,1]", as no name begins with a digit.
std::string name_in_c(const std::string& name) {
  const std::size_t bracket = name.find('[');
  if (bracket == std::string::npos) return name;
  std::string indices = name.substr(bracket + 1, name.size() - bracket - 2);
  std::replace(indices.begin(), indices.end(), ',', '_');
  return indices + "_of_" + name.substr(0, bracket);
}

/// Of a variable, or of what a call of a function needs: "drag#3.v".
std::string definition_in_c(std::string name) {
  const std::size_t call = name.find('#');
  if (call == std::string::npos) return "the_variable_" + name_in_c(name);
  std::replace(name.begin(), name.end(), '.', '_');
  return "the_argument_" + name.substr(call + 1);
}

/// Definitions are local variables of the functions that use them.
CNames names_in_c(const ExportedModel& model) {
  CNames names;
  names["t"] = {"t", "dt"};
  names["pi"] = {c_number(std::numbers::pi), ""};
  for (const auto& [name, definition] : model.definitions)
    names[name] = {definition_in_c(name), ""};
  for (std::size_t i = 0; i < model.tables.size(); ++i)
    names[model.tables[i]->name()] = {"&table_" + std::to_string(i), ""};
  for (const std::string& name : model.discrete)
    names[name] = {
        std::string("held[") + in_c(VariableRole::discrete).prefix + name_in_c(name) + "]", ""};
  for (std::size_t i = 0; i < model.events.relations.size(); ++i)
    names[Relations::name(i)] = {"held[n_discrete + " + std::to_string(i) + "]", ""};
  const auto add = [&](const std::vector<std::string>& list, VariableRole role) {
    const InC c = in_c(role);
    for (const std::string& name : list) {
      const std::string place = std::string(c.array) + "[" + c.prefix + name_in_c(name) + "]";
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
  for (const std::string& name : names) text += in_c(role).prefix + name_in_c(name) + ", ";
  return text + count + " };\n";
}

std::string start_values(const ExportedModel& model, VariableRole role, const std::string& what) {
  std::string values;
  for (const double value : model.starts(role))
    values += (values.empty() ? "" : ", ") + c_number(value);
  return "static const double start_" + what + "[n_" + what + " + 1] = {" +
         (values.empty() ? "0.0" : values) + "};\n";
}

/// A function of (t, x, u, p, held) that fills an array.
struct CFunction {
  std::string name, target;
  std::vector<std::pair<std::string, Expression>> assignments;  ///< place in the array, and what
};

CFunction function_of(const char* name, const char* target, const char* prefix,
                      const std::vector<ExportedEquation>& equations) {
  CFunction result{name, target, {}};
  for (const ExportedEquation& equation : equations)
    result.assignments.emplace_back(prefix + name_in_c(equation.name), equation.expression);
  return result;
}

/// Left and right of each relation.
CFunction relation_sides(const ExportedModel& model) {
  CFunction result{"relation_sides", "sides", {}};
  const Expression zero = number_node(0.0);
  for (const Relation& relation : model.events.relations)
    for (const Expression& side : {relation.left, relation.right ? relation.right : zero})
      result.assignments.emplace_back(std::to_string(result.assignments.size()), side);
  return result;
}

CFunction when_results(const ExportedModel& model) {
  CFunction result{"when_results", "results", {}};
  for (const Expression& when : model.events.whens)
    result.assignments.emplace_back(std::to_string(result.assignments.size()), when);
  return result;
}

/// Adds the definitions that the expression uses, each behind those that it uses itself.
void add_definitions(const Expression& expression, const ExportedModel& model,
                     std::vector<std::string>& found) {
  for (const Expression& argument : expression->arguments) add_definitions(argument, model, found);
  const std::string& name = expression->symbol;
  const auto definition = model.definitions.find(name);
  if (expression->kind != ExpressionNode::Kind::name || definition == model.definitions.end() ||
      std::find(found.begin(), found.end(), name) != found.end())
    return;
  add_definitions(definition->second, model, found);
  found.push_back(name);
}

constexpr const char* unused = "  (void)t, (void)x, (void)u, (void)p, (void)held;\n";

std::string evaluation(const CFunction& function, const ExportedModel& model, const CNames& names) {
  std::string text = "static void " + function.name +
                     "(double t, const double *x, const double *u, const double *p,\n    const "
                     "double *held, double *" +
                     function.target + ") {\n" + unused + "  (void)" + function.target + ";\n";
  std::vector<std::string> definitions;
  for (const auto& [place, expression] : function.assignments)
    add_definitions(expression, model, definitions);
  for (const std::string& name : definitions)
    text += "  const double " + names.at(name).value + " = " +
            c_expression(model.definitions.at(name), names) + ";\n";
  for (const auto& [place, expression] : function.assignments)
    text += "  " + function.target + "[" + place + "] = " + c_expression(expression, names) + ";\n";
  return text + "}\n\n";
}

std::string tangents(const CFunction& function, const ExportedModel& model, const CNames& names) {
  std::string text = "static void " + function.name +
                     "_tangent(double t, const double *x, const double *u, const double *p,\n    "
                     "const double *held, double dt, const double *dx, const double *du, const "
                     "double *dp,\n    double *d" +
                     function.target + ") {\n" + unused +
                     "  (void)dt, (void)dx, (void)du, (void)dp, (void)d" + function.target + ";\n";
  CTangents derivation(names, model.definitions);
  std::string assignments;
  for (const auto& [place, expression] : function.assignments) {
    const std::string tangent = derivation.tangent(expression);
    assignments += "  d" + function.target + "[" + place +
                   "] = " + (tangent.empty() ? "0.0" : tangent) + ";\n";
  }
  return text + derivation.statements() + assignments + "}\n\n";
}

/// A text that ends no comment.
std::string comment(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '/' && result.ends_with('*') ? " /" : std::string(1, c);
  return result;
}

/// A text as C writes it.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += std::isprint(static_cast<unsigned char>(c)) != 0 ? c : ' ';
  }
  return result + "\"";
}

/// Rows of a table, and a last one, because C has no empty tables.
std::string table(const std::string& declaration, const std::string& rows, const char* last) {
  return "static const " + declaration + " = {\n" + rows + "    " + last + "};\n";
}

std::string event_sizes(const ExportedEvents& events) {
  return "enum {\n  n_relations = " + std::to_string(events.relations.size()) +
         ",\n  n_held = n_discrete + n_relations,\n  n_watched = " +
         std::to_string(events.watched.size()) +
         ", /* event indicators, then what moves linearly with time alone */\n  n_indicators = " +
         std::to_string(events.indicators) +
         ",\n  n_conditions = " + std::to_string(events.conditions.size()) +
         ",\n  n_results = " + std::to_string(events.whens.size()) +
         ", /* of each condition itself (of ticks none) and its sets */\n  has_events = "
         "n_relations + n_conditions > 0\n};\n";
}

std::string event_tables(const ExportedEvents& events) {
  constexpr const char* kinds[] = {"is_less", "is_less_or_equal", "is_equal", "is_whole"};
  constexpr const char* sides[] = {"side_truth", "side_below", "side_above"};
  std::string relations, watched, conditions, sets;
  std::size_t n_sets = 0;
  for (const Relation& relation : events.relations)
    relations += std::string("    ") + kinds[static_cast<std::size_t>(relation.kind)] + ", /* " +
                 comment(relation.text) + " */\n";
  for (const auto& [relation, side, uses] : events.watched)
    watched +=
        "    {" + std::to_string(relation) + ", " + sides[static_cast<std::size_t>(side)] + "},\n";
  for (const EquationCondition& condition : events.conditions) {
    conditions += "    {" + c_number(condition.every.value_or(0.0)) + ", " +
                  c_number(condition.offset) + ", " + (condition.initially ? "1" : "0") + ", " +
                  std::to_string(condition.sets.size()) + ", " + quoted(condition.text) + "},\n";
    for (const auto& [is_state, index, words] : condition.sets)
      sets += std::string("    {") + (is_state ? "1" : "0") + ", " + std::to_string(index) + "},\n";
    n_sets += condition.sets.size();
  }
  return table("RelationKind relation_kinds[n_relations + 1]", relations, "is_less") +
         table("Watched watched[n_watched + 1]", watched, "{0, side_truth}") +
         table("When conditions[n_conditions + 1]", conditions, "{0.0, 0.0, 0, 0, \"\"}") +
         table("Set sets[" + std::to_string(n_sets) + " + 1]", sets, "{0, 0}");
}

std::string number_tables(const std::vector<const NumberTable*>& tables) {
  std::string text;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const NumberTable& table = *tables[i];
    const std::string number = std::to_string(i);
    text +=
        "\n/* " + comment(table.name()) + " */\nstatic const double numbers_" + number + "[] = {";
    for (std::size_t k = 0; k < table.numbers().size(); ++k)
      text += (k == 0 ? "\n    " : k % 6 == 0 ? ",\n    " : ", ") + c_number(table.numbers()[k]);
    text += "};\nstatic const Table table_" + number + " = {numbers_" + number + ", " +
            std::to_string(table.numbers().size()) + ", " + c_number(table.before()) + ", " +
            c_number(table.behind()) + "};\n";
  }
  return text;
}

const char* interface_file(FmiVersion version) {
  return version == FmiVersion::v2 ? "fmi2.h" : "fmi3.h";
}

}  // namespace

std::string sources_begin(const std::string& what, const std::string& name, FmiVersion version) {
  std::string text = "/* " + what + " as an FMU of FMI " +
                     (version == FmiVersion::v2 ? "2.0" : "3.0") +
                     ", written by Concord " CONCORD_VERSION
                     ".\n   Concord's parts: BSD 2-Clause License, "
                     "documentation/licenses/license.txt.\n   Compile this file alone: it includes "
                     "the others. For example:\n"
                     "   cc -std=c99 -O2 -fPIC -shared " +
                     name + ".c -lm -o " + name + ".so */\n\n";
  for (const char* header : {"float", "math", "stdarg", "stddef", "stdio", "stdlib", "string"})
    text += std::string("#include <") + header + ".h>\n";
  return text;
}

namespace {

std::string main_source(const ExportedModel& model, FmiVersion version,
                        const ExportedExperiment& experiment, const std::string& token) {
  const CNames names = names_in_c(model);
  std::string text = sources_begin("The subsystem '" + model.name + "'", model.name, version);
  text += "\n#define MODEL_TOKEN \"" + token + "\"\n#define DEFAULT_START " +
          c_number(experiment.start) + "\n#define DEFAULT_TOLERANCE " +
          c_number(experiment.tolerance) + "\n\n";
  text += enumeration(model.states, VariableRole::state, "n_states") +
          enumeration(model.inputs, VariableRole::input, "n_inputs") +
          enumeration(names_of(model.outputs), VariableRole::output, "n_outputs") +
          enumeration(model.parameters, VariableRole::parameter, "n_parameters") +
          enumeration(model.discrete, VariableRole::discrete, "n_discrete") +
          event_sizes(model.events) + "\n";
  text += start_values(model, VariableRole::state, "states") +
          start_values(model, VariableRole::input, "inputs") +
          start_values(model, VariableRole::parameter, "parameters") +
          start_values(model, VariableRole::discrete, "discrete") + "\n";
  text += "#include \"functions.h\"\n" + number_tables(model.tables) + "\n" +
          event_tables(model.events) + "\n";
  const CFunction differentiated[] = {
      function_of("derivatives", "dxdt", "the_state_", model.derivatives),
      function_of("outputs", "y", "the_output_", model.outputs), relation_sides(model)};
  for (const CFunction& function : differentiated) text += evaluation(function, model, names);
  text += evaluation(when_results(model), model, names);
  text += "/* The same, differentiated in the direction (dt, dx, du, dp). */\n";
  for (const CFunction& function : differentiated) text += tangents(function, model, names);
  return text +
         "#include \"calls.h\"\n#include \"instance.h\"\n#include \"events.h\"\n#include "
         "\"integrator.h\"\n#include \"" +
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
          {"sources/calls.h", fixed_sources::calls},
          {"sources/instance.h", fixed_sources::instance},
          {"sources/events.h", fixed_sources::events},
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
  return guid_of(all + c_number(experiment.stop));
}

std::string guid_of(const std::string& text) {
  const std::uint64_t a = hashed(text, 14695981039346656037ull), b = hashed(text, a);
  char guid[48];
  std::snprintf(guid, sizeof guid, "{%08x-%04x-%04x-%04x-%012llx}", static_cast<unsigned>(a >> 32),
                static_cast<unsigned>(a >> 16) & 0xffffu, static_cast<unsigned>(a) & 0xffffu,
                static_cast<unsigned>(b >> 48),
                static_cast<unsigned long long>(b & 0xffffffffffffull));
  return guid;
}

}  // namespace concord
