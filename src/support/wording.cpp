#include "support/wording.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <unordered_set>

#include "support/options.hpp"

namespace concord {

namespace {

constexpr std::size_t longest_list = 30;
constexpr std::size_t longest_quote = 80;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::optional<double> parse_based(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc{} || stop != end) {
    return std::nullopt;
  }
  return static_cast<double>(value);
}

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with("0x")) {
    return parse_based(text.substr(2), 16);
  }
  if (text.starts_with("0o")) {
    return parse_based(text.substr(2), 8);
  }
  if (text.starts_with('+') && !text.starts_with("+-")) {
    text.remove_prefix(1);
  }
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::string known(std::string_view what, const std::string& found,
                  std::span<const std::string> candidates) {
  if (candidates.empty()) {
    return "there are no known " + std::string(what);
  }
  const auto similar = found.size() > 2 ? nearest(found, candidates) : std::nullopt;
  std::string text = similar ? "did you mean '" + *similar + "'? " : "";
  std::unordered_set<std::string_view> seen;
  std::vector<std::string> listed;
  for (const std::string& name : candidates) {
    if (seen.insert(name).second && listed.size() < longest_list) listed.push_back(name);
  }
  text += "known " + std::string(what) + ": " + joined(listed);
  return seen.size() > listed.size() ? text + ", ... (" + std::to_string(seen.size()) + " in all)"
                                     : text;
}

std::string in_quotes(std::string_view text) {
  std::string shown(text.substr(0, longest_quote));
  for (char& c : shown) {
    const auto code = static_cast<unsigned char>(c);
    c = code < 0x20 || code == 0x7f ? ' ' : c;
  }
  while (shown.size() < text.size() && !shown.empty() && (shown.back() & 0x80) != 0) {
    shown.pop_back();  // not half a UTF-8 character
  }
  return "'" + shown + (shown.size() < text.size() ? "...'" : "'");
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string field = "\"";
  for (const char c : text) {
    field += c == '"' ? "\"\"" : std::string(1, c);
  }
  return field + '"';
}

std::string short_number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.12g", value);
  return text;
}

std::string exact_number(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

}  // namespace concord
