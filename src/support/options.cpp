#include "support/options.hpp"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <sstream>

#include "concord/errors.hpp"
#include "support/petsc.hpp"
#include "support/wording.hpp"

namespace concord {
namespace options {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& value,
                         const std::string& allowed) {
  throw InputError("option -" + name + ": found " + in_quotes(value) + ", but the value must be " +
                   allowed);
}

/// All of the text as a number, whatever the host's locale.
std::optional<double> number_in(std::string_view text) {
  text.remove_prefix(text.starts_with('+') && !text.starts_with("+-") ? 1 : 0);
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

}  // namespace

bool has(const std::string& name) {
  if (PetscInitializeCalled == PETSC_FALSE) {
    return false;
  }
  PetscBool set = PETSC_FALSE;
  petsc(PetscOptionsHasName(nullptr, nullptr, ("-" + name).c_str(), &set));
  return set == PETSC_TRUE;
}

void set(const std::string& name, const std::string& value) {
  petsc(PetscOptionsSetValue(nullptr, ("-" + name).c_str(), value.c_str()));
}

void clear(const std::string& name) {
  petsc(PetscOptionsClearValue(nullptr, ("-" + name).c_str()));
}

std::optional<std::string> text(const std::string& name) {
  if (PetscInitializeCalled == PETSC_FALSE) {
    return std::nullopt;
  }
  const char* value = nullptr;  // PetscOptionsGetString would cut it
  PetscBool set = PETSC_FALSE;
  petsc(PetscOptionsFindPair(nullptr, nullptr, ("-" + name).c_str(), &value, &set));
  if (set != PETSC_TRUE) {
    return std::nullopt;
  }
  return std::string(value != nullptr ? value : "");
}

std::optional<double> real(const std::string& name) {
  const auto value = text(name);
  if (!value) {
    return std::nullopt;
  }
  const auto number = number_in(*value);
  if (!number || !std::isfinite(*number)) {
    refuse(name, *value, "a finite number");
  }
  return number;
}

std::optional<double> positive(const std::string& name) {
  const auto number = real(name);
  if (number && !(*number > 0.0)) {
    refuse(name, *text(name), "greater than zero");
  }
  return number;
}

std::optional<int> integer(const std::string& name, int smallest, int largest) {
  const auto value = text(name);
  if (!value) {
    return std::nullopt;
  }
  char* end = nullptr;
  const long number = std::strtol(value->c_str(), &end, 10);
  if (value->empty() || *end != '\0' || number < smallest || number > largest) {
    refuse(name, *value,
           "a whole number from " + std::to_string(smallest) + " to " + std::to_string(largest));
  }
  return static_cast<int>(number);
}

std::optional<bool> flag(const std::string& name) {
  auto value = text(name);
  if (!value) {
    return std::nullopt;
  }
  std::transform(value->begin(), value->end(), value->begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* yes : {"", "true", "1", "yes", "on"}) {
    if (*value == yes) {
      return true;
    }
  }
  for (const char* no : {"false", "0", "no", "off"}) {
    if (*value == no) {
      return false;
    }
  }
  refuse(name, *value, "true or false");
}

std::size_t choice_index(const std::string& name, const std::string& value,
                         std::span<const std::string_view> allowed) {
  const auto found = std::find(allowed.begin(), allowed.end(), value);
  if (found == allowed.end()) {
    const std::vector<std::string> words(allowed.begin(), allowed.end());
    refuse(name, value, "one of: " + joined(words));
  }
  return static_cast<std::size_t>(found - allowed.begin());
}

std::string all() {
  char* copy = nullptr;
  petsc(PetscOptionsGetAll(nullptr, &copy));
  std::string result = copy != nullptr ? copy : "";
  petsc(PetscFree(copy));
  return result;
}

bool begins_with(const std::string& name, const std::string& prefix) {
  return strncasecmp(name.c_str(), prefix.c_str(), prefix.size()) == 0;
}

/// Names begin with a dash and a letter; numbers may be negative.
std::vector<std::pair<std::string, std::string>> named(const std::string& database) {
  std::istringstream words(database);
  std::vector<std::pair<std::string, std::string>> result;
  for (std::string word; words >> word;) {
    if (word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1]))) {
      result.emplace_back(word.substr(1), "");
    } else if (!result.empty()) {
      std::string& value = result.back().second;
      value += (value.empty() ? "" : " ") + word;
    }
  }
  return result;
}

std::vector<std::string> given(const std::string& prefix) {
  std::vector<std::string> names;
  for (const auto& [name, value] : named(all())) {
    if (begins_with(name, prefix)) {
      names.push_back(name);
    }
  }
  return names;
}

}  // namespace options

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

std::optional<std::string> nearest(const std::string& word,
                                   std::span<const std::string> candidates) {
  std::optional<std::string> best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string joined(std::span<const std::string> words, std::string_view separator) {
  std::string result;
  for (const auto& word : words) {
    result += result.empty() ? "" : separator;
    result += word;
  }
  return result;
}

}  // namespace concord
