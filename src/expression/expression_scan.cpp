#include "expression/expression_scan.hpp"

namespace concord {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// First position at or after `i` beyond a number that starts at `i`.
std::size_t after_number(std::string_view text, std::size_t i) {
  while (i < text.size() && (is_digit(text[i]) || text[i] == '.')) {
    ++i;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    std::size_t digits = i + 1;
    if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) {
      ++digits;
    }
    if (digits < text.size() && is_digit(text[digits])) {
      i = digits;
      while (i < text.size() && is_digit(text[i])) {
        ++i;
      }
    }
  }
  return i;
}

std::size_t after_name(std::string_view text, std::size_t i) {
  while (i < text.size() && (is_letter(text[i]) || is_digit(text[i]) ||
                             (text[i] == '.' && i + 1 < text.size() && is_letter(text[i + 1])))) {
    ++i;
  }
  return i;
}

bool starts_number(std::string_view text, std::size_t i) {
  return is_digit(text[i]) || (text[i] == '.' && i + 1 < text.size() && is_digit(text[i + 1]));
}

bool opens_parenthesis(std::string_view text, std::size_t i) {
  while (i < text.size() && is_blank(text[i])) {
    ++i;
  }
  return i < text.size() && text[i] == '(';
}

/// Whether the '=' at `i` belongs to ==, <=, >= or !=.
bool compares(std::string_view text, std::size_t i) {
  const char before = i > 0 ? text[i - 1] : ' ';
  const char after = i + 1 < text.size() ? text[i + 1] : ' ';
  return after == '=' || before == '=' || before == '<' || before == '>' || before == '!';
}

std::string problem_at(std::string_view text, std::size_t i, int depth) {
  const char c = text[i];
  if (c == ')' && depth == 0) {
    return "this ')' closes nothing";
  }
  if (c == ',' && depth == 0) {
    return "a comma outside the arguments of a function";
  }
  if (c == '=' && !compares(text, i)) {
    return "'=' would assign; write == to compare";
  }
  if (c == '*' && i + 1 < text.size() && text[i + 1] == '*') {
    return "write ^ for powers, not **";
  }
  constexpr std::string_view allowed = "+-*/^()<>=!&|?:,.";
  if (is_letter(c) || is_digit(c) || is_blank(c) || allowed.find(c) != std::string_view::npos) {
    return {};
  }
  const bool printable = c > 0x20 && c < 0x7f;
  return "the character " + (printable ? "'" + std::string(1, c) + "'" : "here") +
         " means nothing in an expression";
}

}  // namespace

bool means_time(std::string_view name) { return name == "t" || name == "time"; }

NameUse name_at(std::string_view text, std::size_t position) {
  const std::size_t end = after_name(text, position);
  const std::string_view written = text.substr(position, end - position);
  const bool called = opens_parenthesis(text, end);
  return {means_time(written) && !called ? "t" : std::string(written), position, written.size(),
          called};
}

std::vector<NameUse> names_used(std::string_view text) {
  std::vector<NameUse> uses;
  for (std::size_t i = 0; i < text.size();) {
    if (starts_number(text, i)) {
      i = after_number(text, i);
    } else if (is_letter(text[i])) {
      uses.push_back(name_at(text, i));
      i += uses.back().length;
    } else {
      ++i;
    }
  }
  return uses;
}

ScanProblem find_problem(std::string_view text) {
  int depth = 0;
  bool empty = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (std::string message = problem_at(text, i, depth); !message.empty()) {
      return {i, std::move(message)};
    }
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    empty = empty && is_blank(text[i]);
  }
  if (empty) {
    return {0, "the expression is empty"};
  }
  if (depth > 0) {
    return {text.size(), "a closing parenthesis is missing"};
  }
  return {0, {}};
}

}  // namespace concord
