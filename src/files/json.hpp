#pragma once

#include <string>
#include <utility>
#include <vector>

namespace concord {

/// A value of JSON (RFC 8259), to be written. Members keep their order.
class Json {
 public:
  static Json text(const std::string& text);
  static Json truth(bool value);
  static Json number(double value);
  static Json list(std::vector<Json> items);
  static Json texts(const std::vector<std::string>& items);
  static Json object() { return {}; }

  Json& add(const std::string& name, Json value);

  /// Over several lines where it is long, two blanks deeper per level.
  std::string written(std::size_t depth = 0) const;

 private:
  enum class Kind { object, list, plain };

  Kind kind_ = Kind::object;
  std::string plain_;  ///< as it is written
  std::vector<std::pair<std::string, Json>> members_;
};

}  // namespace concord
