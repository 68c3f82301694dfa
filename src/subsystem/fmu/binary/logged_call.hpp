#pragma once

#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "subsystem/fmu/binary/fmi1.hpp"
#include "subsystem/fmu/binary/fmi2.hpp"
#include "support/call_log.hpp"

namespace concord {

/// An argument of a function of an FMU as the log of calls shows it.
struct CallArgument {
  enum class Role {
    value,    ///< passed by value
    size,     ///< the same, a number of entries
    given,    ///< entries that the FMU reads
    filled,   ///< entries that the FMU writes
    unshown,  ///< of no type that tells anything
  };
  Role role = Role::unshown;
  const void* entries = nullptr;
  void (*append)(std::string& text, const void* entries, std::size_t index) = nullptr;
};

/// Entries as text: numbers as they are read back, texts in quotes and without line ends.
void append_text(std::string& text, const char* entry);
void append_entry(std::string& text, const fmi1::EventInfo& info);
void append_entry(std::string& text, const fmi2::EventInfo& info);

template <class Value>
void append_entry(std::string& text, const Value& value) {
  if constexpr (std::is_same_v<Value, bool>) {
    text += value ? "true" : "false";
  } else if constexpr (std::is_same_v<Value, const char*>) {
    append_text(text, value);
  } else if constexpr (std::is_enum_v<Value>) {
    text += std::to_string(static_cast<int>(value));
  } else {
    std::array<char, 32> digits;
    text.append(digits.data(),
                std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
  }
}

template <class Value>
void append_one_of(std::string& text, const void* entries, std::size_t index) {
  append_entry(text, static_cast<const Value*>(entries)[index]);
}

/// `argument` must outlive the result.
template <class Parameter>
CallArgument shown(const Parameter& argument) {
  using Role = CallArgument::Role;
  if constexpr (!std::is_pointer_v<Parameter>) {
    constexpr bool counts = std::is_same_v<Parameter, std::size_t>;
    return {counts ? Role::size : Role::value, &argument, append_one_of<Parameter>};
  } else {
    using Entry = std::remove_pointer_t<Parameter>;
    using Value = std::remove_const_t<Entry>;
    if constexpr (std::is_void_v<Value> || std::is_same_v<Value, void*> ||
                  std::is_same_v<Value, const std::uint8_t*>) {
      return {};
    } else {
      return {std::is_const_v<Entry> ? Role::given : Role::filled, argument, append_one_of<Value>};
    }
  }
}

/// "vr=[1 2] value=[0.5 0]", under the standard's names: what is passed on, or what was filled.
std::string arguments_in_words(std::string_view function, std::span<const CallArgument> arguments,
                               bool filled);

/// One call of a function of an FMU: a line before it, and one behind it, also where an exception
/// leaves it. Without a log nothing.
class LoggedCall {
 public:
  LoggedCall(CallLog* log, CalledInstance instance, std::string_view function,
             std::string_view arguments);
  ~LoggedCall();
  LoggedCall(const LoggedCall&) = delete;
  LoggedCall& operator=(const LoggedCall&) = delete;

  void returned(std::string_view status, std::string_view results = {});

 private:
  CallLog* log_;  ///< null behind the second line
  CalledInstance instance_;
  std::string_view function_;
  std::int64_t number_ = 0;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace concord
