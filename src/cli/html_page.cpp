#include "cli/html_page.hpp"

namespace concord {
namespace {

/// As text between tags.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text)
    result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return result;
}

/// JSON that ends no script element: "<" occurs in its strings only.
std::string inside_script(const std::string& json) {
  std::string result;
  for (const char c : json) result += c == '<' ? "\\u003c" : std::string(1, c);
  return result;
}

}  // namespace

std::string html_page(const std::string& title, const std::string& body, const std::string& data,
                      const std::string& script) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<title>" +
         escaped(title) + "</title>\n<style>" + page_looks + "</style>\n</head>\n<body>\n" + body +
         "<noscript>This page draws with JavaScript, which is switched off.</noscript>\n"
         "<script type=\"application/json\" id=\"data\">" +
         inside_script(data) + "</script>\n<script>" + drawing_script + script +
         "</script>\n</body>\n</html>\n";
}

}  // namespace concord
