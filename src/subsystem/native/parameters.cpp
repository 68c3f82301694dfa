#include <charconv>
#include <cmath>

#include "concord/registry.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

[[noreturn]] void wrong_kind(const std::string& name, const std::string& expected,
                             const std::string& written, const std::string& location) {
  throw ParameterError(
      "parameter '" + name + "' must be " + expected + ", not " + in_quotes(written), location);
}

std::string shortest_digits(double value) {
  char digits[32];
  const auto result = std::to_chars(std::begin(digits), std::end(digits), value);
  return {std::begin(digits), result.ptr};
}

constexpr double largest_exact_integer = 9007199254740992.0;  // 2^53

}  // namespace

const Parameters::Value* Parameters::find(const std::string& name) const {
  asked_.insert(name);
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

const Parameters::Value& Parameters::get(const std::string& name) const {
  const Value* value = find(name);
  if (value == nullptr) {
    throw ParameterError("parameter '" + name + "' is missing; add it to parameters", {});
  }
  return *value;
}

double Parameters::number(const std::string& name) const {
  const Value& value = get(name);
  const auto number = value.quoted ? std::nullopt : parse_number(value.written);
  if (!number) {
    wrong_kind(name, "a finite number", value.written, value.location);
  }
  return *number;
}

std::int64_t Parameters::integer(const std::string& name) const {
  const Value& value = get(name);
  std::int64_t result = 0;
  const char* end = value.written.data() + value.written.size();
  const auto [stop, error] = std::from_chars(value.written.data(), end, result);
  if (!value.quoted && error == std::errc{} && stop == end) {
    return result;
  }
  const auto number = value.quoted ? std::nullopt : parse_number(value.written);
  if (!number || *number != std::floor(*number) || std::fabs(*number) > largest_exact_integer) {
    wrong_kind(name, "an integer", value.written, value.location);
  }
  return static_cast<std::int64_t>(*number);
}

bool Parameters::flag(const std::string& name) const {
  const Value& value = get(name);
  for (const char* yes : {"true", "True", "TRUE", "yes", "on"}) {
    if (!value.quoted && value.written == yes) {
      return true;
    }
  }
  for (const char* no : {"false", "False", "FALSE", "no", "off"}) {
    if (!value.quoted && value.written == no) {
      return false;
    }
  }
  wrong_kind(name, "true or false", value.written, value.location);
}

std::string Parameters::text(const std::string& name) const { return get(name).written; }

double Parameters::number(const std::string& name, double fallback) const {
  return has(name) ? number(name) : fallback;
}

std::int64_t Parameters::integer(const std::string& name, std::int64_t fallback) const {
  return has(name) ? integer(name) : fallback;
}

bool Parameters::flag(const std::string& name, bool fallback) const {
  return has(name) ? flag(name) : fallback;
}

std::string Parameters::text(const std::string& name, const std::string& fallback) const {
  return has(name) ? text(name) : fallback;
}

bool Parameters::has(const std::string& name) const { return find(name) != nullptr; }

Parameters& Parameters::set(const std::string& name, double value) {
  return set_written(name, shortest_digits(value), false, {});
}

Parameters& Parameters::set(const std::string& name, bool value) {
  return set_written(name, value ? "true" : "false", false, {});
}

Parameters& Parameters::set(const std::string& name, const std::string& value) {
  return set_written(name, value, true, {});
}

Parameters& Parameters::set(const std::string& name, const char* value) {
  return set_written(name, value, true, {});
}

Parameters& Parameters::set_written(const std::string& name, const std::string& value, bool quoted,
                                    const std::string& location) {
  values_[name] = {value, quoted, location};
  return *this;
}

void Parameters::check_all_asked() const {
  for (const auto& [name, value] : values_) {
    if (!asked_.contains(name)) {
      const std::vector<std::string> candidates(asked_.begin(), asked_.end());
      throw ParameterError(
          "unknown parameter '" + name + "'; " + known("parameters", name, candidates),
          value.location);
    }
  }
}

void Parameters::io(Archive& archive) {
  std::size_t count = values_.size();
  CONCORD_MEMBERS(archive, count);
  std::vector<std::string> names(count);
  std::vector<Value> values(count);
  std::size_t i = 0;
  for (const auto& [name, value] : values_) {
    names[i] = name;
    values[i++] = value;
  }
  CONCORD_MEMBERS(archive, names, values);
  for (i = 0; i < count; ++i) values_[names[i]] = std::move(values[i]);
}

}  // namespace concord
