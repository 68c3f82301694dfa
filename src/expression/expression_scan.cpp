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

/// Beyond indices in brackets, "[3]" or "[2,1]", that begin at `i`; `i` where there are none.
std::size_t after_indices(std::string_view text, std::size_t i) {
  std::size_t end = i + 1;
  while (end < text.size() &&
         (is_digit(text[end]) || (text[end] == ',' && is_digit(text[end - 1])))) {
    ++end;
  }
  const bool closed = end > i + 1 && end < text.size() && text[end] == ']' && text[end - 1] != ',';
  return closed ? end + 1 : i;
}

std::size_t after_name(std::string_view text, std::size_t i) {
  while (i < text.size()) {
    const char c = text[i];
    const bool part = c == '.' && i + 1 < text.size() && is_letter(text[i + 1]);
    const std::size_t next = c == '['                              ? after_indices(text, i)
                             : is_letter(c) || is_digit(c) || part ? i + 1
                                                                   : i;
    if (next == i) {
      break;
    }
    i = next;
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
    return "a comma outside the arguments of a function; decimals stand behind a point";
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

std::optional<NameUse> next_name(std::string_view text, std::size_t from) {
  for (std::size_t i = from; i < text.size();) {
    if (is_letter(text[i])) {
      return name_at(text, i);
    }
    i = starts_number(text, i) ? after_number(text, i) : i + 1;
  }
  return std::nullopt;
}

bool is_variable_name(std::string_view text) {
  return !text.empty() && is_letter(text[0]) && text.find('.') == text.npos &&
         after_name(text, 0) == text.size();
}

std::size_t find_outside_brackets(std::string_view text, TextPart part, char c) {
  int depth = 0;
  for (std::size_t i = part.begin; i < part.end; ++i) {
    if (depth == 0 && text[i] == c) {
      return i;
    }
    depth += text[i] == '(' || text[i] == '[' ? 1 : text[i] == ')' || text[i] == ']' ? -1 : 0;
  }
  return part.end;
}

std::vector<TextPart> split_outside_brackets(std::string_view text, TextPart part, char separator) {
  std::vector<TextPart> result;
  for (std::size_t begin = part.begin;;) {
    const std::size_t end = find_outside_brackets(text, {begin, part.end}, separator);
    result.push_back({begin, end});
    if (end == part.end) {
      return result;
    }
    begin = end + 1;
  }
}

std::vector<NameUse> names_used(std::string_view text) {
  std::vector<NameUse> uses;
  for (auto next = next_name(text, 0); next;
       next = next_name(text, uses.back().position + uses.back().length)) {
    uses.push_back(*std::move(next));
  }
  return uses;
}

std::string with_names(
    std::string_view text,
    const std::function<std::optional<std::string>(const NameUse& use)>& instead) {
  std::string result;
  std::size_t at = 0;
  for (const NameUse& use : names_used(text)) {
    result += text.substr(at, use.position - at);
    at = use.position + use.length;
    result += instead(use).value_or(std::string(text.substr(use.position, use.length)));
  }
  return result += text.substr(at);
}

ScanProblem find_problem(std::string_view text) {
  int depth = 0;
  bool empty = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_letter(text[i])) {
      i = after_name(text, i) - 1;
      empty = false;
      continue;
    }
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
