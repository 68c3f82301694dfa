#include "subsystem/equations/expression_list.hpp"

#include <muParser.h>

#include <algorithm>

#include "concord/errors.hpp"
#include "subsystem/equations/expression_scan.hpp"
#include "subsystem/equations/functions.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

constexpr std::size_t longest_list = 15000;  // muParser takes less than 20000 characters
constexpr std::size_t longest_name = 100;    // muParser's limit

constexpr const char* name_characters =
    "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.";

const mu::Parser& parser_with_functions() {
  static const mu::Parser parser = [] {
    mu::Parser result;
    define_functions(result);
    result.DefineNameChars(name_characters);
    return result;
  }();
  return parser;
}

std::unique_ptr<mu::Parser> make_parser(const ExpressionNames& names) {
  auto parser = std::make_unique<mu::Parser>(parser_with_functions());
  for (const auto& [name, place] : names.variables) {
    parser->DefineVar(name, place);
  }
  for (const auto& [name, value] : names.constants) {
    parser->DefineConst(name, value);
  }
  return parser;
}

bool contains(std::span<const std::string> words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

[[noreturn]] void fail(const PlacedExpression& expression, std::size_t position,
                       const std::string& problem) {
  const std::size_t shown = std::min(position, expression.text.size()) + 1;
  throw InputError(expression.place + ": " + problem + " (position " + std::to_string(shown) +
                   " of " + in_quotes(expression.text) + ")");
}

void check_function(const PlacedExpression& expression, const NameUse& use,
                    const ExpressionNames& names) {
  if (contains(function_names(), use.name)) {
    return;
  }
  if (names.contains(use.name) || contains(constant_names(), use.name)) {
    fail(expression, use.position,
         "'" + use.name + "' is not a function; write " + use.name + "*(...) to multiply");
  }
  fail(expression, use.position,
       "unknown function '" + use.name + "'; " + known("functions", use.name, function_names()));
}

void check_variable(const PlacedExpression& expression, const NameUse& use,
                    const ExpressionNames& names) {
  if (names.contains(use.name) || contains(constant_names(), use.name)) {
    return;
  }
  if (contains(function_names(), use.name)) {
    fail(expression, use.position, "the function '" + use.name + "' needs its arguments in ( )");
  }
  const std::vector<std::string> candidates = names.sorted();
  fail(expression, use.position,
       "unknown name '" + use.name + "'; " + known("names", use.name, candidates));
}

void check_text(const PlacedExpression& expression, const ExpressionNames& names) {
  if (const ScanProblem problem = find_problem(expression.text); !problem.message.empty()) {
    fail(expression, problem.position, problem.message);
  }
  if (expression.text.size() > longest_list) {
    fail(expression, longest_list,
         "the expression has " + std::to_string(expression.text.size()) + " characters; at most " +
             std::to_string(longest_list) +
             " are possible: introduce states or further subsystems, or write it in C++ (native)");
  }
  for (const NameUse& use : names_used(expression.text)) {
    use.called ? check_function(expression, use, names) : check_variable(expression, use, names);
  }
}

std::string explanation(const mu::Parser::exception_type& error) {
  const std::string token = in_quotes(error.GetToken());
  switch (error.GetCode()) {
    case mu::ecUNEXPECTED_OPERATOR:
      return "the operator " + token + " cannot stand here";
    case mu::ecUNASSIGNABLE_TOKEN:
      return token + " cannot be read here";
    case mu::ecUNEXPECTED_EOF:
      return "the expression ends too early";
    case mu::ecUNEXPECTED_VAL:
    case mu::ecUNEXPECTED_VAR:
    case mu::ecUNEXPECTED_FUN:
      return "an operator is missing before " + token;
    case mu::ecUNEXPECTED_ARG_SEP:
    case mu::ecUNEXPECTED_ARG:
      return "a comma outside the arguments of a function";
    case mu::ecTOO_MANY_PARAMS:
      return "the function " + token + " has too many arguments";
    case mu::ecTOO_FEW_PARAMS:
      return "the function " + token + " has too few arguments";
    case mu::ecMISSING_ELSE_CLAUSE:
      return "'condition ? value' lacks its ': value'";
    default:
      return error.GetMsg();
  }
}

/// Compiles `text`, which stands for `count` expressions.
void compile(mu::Parser& parser, const std::string& text, std::size_t count) {
  parser.SetExpr(text);
  int results = 0;
  parser.Eval(results);
  if (static_cast<std::size_t>(results) != count) {
    throw mu::Parser::exception_type(mu::ecUNEXPECTED_ARG);
  }
}

/// The list did not compile: finds the expression that is to blame.
[[noreturn]] void blame(std::span<const PlacedExpression> expressions,
                        const ExpressionNames& names) {
  const auto parser = make_parser(names);
  for (const PlacedExpression& expression : expressions) {
    try {
      compile(*parser, expression.text, 1);
    } catch (const mu::Parser::exception_type& error) {
      const int position = error.GetPos();
      fail(expression, position < 0 ? 0 : static_cast<std::size_t>(position), explanation(error));
    }
  }
  throw InputError(expressions.front().place +
                   ": these expressions cannot be compiled together; please report this");
}

std::unique_ptr<mu::Parser> compile_list(std::span<const PlacedExpression> expressions,
                                         const ExpressionNames& names) {
  std::string list;
  for (const PlacedExpression& expression : expressions) {
    list += (list.empty() ? "(" : ",(") + expression.text + ")";
  }
  auto parser = make_parser(names);
  try {
    compile(*parser, list, expressions.size());
  } catch (const mu::Parser::exception_type&) {
    blame(expressions, names);
  }
  return parser;
}

/// How many of the first expressions fit into one list.
std::size_t fitting(std::span<const PlacedExpression> expressions) {
  std::size_t length = expressions.front().text.size();
  std::size_t count = 1;
  while (count < expressions.size() &&
         length + expressions[count].text.size() + 3 <= longest_list) {
    length += expressions[count].text.size() + 3;
    ++count;
  }
  return count;
}

void check_names(const ExpressionNames& names, std::span<const PlacedExpression> expressions) {
  for (const std::string& name : names.sorted()) {
    if (name.size() > longest_name) {
      throw InputError(expressions.front().place + ": the name " + in_quotes(name) + " has " +
                       std::to_string(name.size()) + " characters; at most " +
                       std::to_string(longest_name) + " are possible");
    }
  }
}

}  // namespace

std::vector<std::string> ExpressionNames::sorted() const {
  std::vector<std::string> result;
  for (const auto& entry : variables) {
    result.push_back(entry.first);
  }
  for (const auto& entry : constants) {
    result.push_back(entry.first);
  }
  std::sort(result.begin(), result.end());
  return result;
}

bool is_reserved_in_expressions(const std::string& name) {
  return contains(function_names(), name) || contains(constant_names(), name);
}

ExpressionList::ExpressionList(std::span<const PlacedExpression> expressions,
                               const ExpressionNames& names) {
  if (!expressions.empty()) {
    check_names(names, expressions);
  }
  for (const PlacedExpression& expression : expressions) {
    check_text(expression, names);
  }
  while (!expressions.empty()) {
    const std::size_t count = fitting(expressions);
    parsers_.push_back(compile_list(expressions.first(count), names));
    expressions = expressions.subspan(count);
  }
}

ExpressionList::~ExpressionList() = default;
ExpressionList::ExpressionList(ExpressionList&&) noexcept = default;
ExpressionList& ExpressionList::operator=(ExpressionList&&) noexcept = default;

void ExpressionList::evaluate(std::span<double> results) const {
  double* result = results.data();
  for (const auto& parser : parsers_) {
    int count = 0;
    const double* values = parser->Eval(count);
    result = std::copy_n(values, count, result);
  }
}

}  // namespace concord
