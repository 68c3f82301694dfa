#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <utility>

namespace concord {

/// A text that does not change and that many have, like the place in a file where a thousand
/// subsystems are written: equal ones exist once, as long as somebody has them.
class SharedText {
 public:
  SharedText() = default;
  SharedText(const std::string& text);
  SharedText(const char* text) : SharedText(std::string(text)) {}

  const std::string& text() const;
  operator const std::string&() const { return text(); }
  bool empty() const { return text_ == nullptr; }

  friend bool operator==(const SharedText& a, const SharedText& b) { return a.text_ == b.text_; }
  friend std::string operator+(const SharedText& a, const char* b) { return a.text() + b; }
  friend std::string operator+(const SharedText& a, const std::string& b) { return a.text() + b; }
  friend std::string operator+(const char* a, const SharedText& b) { return a + b.text(); }
  friend std::string operator+(std::string a, const SharedText& b) {
    return std::move(a) + b.text();
  }
  friend std::ostream& operator<<(std::ostream& out, const SharedText& text) {
    return out << text.text();
  }

 private:
  struct Kept;
  std::shared_ptr<const Kept> text_;  ///< null: empty
};

}  // namespace concord
