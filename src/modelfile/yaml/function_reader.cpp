#include "modelfile/yaml/function_reader.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "concord/errors.hpp"
#include "expression/expression_list.hpp"
#include "expression/expression_scan.hpp"
#include "expression/functions.hpp"
#include "expression/user_functions.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

[[noreturn]] void refuse(const Field& field, const std::string& message) {
  throw InputError(field.key_location + ": function " + in_quotes(field.key) + " " + message);
}

void check_name(const Field& field, const std::string& name, const char* role) {
  if (!is_name(name)) {
    refuse(field, "has the " + std::string(role) + " " + in_quotes(name) +
                      ", which is no name: use letters, digits and _, not starting with a digit");
  }
  if (is_reserved_in_expressions(name) || means_time(name)) {
    refuse(field, "has the " + std::string(role) + " " + in_quotes(name) +
                      ", which means something in every expression; choose another one");
  }
}

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t'; });
  return text;
}

/// "drag(v)", "mix(a, b)"
UserFunction read_signature(const Field& field) {
  const std::string text = without_blanks(field.key);
  const std::size_t open = text.find('(');
  if (open == std::string::npos || text.back() != ')') {
    refuse(field,
           "must be written with its arguments, as 'drag(v): 0.5*v*abs(v)'" +
               std::string(open == std::string::npos
                               ? ""
                               : "; inside { } a comma ends a key: put 'mix(a, b)' in quotes"));
  }
  UserFunction function{text.substr(0, open), {}, field.key_location, nullptr};
  check_name(field, function.name, "name");
  std::string rest = text.substr(open + 1, text.size() - open - 2) + ",";
  for (std::size_t end = rest.find(','); end != std::string::npos; end = rest.find(',')) {
    const std::string argument = rest.substr(0, end);
    check_name(field, argument, "argument");
    if (std::ranges::find(function.arguments, argument) != function.arguments.end()) {
      refuse(field, "has the argument " + in_quotes(argument) + " twice");
    }
    function.arguments.push_back(argument);
    rest.erase(0, end + 1);
  }
  return function;
}

/// Bodies are read once all signatures are known.
class FunctionReader {
 public:
  FunctionReader(std::span<const std::string> parameters, const Constants& known)
      : functions_(known.functions ? std::make_shared<UserFunctions>(*known.functions)
                                   : std::make_shared<UserFunctions>()) {
    names_.constants = known.values;
    for (const std::string& name : parameters) names_.constants[name] = 0.0;
    names_.functions = functions_;
  }

  std::shared_ptr<const UserFunctions> read(const std::vector<Field>& fields,
                                            std::span<const std::string> parameters) {
    std::vector<UserFunction> signatures;
    for (const Field& field : fields) {
      signatures.push_back(read_signature(field));
      add(field, signatures.back(), parameters);
    }
    for (std::size_t i = 0; i < fields.size(); ++i) read_body(fields[i], signatures[i]);
    functions_->complete();
    return functions_;
  }

 private:
  void add(const Field& field, const UserFunction& function,
           std::span<const std::string> parameters) {
    if (std::ranges::find(parameters, function.name) != parameters.end()) {
      refuse(field, "clashes with the parameter of that name; choose another name");
    }
    if (!functions_->add(function)) {
      refuse(field, "is there twice, also at " + functions_->find(function.name)->location +
                        "; remove one");
    }
  }

  void read_body(const Field& field, const UserFunction& function) {
    ExpressionNames names = names_;
    for (const std::string& argument : function.arguments) names.constants[argument] = 0.0;
    const PlacedExpression body{
        field.value.text(), field.value.location() + ": function " + in_quotes(in_words(function)) +
                                ", which knows its arguments, parameters and functions"};
    if (std::ranges::any_of(names_used(body.text),
                            [](const NameUse& use) { return use.called && use.name == "pre"; })) {
      refuse(field, "uses pre(...), which says what was before an event; it stands in 'when' only");
    }
    functions_->set_body(function.name, read_expression(body, names));
  }

  std::shared_ptr<UserFunctions> functions_;
  ExpressionNames names_;
};

}  // namespace

void read_functions(const std::vector<Field>& fields, std::span<const std::string> parameters,
                    Constants& known) {
  if (!fields.empty()) {
    known.functions = FunctionReader(parameters, known).read(fields, parameters);
  }
}

void keep_in_functions(std::span<const std::string> names, Constants& known) {
  std::map<std::string, double> values;
  for (const std::string& name : names) {
    const auto value = known.values.find(name);
    if (value != known.values.end() && known.functions && known.functions->use(name)) {
      values.emplace(name, value->second);
    }
  }
  if (!values.empty()) {
    auto functions = std::make_shared<UserFunctions>(*known.functions);
    functions->replace_parameters(values);
    known.functions = std::move(functions);
  }
}

}  // namespace concord
