#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "settings/option_values.hpp"

namespace concord {

/// One option as the help text shows it.
struct OptionSpec {
  std::string name;           ///< without the leading dash
  std::string default_value;  ///< as text
  std::string unit;           ///< "s", or empty
  std::string help;
  std::vector<std::string> allowed;  ///< of an enumeration, default first; else empty
  bool flag = false;                 ///< may stand without a value
};

/// The member of a member of ... a structure: at<&Settings::method, &Method::max_it>.
template <auto... members>
struct At {
  template <class Target>
  constexpr auto& operator()(Target& target) const {
    return (target.*....*members);
  }
};
template <auto... members>
inline constexpr At<members...> at{};

/// An option of a structure of settings: all there is to say about it.
template <class Target>
class Option {
 public:
  using Holder = Target;

  /// `place` is the member that takes the value; its default is the option's.
  template <class T, auto... members>
  Option(std::string name, std::string help, Values<T> values, At<members...> place)
      : Option(
            std::move(name), std::move(help), values,
            [=](const Target& target) { return values.written(place(target)); },
            [=](Target& target, const std::optional<T>& given) {
              if (given) {
                place(target) = *given;
              }
            }) {}

  /// Where more follows from a value, or from its absence: `take` gets either.
  template <class T, class Written, class Take>
  Option(std::string name, std::string help, Values<T> values, Written written, Take take)
      : name_(std::move(name)),
        help_(std::move(help)),
        allowed_(values.allowed),
        flag_(std::is_same_v<T, bool>),
        written_(std::move(written)),
        read_([values = std::move(values), take = std::move(take)](
                  const std::string& full, Target& target) { take(target, values.given(full)); }) {}

  Option&& in(std::string unit) && {
    unit_ = std::move(unit);
    return std::move(*this);
  }
  /// What takes the option's place follows from something else, in these words.
  Option&& by_default(std::string words) && {
    default_ = std::move(words);
    return std::move(*this);
  }
  /// When a value that is given counts for nothing, and what it belongs to.
  Option&& idle(bool (*when)(const Target&), std::string belongs_to) && {
    idle_ = when;
    belongs_to_ = std::move(belongs_to);
    return std::move(*this);
  }

  const std::string& name() const { return name_; }
  bool has_derived_default() const { return default_.has_value(); }
  std::string written(const Target& target) const { return written_(target); }
  void read(const std::string& prefix, Target& target) const { read_(prefix + name_, target); }

  OptionSpec spec(const std::string& prefix, const Target& defaults) const {
    return {prefix + name_, default_ ? *default_ : written_(defaults), unit_, help_, allowed_,
            flag_};
  }

  /// Why the option has no effect; null where it has.
  const std::string* idle_because(const Target& target) const {
    return idle_ != nullptr && idle_(target) ? &belongs_to_ : nullptr;
  }

 private:
  std::string name_, help_, unit_;
  std::vector<std::string> allowed_;
  bool flag_;
  std::optional<std::string> default_;
  std::function<std::string(const Target&)> written_;
  std::function<void(const std::string& full, Target&)> read_;
  bool (*idle_)(const Target&) = nullptr;
  std::string belongs_to_;
};

template <class Target>
using OptionTable = std::vector<Option<Target>>;

/// Every option of the table that is given, in the table's order. Throws InputError.
template <class Target>
void read_all(const OptionTable<Target>& table, const std::string& prefix, Target& target) {
  for (const Option<Target>& option : table) {
    option.read(prefix, target);
  }
}

}  // namespace concord
