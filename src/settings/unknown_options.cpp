#include "settings/unknown_options.hpp"

#include <algorithm>

#include "concord/errors.hpp"
#include "settings/option_table.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// "subsystem_left_rtol" -> "subsystem_rtol" where `left` is a subsystem; else the name itself. Of
/// the subsystems `a` and `a_b`, the second is meant in subsystem_a_b_rtol.
std::string without_subsystem_name(const std::string& name, const Model& model) {
  std::string rest = name;
  for (const auto& entry : model.subsystems) {
    const std::string prefix = std::string(subsystem_prefix) + entry.description.name + "_";
    if (options::begins_with(name, prefix) &&
        subsystem_prefix.size() + name.size() - prefix.size() < rest.size()) {
      rest = std::string(subsystem_prefix) + name.substr(prefix.size());
    }
  }
  return rest;
}

/// The option that is most like the name, by what follows the prefix of all of them.
std::optional<std::string> similar_option(const std::string& name, const std::string& prefix,
                                          const std::vector<std::string>& options) {
  std::vector<std::string> ends;
  for (const std::string& option : options) ends.push_back(option.substr(1 + prefix.size()));
  const auto similar = nearest(name.substr(prefix.size()), ends);
  return similar ? std::optional("-" + prefix + *similar) : std::nullopt;
}

[[noreturn]] void refuse_option(const std::string& name, const std::string& prefix,
                                const Model& model) {
  std::vector<std::string> allowed;
  for (const auto& option : option_table()) {
    if (option.name.starts_with(prefix)) {
      allowed.push_back("-" + option.name);
    }
  }
  std::vector<std::string> candidates = allowed;
  std::vector<std::string> subsystems;
  for (const auto& entry : model.subsystems) {
    subsystems.push_back(entry.description.name);
    for (std::size_t i = 0; prefix == subsystem_prefix && i < allowed.size(); ++i) {
      candidates.push_back("-" + prefix + subsystems.back() + "_" +
                           allowed[i].substr(1 + prefix.size()));
    }
  }
  const auto similar = similar_option(name, prefix, candidates);
  std::string message = "unknown option -" + name +
                        (similar ? "; did you mean " + *similar + "?" : ".") +
                        " Allowed: " + joined(allowed);
  if (prefix == subsystem_prefix) {
    message += "; for one subsystem -subsystem_<name>_...; " + known("subsystems", "", subsystems);
  }
  throw InputError(message);
}

}  // namespace

void refuse_unknown_options(const Model& model) {
  for (const std::string prefix : {"cosim_", "subsystem_"}) {
    for (const auto& name : options::given(prefix)) {
      const std::string generic = without_subsystem_name(name, model);
      const auto& table = option_table();
      if (std::none_of(table.begin(), table.end(), [&](const OptionSpec& option) {
            return option.name.size() == generic.size() &&
                   options::begins_with(generic, option.name);
          })) {
        refuse_option(name, prefix, model);
      }
    }
  }
}

/// -missiles_ is also the prefix of PETSc's objects in the estimators' linear system.
void refuse_unknown_missiles_options() {
  const std::string prefix = "missiles_";
  std::vector<std::string> known;
  for (const auto& option : option_table()) {
    if (option.name.starts_with(prefix)) {
      known.push_back("-" + option.name);
    }
  }
  for (const auto& name : options::given(prefix)) {
    const auto begins = [&](const char* part) { return options::begins_with(name, prefix + part); };
    const bool of_petsc = begins("ksp_") || begins("pc_") || begins("sub_") || begins("mat_");
    if (of_petsc || std::find(known.begin(), known.end(), "-" + name) != known.end()) {
      continue;
    }
    const auto similar = similar_option(name, prefix, known);
    throw InputError("unknown option -" + name +
                     (similar ? "; did you mean " + *similar + "?" : ".") +
                     " Allowed: " + joined(known) +
                     ", and PETSc's with the prefix: -missiles_ksp_..., -missiles_pc_...");
  }
}

}  // namespace concord
