#include "subsystem/equations/expression_tree.hpp"

#include <cctype>
#include <charconv>
#include <string_view>

#include "concord/errors.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Kind = ExpressionNode::Kind;

constexpr int deepest = 400;

struct BinaryOperator {
  std::string_view symbol;
  int strength;
};

/// Longer symbols before those that they begin with. All bind to the left.
constexpr BinaryOperator binary_operators[] = {{"||", 1}, {"&&", 2}, {"<=", 3}, {">=", 3},
                                               {"==", 3}, {"!=", 3}, {"<", 3},  {">", 3},
                                               {"+", 4},  {"-", 4},  {"*", 5},  {"/", 5}};

Expression node(Kind kind, std::string symbol, std::vector<Expression> arguments) {
  return std::make_shared<const ExpressionNode>(
      ExpressionNode{kind, 0.0, std::move(symbol), std::move(arguments)});
}

/// Recursive descent over one text.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, const std::string& place) : text_(text), place_(place) {}

  Expression whole() {
    Expression result = choice();
    if (next() != '\0')
      fail("cannot be exported from " + in_quotes(text_.substr(position_)) + " on");
    return result;
  }

 private:
  class Level {
   public:
    explicit Level(ExpressionParser& parser) : depth_(parser.depth_) {
      if (++depth_ > deepest)
        parser.fail("nests more than " + std::to_string(deepest) + " levels deep; simplify it");
    }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    int& depth_;
  };

  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(place_ + ": the expression " + in_quotes(text_) + " " + problem);
  }
  char next() {
    while (position_ < text_.size() &&
           std::isspace(static_cast<unsigned char>(text_[position_])) != 0)
      ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  bool take(std::string_view symbol) {
    next();
    if (!text_.substr(position_).starts_with(symbol)) return false;
    position_ += symbol.size();
    return true;
  }
  void require(std::string_view symbol) {
    if (!take(symbol)) fail("lacks '" + std::string(symbol) + "'");
  }

  Expression choice() {
    const Level level(*this);
    Expression condition = binary(1);
    if (!take("?")) return condition;
    Expression yes = choice();
    require(":");
    return node(Kind::operation, "?", {condition, yes, choice()});
  }

  Expression binary(int weakest) {
    Expression left = sign();
    while (const BinaryOperator* found = binary_operator(weakest)) {
      position_ += found->symbol.size();
      left = node(Kind::operation, std::string(found->symbol), {left, binary(found->strength + 1)});
    }
    return left;
  }

  const BinaryOperator* binary_operator(int weakest) {
    next();
    for (const BinaryOperator& candidate : binary_operators)
      if (text_.substr(position_).starts_with(candidate.symbol))
        return candidate.strength >= weakest ? &candidate : nullptr;
    return nullptr;
  }

  Expression sign() {
    const Level level(*this);
    if (take("+")) return sign();
    if (take("-")) return node(Kind::operation, "-", {sign()});
    if (next() == '!' && !text_.substr(position_).starts_with("!=")) {
      ++position_;
      return node(Kind::operation, "!", {sign()});
    }
    Expression base = primary();
    return take("^") ? node(Kind::operation, "^", {base, sign()}) : base;
  }

  Expression primary() {
    if (take("(")) {
      Expression inner = choice();
      require(")");
      return inner;
    }
    const char c = next();
    return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.' ? number() : name();
  }

  Expression number() {
    ExpressionNode result;
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), result.value);
    if (error != std::errc{}) fail("has a number that cannot be read");
    position_ += static_cast<std::size_t>(end - begin);
    return std::make_shared<const ExpressionNode>(std::move(result));
  }

  Expression name() {
    std::size_t end = position_;
    while (end < text_.size() && is_name(text_.substr(position_, end + 1 - position_))) ++end;
    if (end == position_) fail("cannot be exported");
    std::string symbol(text_.substr(position_, end - position_));
    position_ = end;
    if (!take("(")) return node(Kind::name, std::move(symbol), {});
    std::vector<Expression> arguments;
    do arguments.push_back(choice());
    while (take(","));
    require(")");
    return node(Kind::call, std::move(symbol), std::move(arguments));
  }

  std::string_view text_;
  const std::string& place_;
  std::size_t position_ = 0;
  int depth_ = 0;
};

}  // namespace

Expression parse_expression(const std::string& text, const std::string& place) {
  return ExpressionParser(text, place).whole();
}

}  // namespace concord
