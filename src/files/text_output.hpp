#pragma once

#include <cstdio>
#include <optional>
#include <string>

namespace concord {

/// A text file, or standard output, that reports every failed write as InputError.
class TextOutput {
 public:
  explicit TextOutput(const std::optional<std::string>& path);
  ~TextOutput();
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;

  void write(const std::string& text);
  void close();

 private:
  [[noreturn]] void fail() const;

  std::string name_;
  std::FILE* file_;
  bool owned_;
};

}  // namespace concord
