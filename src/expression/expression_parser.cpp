#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "expression/expression_scan.hpp"
#include "expression/expression_tree.hpp"
#include "expression/functions.hpp"
#include "expression/user_functions.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Kind = ExpressionNode::Kind;

constexpr std::size_t deepest = 10000;

struct BinaryOperator {
  std::string_view symbol;
  int strength;
};

/// Longer symbols before those that they begin with. All but ^ bind to the left.
constexpr BinaryOperator binary_operators[] = {
    {"||", 1}, {"&&", 2}, {"<=", 3}, {">=", 3}, {"==", 3}, {"!=", 3}, {"<", 3},
    {">", 3},  {"+", 4},  {"-", 4},  {"*", 5},  {"/", 5},  {"^", 7}};
constexpr int sign_strength = 6, comparison_strength = 3;

/// Operator precedence parsing with a stack of its own, so that brackets nest as deep as they like
/// (Dijkstra 1961, the shunting yard).
class ExpressionParser {
 public:
  ExpressionParser(const PlacedExpression& expression, const UserFunctions* own)
      : expression_(expression), text_(expression.text), own_(own) {}

  Expression whole() {
    if (const ScanProblem problem = find_problem(text_); !problem.message.empty())
      fail(problem.position, problem.message);
    while (skip_blanks(), position_ < text_.size()) wants_operand_ ? operand() : infix();
    if (wants_operand_) fail(text_.size(), "the expression ends too early");
    finish_group();
    if (!open_.empty()) fail(text_.size(), "a closing parenthesis is missing");
    return std::move(values_.back());
  }

 private:
  /// What waits for its last operand or its bracket.
  struct Open {
    enum class What { infix, sign, group, call, question, colon };
    What what;
    std::string_view symbol;  ///< operator or function
    int strength;             ///< of infix and sign
    std::size_t position;
    std::size_t first_value;  ///< of a call: where its arguments begin among the values
  };
  using What = Open::What;

  [[noreturn]] void fail(std::size_t position, const std::string& problem) const {
    refuse(expression_, position, problem);
  }
  void skip_blanks() {
    while (position_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[position_]) != std::string_view::npos)
      ++position_;
  }
  bool at(std::string_view symbol) const { return text_.substr(position_).starts_with(symbol); }

  void push(What what, std::string_view symbol, int strength) {
    if (open_.size() >= deepest)
      fail(position_, "the expression nests more than " + std::to_string(deepest) +
                          " levels deep; simplify it");
    open_.push_back({what, symbol, strength, position_, values_.size()});
  }
  void push_operator(What what, std::string_view symbol, int strength) {
    push(what, symbol, strength);
    position_ += symbol.size();
    wants_operand_ = true;
  }

  void operand();
  void number();
  void name();
  void infix();
  void close();
  void comma();
  void colon();
  void refuse_chain(std::string_view second);
  void finish(int weakest);
  void finish_group();
  void finish_one();
  void replace(std::size_t count, Kind kind, std::string_view symbol);
  void check_count(const Open& call, std::size_t count) const;
  std::string_view word() const;
  const BinaryOperator* binary_operator() const;
  [[noreturn]] void refuse_as_operand() const;
  [[noreturn]] void refuse_as_operator() const;

  const PlacedExpression& expression_;
  std::string_view text_;
  const UserFunctions* own_;
  std::size_t position_ = 0;
  bool wants_operand_ = true;
  std::vector<Open> open_;
  std::vector<Expression> values_;
};

bool begins_name(char c) { return is_name(std::string_view(&c, 1)); }

void ExpressionParser::operand() {
  const char c = text_[position_];
  const bool number_follows =
      is_digit(c) || (c == '.' && position_ + 1 < text_.size() && is_digit(text_[position_ + 1]));
  if (number_follows) {
    number();
  } else if (begins_name(c)) {
    name();
  } else if (c == '(') {
    push_operator(What::group, text_.substr(position_, 1), 0);
  } else if (c == '+') {
    ++position_;
  } else if (c == '-' || (c == '!' && !at("!="))) {
    push_operator(What::sign, text_.substr(position_, 1), sign_strength);
  } else {
    refuse_as_operand();
  }
}

void ExpressionParser::number() {
  double value = 0.0;
  const char* begin = text_.data() + position_;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
  const std::string_view digits(begin, static_cast<std::size_t>(end - begin));
  if (error != std::errc{})
    fail(position_,
         "the number " + in_quotes(digits) + " cannot be read: it lies outside 1e-307 to 1e308");
  values_.push_back(std::make_shared<ExpressionNode>(Kind::number, value, ""));
  position_ += digits.size();
  wants_operand_ = false;
}

void ExpressionParser::name() {
  const NameUse use = name_at(text_, position_);
  const std::string_view symbol = text_.substr(position_, use.length);
  if (!use.called) {
    values_.push_back(std::make_shared<ExpressionNode>(Kind::name, 0.0, use.name));
    position_ += symbol.size();
    wants_operand_ = false;
    return;
  }
  if (!find_function(use.name) && find_own(own_, use.name) == nullptr)
    fail(position_, unknown_function(use.name, own_));
  push_operator(What::call, symbol, 0);
  position_ = text_.find('(', position_) + 1;
}

const BinaryOperator* ExpressionParser::binary_operator() const {
  for (const BinaryOperator& candidate : binary_operators)
    if (at(candidate.symbol)) return &candidate;
  return nullptr;
}

void ExpressionParser::infix() {
  if (const BinaryOperator* found = binary_operator()) {
    if (found->strength == comparison_strength) refuse_chain(found->symbol);
    finish(found->symbol == "^" ? found->strength + 1 : found->strength);
    return push_operator(What::infix, found->symbol, found->strength);
  }
  switch (text_[position_]) {
    case '?':
      finish(1);
      return push_operator(What::question, text_.substr(position_, 1), 0);
    case ':':
      return colon();
    case ')':
      return close();
    case ',':
      return comma();
    default:
      refuse_as_operator();
  }
}

/// "0 < t < 1" would compare 0 or 1 with 1, as in C, and nobody means that.
void ExpressionParser::refuse_chain(std::string_view second) {
  finish(comparison_strength + 1);
  if (open_.empty() || open_.back().what != What::infix ||
      open_.back().strength != comparison_strength)
    return;
  const std::string first(open_.back().symbol);
  fail(position_, "a chain of comparisons is no interval; write 'a " + first + " b && b " +
                      std::string(second) + " c', or brackets around the one that is compared");
}

/// Completes what binds at least as strongly as `weakest`.
void ExpressionParser::finish(int weakest) {
  while (!open_.empty() && open_.back().strength >= weakest) finish_one();
}

/// Completes everything back to the last bracket.
void ExpressionParser::finish_group() {
  while (!open_.empty() && open_.back().what != What::group && open_.back().what != What::call) {
    if (open_.back().what == What::question)
      fail(open_.back().position, "'condition ? value' lacks its ': value'");
    finish_one();
  }
}

void ExpressionParser::finish_one() {
  const Open top = open_.back();
  open_.pop_back();
  if (top.what == What::colon)
    replace(3, Kind::operation, "?");
  else
    replace(top.what == What::sign ? 1 : 2, Kind::operation, top.symbol);
}

/// The last `count` values become the arguments of one.
void ExpressionParser::replace(std::size_t count, Kind kind, std::string_view symbol) {
  const auto first = values_.end() - static_cast<std::ptrdiff_t>(count);
  std::vector<Expression> arguments(std::make_move_iterator(first),
                                    std::make_move_iterator(values_.end()));
  values_.erase(first, values_.end());
  values_.push_back(
      std::make_shared<ExpressionNode>(kind, 0.0, std::string(symbol), std::move(arguments)));
}

void ExpressionParser::colon() {
  while (!open_.empty() && open_.back().what != What::question) {
    if (open_.back().what == What::group || open_.back().what == What::call) break;
    finish_one();
  }
  if (open_.empty() || open_.back().what != What::question)
    fail(position_, "this ':' belongs to no '?'");
  open_.back().what = What::colon;
  ++position_;
  wants_operand_ = true;
}

void ExpressionParser::comma() {
  finish_group();
  if (open_.empty() || open_.back().what != What::call)
    fail(position_, "a comma outside the arguments of a function; decimals stand behind a point");
  ++position_;
  wants_operand_ = true;
}

void ExpressionParser::close() {
  finish_group();
  const Open bracket = open_.back();
  open_.pop_back();
  if (bracket.what == What::call) {
    const std::size_t count = values_.size() - bracket.first_value;
    check_count(bracket, count);
    if (bracket.symbol == "homotopy") replace(1, Kind::call, simplified_side);
    replace(count, Kind::call, bracket.symbol);
  }
  ++position_;
}

void ExpressionParser::check_count(const Open& call, std::size_t count) const {
  const std::string name(call.symbol);
  if (const UserFunction* own = find_own(own_, name)) {
    if (count != own->arguments.size())
      fail(call.position, "the function '" + in_words(*own) + "', defined at " + own->location +
                              ", has too " + (count < own->arguments.size() ? "few" : "many") +
                              " arguments here: " + std::to_string(count));
    return;
  }
  const Function function = *find_function(name);
  if (count < function.fewest || count > function.most)
    fail(call.position, "the function '" + name + "' has too " +
                            (count < function.fewest ? "few" : "many") + " arguments");
}

/// The number, name or character at the position, for messages.
std::string_view ExpressionParser::word() const {
  std::size_t end = position_;
  while (end < text_.size() && (begins_name(text_[end]) || is_digit(text_[end]))) ++end;
  return text_.substr(position_, end > position_ ? end - position_ : 1);
}

void ExpressionParser::refuse_as_operand() const {
  const bool closes = at(")") || at(",");
  const bool no_argument = closes && !open_.empty() && open_.back().what == What::call &&
                           open_.back().first_value == values_.size();
  if (no_argument)
    fail(open_.back().position,
         "the function '" + std::string(open_.back().symbol) + "' has too few arguments");
  if (closes) fail(position_, "a value is missing before '" + std::string(word()) + "'");
  if (const BinaryOperator* found = binary_operator())
    fail(position_, "the operator '" + std::string(found->symbol) + "' cannot stand here");
  if (at("?") || at(":"))
    fail(position_, "the operator '" + std::string(word()) + "' cannot stand here");
  fail(position_, in_quotes(word()) + " cannot be read here");
}

void ExpressionParser::refuse_as_operator() const {
  const char c = text_[position_];
  const bool fraction = c == '.' && position_ + 1 < text_.size() && is_digit(text_[position_ + 1]);
  if (fraction || begins_name(c) || is_digit(c) || c == '(' || c == '!')
    fail(position_, "an operator is missing before " + in_quotes(word()));
  const std::string remedy = c == '&'   ? "; write && for 'and'"
                             : c == '|' ? "; write || for 'or'"
                                        : "";
  fail(position_, in_quotes(word()) + " cannot be read here" + remedy);
}

}  // namespace

Expression parse_expression(const PlacedExpression& expression, const UserFunctions* own) {
  return ExpressionParser(expression, own).whole();
}

}  // namespace concord
