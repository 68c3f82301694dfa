#include "support/shared_text.hpp"

#include <functional>

#include "support/shared.hpp"

namespace concord {

struct SharedText::Kept {
  std::string text;

  bool operator==(const Kept& other) const = default;
  std::size_t hash() const { return std::hash<std::string>()(text); }
};

SharedText::SharedText(const std::string& text)
    : text_(text.empty() ? nullptr : Shared<Kept>::one_like({text})) {}

const std::string& SharedText::text() const {
  static const std::string none;
  return text_ ? text_->text : none;
}

}  // namespace concord
