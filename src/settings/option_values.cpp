#include "settings/option_values.hpp"

#include <cstdio>

#include "concord/errors.hpp"
#include "support/wording.hpp"

namespace concord {

Values<bool> flag() {
  return {options::flag, [](bool value) { return std::string(value ? "true" : "false"); }};
}

Values<int> whole_number(int smallest, int largest) {
  return {[=](const std::string& name) { return options::integer(name, smallest, largest); },
          [](int value) { return std::to_string(value); }};
}

Values<int> whole_number_or(const char* word, int smallest, int largest) {
  const auto given = [=](const std::string& name) -> std::optional<int> {
    if (options::text(name) == std::optional<std::string>(word)) return 0;
    try {
      return options::integer(name, smallest, largest);
    } catch (const InputError& error) {
      throw InputError(std::string(error.what()) + ", or " + word);
    }
  };
  return {given, [=](int value) { return value == 0 ? word : std::to_string(value); }};
}

Values<double> number() { return {options::real, plain_number}; }

Values<double> positive_number() { return {options::positive, plain_number}; }

Values<double> number_from(double smallest, double largest) {
  const auto given = [=](const std::string& name) {
    const auto value = options::real(name);
    if (value && !(*value >= smallest && *value <= largest)) {
      throw InputError("option -" + name + ": found '" + *options::text(name) +
                       "', but it must be from " + plain_number(smallest) + " to " +
                       plain_number(largest));
    }
    return value;
  };
  return {given, plain_number};
}

Values<double> duration() {
  const auto given = [](const std::string& name) -> std::optional<double> {
    const auto text = options::text(name);
    if (!text || text->find(':') == std::string::npos) {
      return options::positive(name);
    }
    int hours = 0, minutes = 0, seconds = 0, length = 0;
    const bool read =
        std::sscanf(text->c_str(), "%d:%2d:%2d%n", &hours, &minutes, &seconds, &length) == 3 &&
        text->size() == static_cast<std::size_t>(length);
    const double total = 3600.0 * hours + 60.0 * minutes + seconds;
    if (!read || hours < 0 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59 ||
        total == 0.0) {
      throw InputError("option -" + name + ": found '" + *text +
                       "', but it must be seconds, greater than zero, or HH:MM:SS");
    }
    return total;
  };
  return {given, plain_number};
}

Values<std::string> any_text() {
  return {options::text, [](const std::string& value) { return value; }};
}

Values<std::string> file_name() {
  Values<std::string> values = any_text();
  values.given = [](const std::string& name) {
    auto path = options::text(name);
    if (path && path->empty()) {
      throw InputError("option -" + name + " needs the name of a file");
    }
    return path;
  };
  return values;
}

std::string plain_number(double value) {
  std::string text = short_number(value);
  const auto exponent = text.find('e');
  const auto padded = exponent == std::string::npos ? exponent : text.find('0', exponent);
  if (padded == exponent + 2 && padded + 1 < text.size()) {
    text.erase(padded, 1);
  }
  return text;
}

}  // namespace concord
