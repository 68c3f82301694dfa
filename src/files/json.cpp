#include "files/json.hpp"

#include <array>
#include <cmath>
#include <cstdio>

#include "support/wording.hpp"

namespace concord {
namespace {

constexpr std::size_t longest_line = 90;

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += std::string("\\") + c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> code;
      std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(c));
      result += code.data();
    } else {
      result += c;
    }
  }
  return result + "\"";
}

}  // namespace

Json Json::text(const std::string& text) {
  Json result;
  result.kind_ = Kind::plain;
  result.plain_ = quoted(text);
  return result;
}

Json Json::truth(bool value) {
  Json result;
  result.kind_ = Kind::plain;
  result.plain_ = value ? "true" : "false";
  return result;
}

/// JSON has no infinities and no NaN.
Json Json::number(double value) {
  Json result;
  result.kind_ = Kind::plain;
  result.plain_ = std::isfinite(value) ? exact_number(value) : "null";
  return result;
}

Json Json::list(std::vector<Json> items) {
  Json result;
  result.kind_ = Kind::list;
  for (Json& item : items) {
    result.members_.emplace_back("", std::move(item));
  }
  return result;
}

Json Json::texts(const std::vector<std::string>& items) {
  std::vector<Json> list;
  for (const std::string& item : items) {
    list.push_back(text(item));
  }
  return Json::list(std::move(list));
}

Json& Json::add(const std::string& name, Json value) {
  members_.emplace_back(name, std::move(value));
  return *this;
}

std::string Json::written(std::size_t depth) const {
  if (kind_ == Kind::plain) {
    return plain_;
  }
  std::vector<std::string> parts;
  std::size_t length = 0;
  for (const auto& [name, value] : members_) {
    parts.push_back((kind_ == Kind::object ? quoted(name) + ": " : "") + value.written(depth + 1));
    length = parts.back().find('\n') == std::string::npos ? length + parts.back().size() + 2
                                                          : longest_line;
  }
  const bool lines = 2 * depth + length >= longest_line;
  const std::string indent(lines ? 2 * depth : 0, ' '), deeper = lines ? "\n" + indent + "  " : "";
  std::string result;
  for (const std::string& part : parts) {
    result += (result.empty() ? "" : lines ? "," : ", ") + deeper + part;
  }
  result += lines ? "\n" + indent : "";
  return kind_ == Kind::object ? "{" + result + "}" : "[" + result + "]";
}

}  // namespace concord
