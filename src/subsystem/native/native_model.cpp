#include "subsystem/native/native_model.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "subsystem/native/registry.hpp"
#include "subsystem/native/watched_model.hpp"
#include "support/exception_words.hpp"
#include "support/foreign_call.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

[[noreturn]] void fail(const NativeDescription& description, const std::string& location,
                       const std::string& message) {
  throw InputError((location.empty() ? description.location : location) + ": subsystem '" +
                   description.subsystem + "': " + message);
}

std::string path_to_open(const NativeDescription& description) {
  const std::filesystem::path beside_model = description.folder / description.library;
  std::error_code ignored;
  const bool bare = description.library.find('/') == std::string::npos;
  if (bare && !std::filesystem::exists(beside_model, ignored)) {
    return description.library;
  }
  const std::filesystem::path absolute = std::filesystem::absolute(beside_model, ignored);
  return absolute.string();
}

/// A message about code that ends here names the subsystem.
ForeignPlace place_of(const NativeDescription& description) {
  return {"the C++ code", description.subsystem.c_str(), description.library.c_str()};
}

LibraryHandle open_library(const NativeDescription& description) {
  const std::size_t first = all_registered_subsystems().size();
  const ForeignPlace place = place_of(description);
  const ForeignCall running(place, "loading the library");
  void* library = dlopen(path_to_open(description).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    fail(description, description.library_location,
         "cannot open the library " + in_quotes(description.library) + ": " + dlerror() +
             "; its path is relative to the model file");
  }
  assign_registrations(first, library);
  return library;
}

std::vector<RegisteredSubsystem> types_of(LibraryHandle library) {
  std::vector<RegisteredSubsystem> result;
  for (const RegisteredSubsystem& entry : all_registered_subsystems()) {
    if (entry.library == library) {
      result.push_back(entry);
    }
  }
  return result;
}

SubsystemFactory choose(const NativeDescription& description,
                        const std::vector<RegisteredSubsystem>& candidates,
                        const std::string& origin) {
  std::set<std::string> types;
  SubsystemFactory factory = nullptr;
  for (const RegisteredSubsystem& entry : candidates) {
    if (entry.type == description.type && factory != nullptr) {
      fail(description, description.type_location,
           "the type '" + entry.type + "' is registered twice in " + origin + "; rename one");
    }
    factory = entry.type == description.type ? entry.factory : factory;
    types.insert(entry.type);
  }
  if (factory == nullptr) {
    const std::vector<std::string> names(types.begin(), types.end());
    fail(description, description.type_location,
         "there is no type " + in_quotes(description.type) + " in " + origin + "; " +
             known("types", description.type, names) +
             (description.library.empty() ? "; for a type from a shared library, give library:"
                                          : ""));
  }
  return factory;
}

SubsystemFactory find_factory(const NativeDescription& description) {
  if (description.library.empty()) {
    return choose(description, types_of(nullptr), "the program");
  }
  std::vector<RegisteredSubsystem> types = types_of(open_library(description));
  // A library that the program itself links has registered its types before main.
  return choose(description, types.empty() ? types_of(nullptr) : types,
                "the library " + in_quotes(description.library));
}

template <class Variable>
void check_names(const NativeDescription& description, const SharedList<Variable>& variables,
                 const std::string& role) {
  std::set<std::string> seen;
  for (const Variable& variable : variables) {
    if (!is_name(variable.name)) {
      fail(description, {},
           "the type '" + description.type + "' has an " + role + " with the name " +
               in_quotes(variable.name) + "; use letters, digits and _, not starting with a digit");
    }
    if (!seen.insert(variable.name).second) {
      fail(description, {},
           "the type '" + description.type + "' has two " + role + "s '" + variable.name + "'");
    }
  }
}

void check_start(const NativeDescription& description, const std::string& name, double value) {
  if (!std::isfinite(value)) {
    fail(description, {},
         "the type '" + description.type + "' gives '" + name + "' the start value " +
             std::to_string(value) + "; it must be finite");
  }
}

void check_interface(const NativeDescription& description, const OdeInterface& interface) {
  check_names(description, interface.inputs, "input");
  check_names(description, interface.states, "state");
  check_names(description, interface.outputs, "output");
  for (const InputVariable& input : interface.inputs) {
    check_start(description, input.name, input.start.value_or(0.0));
  }
  for (const StateVariable& state : interface.states) {
    check_start(description, state.name, state.start);
  }
  const SharedList<Feedthrough> none;
  for (const auto& [output, input] : interface.feedthrough ? *interface.feedthrough : none) {
    if (output >= interface.outputs.size() || input >= interface.inputs.size()) {
      fail(description, {},
           "the type '" + description.type + "' lists the feedthrough of output " +
               std::to_string(output) + " from input " + std::to_string(input) + ", but has " +
               std::to_string(interface.outputs.size()) + " outputs and " +
               std::to_string(interface.inputs.size()) + " inputs (counted from 0)");
    }
  }
}

std::unique_ptr<OdeModel> construct(const NativeDescription& description,
                                    SubsystemFactory factory) {
  const Parameters parameters = description.parameters;
  std::unique_ptr<OdeModel> model;
  {
    const ForeignPlace place = place_of(description);
    const ForeignCall running(place, "the constructor");
    model =
        watched(factory(parameters), "the C++ code", description.subsystem, description.library);
  }
  parameters.check_all_asked();
  check_interface(description, model->interface());
  return model;
}

}  // namespace

std::unique_ptr<OdeModel> make_native_model(const NativeDescription& description) {
  watch_foreign_code();
  const SubsystemFactory factory = find_factory(description);
  const std::string reason = "the type '" + description.type + "' cannot be constructed: ";
  try {
    return construct(description, factory);
  } catch (const ParameterError& error) {
    fail(description, error.location(), error.what());
  } catch (const InputError& error) {
    const std::string text = error.what();
    if (text.starts_with(description.location + ": ")) {
      throw;
    }
    fail(description, {}, reason + text);
  } catch (...) {
    fail(description, {}, reason + in_words(std::current_exception()));
  }
}

std::filesystem::path library_file(const NativeDescription& description) {
  const std::filesystem::path path = path_to_open(description);
  if (path.is_absolute()) {
    return (description.folder / description.library).lexically_normal();
  }
  const std::unique_ptr<void, int (*)(void*)> opened(dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD),
                                                     &dlclose);
  const link_map* found = nullptr;
  if (!opened || dlinfo(opened.get(), RTLD_DI_LINKMAP, &found) != 0) {
    return {};
  }
  return found->l_name;
}

}  // namespace concord
