#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "concord/api.hpp"
#include "concord/archive.hpp"
#include "concord/errors.hpp"
#include "concord/ode_model.hpp"

namespace concord CONCORD_API {

/// A parameter that is missing or has a value of the wrong kind. `location()` is where the value
/// stands in the model file, or empty.
class ParameterError : public InputError {
 public:
  ParameterError(const std::string& message, std::string location)
      : InputError(message), location_(std::move(location)) {}
  const std::string& location() const { return location_; }

 private:
  std::string location_;
};

/// The named values of `parameters:` in the model file, as a subsystem in C++ receives them.
///
/// Each getter comes without default (the parameter must be given) and with one. They throw
/// ParameterError for a value of another kind. Concord reports parameters that the model file gives
/// and no getter asked for as an error, so ask for everything in the constructor.
class Parameters {
 public:
  double number(const std::string& name) const;
  double number(const std::string& name, double fallback) const;
  std::int64_t integer(const std::string& name) const;
  std::int64_t integer(const std::string& name, std::int64_t fallback) const;
  bool flag(const std::string& name) const;  ///< true or false
  bool flag(const std::string& name, bool fallback) const;
  std::string text(const std::string& name) const;
  std::string text(const std::string& name, const std::string& fallback) const;

  /// Whether the parameter is given; counts as having asked for it.
  bool has(const std::string& name) const;

  Parameters& set(const std::string& name, double value);
  Parameters& set(const std::string& name, bool value);
  Parameters& set(const std::string& name, const std::string& value);
  Parameters& set(const std::string& name, const char* value);
  template <class Integer>
  requires(std::is_integral_v<Integer> &&
           !std::is_same_v<Integer, bool>) Parameters& set(const std::string& name, Integer value) {
    return set_written(name, std::to_string(value), false, {});
  }

  /// A value as it is written in a file: `quoted` makes it a text. `location` is for messages.
  Parameters& set_written(const std::string& name, const std::string& value, bool quoted,
                          const std::string& location);

  /// Throws ParameterError if a parameter was given that no getter has asked for.
  void check_all_asked() const;

  /// The values, as they were written.
  void io(Archive& archive);

 private:
  struct Value {
    std::string written;
    bool quoted = false;
    std::string location;

    void io(Archive& archive) { CONCORD_MEMBERS(archive, written, quoted, location); }
  };
  const Value* find(const std::string& name) const;
  const Value& get(const std::string& name) const;

  std::map<std::string, Value> values_;
  mutable std::set<std::string> asked_;
};

/// Makes a subsystem from its parameters.
using SubsystemFactory = std::unique_ptr<OdeModel> (*)(const Parameters&);

/// Adds a subsystem type to the registry; CONCORD_REGISTER_SUBSYSTEM calls it.
bool register_subsystem(const char* type, SubsystemFactory factory);

/// Names of the types that are compiled into the program or come from the libraries loaded so far,
/// sorted.
std::vector<std::string> registered_subsystems();

namespace registry_detail {
template <class Model>
std::unique_ptr<OdeModel> make(const Parameters& parameters) {
  return std::make_unique<Model>(parameters);
}
}  // namespace registry_detail

}  // namespace CONCORD_API

#define CONCORD_JOIN_AGAIN(a, b) a##b
#define CONCORD_JOIN(a, b) CONCORD_JOIN_AGAIN(a, b)

/// At namespace scope in a source file: makes `native: {type: wing}` in a model file mean `Class`,
/// which derives from OdeModel and is constructible from const concord::Parameters&.
///   CONCORD_REGISTER_SUBSYSTEM("wing", Wing)
#define CONCORD_REGISTER_SUBSYSTEM(type, ...)                                              \
  namespace {                                                                              \
  [[maybe_unused]] const bool CONCORD_JOIN(concord_registered_subsystem_, __LINE__) =      \
      ::concord::register_subsystem(type, &::concord::registry_detail::make<__VA_ARGS__>); \
  }
