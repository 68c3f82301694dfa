#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/options.hpp"

namespace concord {

/// What an option may be: how its value is read from the options database, under the option's name,
/// and how it is written.
template <class T>
struct Values {
  std::function<std::optional<T>(const std::string& name)> given;  ///< throws InputError
  std::function<std::string(const T&)> written;
  std::vector<std::string> allowed{};  ///< words, default first; else empty
};

Values<bool> flag();
Values<int> whole_number(int smallest, int largest);
/// Or this word, which is 0.
Values<int> whole_number_or(const char* word, int smallest, int largest);
Values<double> number();
Values<double> positive_number();
Values<double> number_from(double smallest, double largest);
Values<std::string> any_text();
/// Seconds, or HH:MM:SS; greater than zero.
Values<double> duration();
/// Not empty.
Values<std::string> file_name();

/// One of the words of T.
template <class T>
Values<T> one_of() {
  Values<T> values{options::choice<T>, [](const T& value) { return std::string(word(value)); }};
  for (const auto& one : words_of<T>()) {
    values.allowed.emplace_back(one.word);
  }
  return values;
}

/// "1e-6", as people write it.
std::string plain_number(double value);

}  // namespace concord
