#pragma once

#include <functional>
#include <memory>
#include <string>

#include "whole_fmu/whole_model.hpp"

namespace concord {

/// What functions of FMI 2 and 3 return, which have the same numbers.
enum class WholeStatus : int { ok, warning, discard, error };

/// What an importer holds.
struct WholeInstance {
  using Tell = std::function<void(WholeStatus, const char* category, const std::string& text)>;
  Tell tell;
  std::unique_ptr<WholeModel> model = nullptr;
};

/// `work(model)` of the importer's instance; what goes wrong is told in words, with the function's
/// name. Instances take turns: PETSc knows one thread at a time.
int called(void* instance, const char* function, const std::function<void(WholeModel&)>& work);

/// A new instance, or null; what is wrong has been told. `find_resources` gives their folder.
WholeInstance* new_instance(WholeInstance::Tell tell, const char* function, const char* token,
                            const std::function<std::filesystem::path()>& find_resources,
                            EventUse events = {});

void delete_instance(void* instance);

/// A state that the importer holds: new where `*state` is null, else in the place of that.
void save(WholeModel& model, void** state);
/// Throws InputError for none.
const WholeState& state_in(const void* state);
void free_state(void** state);
void serialize(const WholeModel& model, const void* state, void* bytes, std::size_t size);
/// A new one, whatever `*state` is.
void deserialize(const WholeModel& model, const void* bytes, std::size_t size, void** state);

/// Throws InputError: this FMU does not offer it.
[[noreturn]] void refuse(const std::string& what);

}  // namespace concord
