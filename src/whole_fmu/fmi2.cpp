#include "subsystem/fmu/binary/fmi2.hpp"

#include <cstring>
#include <string>

#include "concord/errors.hpp"
#include "files/uri.hpp"
#include "whole_fmu/instance.hpp"

// The functions of FMI 2.0.4 for co-simulation, sections 2.1 and 4.2.

namespace concord {
namespace {

using fmi2::Boolean;
using fmi2::Component;
using fmi2::Integer;
using fmi2::Real;
using fmi2::Reference;
using fmi2::String;
using State = void*;

/// "file:///tmp/x/resources", "file:/tmp/x/resources".
std::filesystem::path folder_of(String uri) {
  const std::string text = uri == nullptr ? "" : uri;
  if (!text.starts_with("file:/"))
    throw InputError("the resources' location '" + text + "' is no URI that begins with file:/");
  std::string path = text.substr(std::strlen("file:"));
  if (path.starts_with("//")) path = path.substr(path.find('/', 2) % path.size());
  return path_of(path);
}

void set_no(std::size_t count) {
  if (count != 0) refuse("variables other than Real");
}

int status_of_step(Component c, const char* function, const std::function<bool(WholeModel&)>& ask) {
  bool known = false;
  const int status = called(c, function, [&](WholeModel& model) { known = ask(model); });
  return status == fmi2::ok && !known ? int{fmi2::discard} : status;
}

}  // namespace
}  // namespace concord

#define FMI2_FUNCTION(type, name) extern "C" __attribute__((visibility("default"))) type name
// NOLINTBEGIN(readability-identifier-naming): the standard's names
using namespace concord;

FMI2_FUNCTION(String, fmi2GetTypesPlatform)() { return "default"; }
FMI2_FUNCTION(String, fmi2GetVersion)() { return "2.0"; }

FMI2_FUNCTION(int, fmi2SetDebugLogging)(Component, Boolean, std::size_t, const String*) {
  return fmi2::ok;  // there are only errors and warnings to tell
}

FMI2_FUNCTION(Component, fmi2Instantiate)
(String name, int type, String guid, String resources, const fmi2::Callbacks* callbacks, Boolean,
 Boolean) {
  const std::string who = name == nullptr ? "" : name;
  const fmi2::Callbacks calls = callbacks == nullptr ? fmi2::Callbacks{} : *callbacks;
  const auto tell = [=](WholeStatus status, const char* category, const std::string& text) {
    if (calls.logger != nullptr)
      calls.logger(calls.environment, who.c_str(), static_cast<fmi2::Status>(status), category,
                   "%s", text.c_str());
  };
  return new_instance(tell, "fmi2Instantiate", guid, [&] {
    if (type != fmi2::co_simulation) refuse("model exchange");
    return folder_of(resources);
  });
}

FMI2_FUNCTION(void, fmi2FreeInstance)(Component c) { delete_instance(c); }

FMI2_FUNCTION(int, fmi2SetupExperiment)
(Component c, Boolean tolerance_defined, Real tolerance, Real start, Boolean stop_defined,
 Real stop) {
  return called(c, "fmi2SetupExperiment", [&](WholeModel& model) {
    WholeExperiment experiment{start, {}, {}};
    if (stop_defined != 0) experiment.stop = stop;
    if (tolerance_defined != 0 && tolerance > 0.0) experiment.accuracy = tolerance;
    model.set_up(experiment);
  });
}

FMI2_FUNCTION(int, fmi2EnterInitializationMode)(Component c) {
  return called(c, "fmi2EnterInitializationMode",
                [](WholeModel& model) { model.begin_initialization(); });
}

FMI2_FUNCTION(int, fmi2ExitInitializationMode)(Component c) {
  return called(c, "fmi2ExitInitializationMode",
                [](WholeModel& model) { model.end_initialization(); });
}

FMI2_FUNCTION(int, fmi2Terminate)(Component c) {
  return called(c, "fmi2Terminate", [](WholeModel& model) { model.terminate(); });
}

FMI2_FUNCTION(int, fmi2Reset)(Component c) {
  return called(c, "fmi2Reset", [](WholeModel& model) { model.reset(); });
}

FMI2_FUNCTION(int, fmi2GetReal)
(Component c, const Reference* references, std::size_t count, Real* values) {
  return called(c, "fmi2GetReal", [&](WholeModel& model) {
    model.get({references, count}, values);
  });
}

FMI2_FUNCTION(int, fmi2SetReal)
(Component c, const Reference* references, std::size_t count, const Real* values) {
  return called(c, "fmi2SetReal", [&](WholeModel& model) {
    model.set({references, count}, values);
  });
}

#define FMI2_NO_VARIABLES(name, type)                                                 \
  FMI2_FUNCTION(int, name)(Component c, const Reference*, std::size_t count, type*) { \
    return called(c, #name, [&](WholeModel&) { set_no(count); });                     \
  }
FMI2_NO_VARIABLES(fmi2GetInteger, Integer)
FMI2_NO_VARIABLES(fmi2GetBoolean, Boolean)
FMI2_NO_VARIABLES(fmi2GetString, String)
FMI2_NO_VARIABLES(fmi2SetInteger, const Integer)
FMI2_NO_VARIABLES(fmi2SetBoolean, const Boolean)
FMI2_NO_VARIABLES(fmi2SetString, const String)

FMI2_FUNCTION(int, fmi2GetFMUstate)(Component c, State* state) {
  return called(c, "fmi2GetFMUstate", [&](WholeModel& model) { save(model, state); });
}

FMI2_FUNCTION(int, fmi2SetFMUstate)(Component c, State state) {
  return called(c, "fmi2SetFMUstate", [&](WholeModel& model) { model.restore(state_in(state)); });
}

FMI2_FUNCTION(int, fmi2FreeFMUstate)(Component c, State* state) {
  return called(c, "fmi2FreeFMUstate", [&](WholeModel&) { free_state(state); });
}

FMI2_FUNCTION(int, fmi2SerializedFMUstateSize)(Component c, State state, std::size_t* size) {
  return called(c, "fmi2SerializedFMUstateSize",
                [&](WholeModel& model) { *size = model.bytes_of(state_in(state)).size(); });
}

FMI2_FUNCTION(int, fmi2SerializeFMUstate)
(Component c, State state, char* bytes, std::size_t size) {
  return called(c, "fmi2SerializeFMUstate",
                [&](WholeModel& model) { serialize(model, state, bytes, size); });
}

FMI2_FUNCTION(int, fmi2DeSerializeFMUstate)
(Component c, const char* bytes, std::size_t size, State* state) {
  return called(c, "fmi2DeSerializeFMUstate",
                [&](WholeModel& model) { deserialize(model, bytes, size, state); });
}

FMI2_FUNCTION(int, fmi2GetDirectionalDerivative)
(Component c, const Reference* unknowns, std::size_t n_unknowns, const Reference* knowns,
 std::size_t n_knowns, const Real* seed, Real* result) {
  return called(c, "fmi2GetDirectionalDerivative", [&](WholeModel& model) {
    model.derive({unknowns, n_unknowns}, {knowns, n_knowns}, seed, result);
  });
}

FMI2_FUNCTION(int, fmi2SetRealInputDerivatives)
(Component c, const Reference*, std::size_t count, const Integer*, const Real*) {
  return called(c, "fmi2SetRealInputDerivatives", [&](WholeModel&) {
    if (count != 0) refuse("derivatives of inputs, which are held");
  });
}

FMI2_FUNCTION(int, fmi2GetRealOutputDerivatives)
(Component c, const Reference*, std::size_t count, const Integer*, Real*) {
  return called(c, "fmi2GetRealOutputDerivatives", [&](WholeModel&) {
    if (count != 0) refuse("derivatives of outputs");
  });
}

FMI2_FUNCTION(int, fmi2DoStep)(Component c, Real time, Real size, Boolean) {
  return called(c, "fmi2DoStep", [&](WholeModel& model) { model.step(time, size); });
}

FMI2_FUNCTION(int, fmi2CancelStep)(Component c) {
  return called(c, "fmi2CancelStep", [](WholeModel&) { refuse("steps that go on meanwhile"); });
}

FMI2_FUNCTION(int, fmi2GetStatus)(Component, int, int*) { return fmi2::discard; }
FMI2_FUNCTION(int, fmi2GetIntegerStatus)(Component, int, Integer*) { return fmi2::discard; }
FMI2_FUNCTION(int, fmi2GetStringStatus)(Component, int, String*) { return fmi2::discard; }

FMI2_FUNCTION(int, fmi2GetRealStatus)(Component c, int kind, Real* value) {
  return status_of_step(c, "fmi2GetRealStatus", [&](WholeModel& model) {
    if (kind == fmi2::last_successful_time) *value = model.time();
    return kind == fmi2::last_successful_time;
  });
}

FMI2_FUNCTION(int, fmi2GetBooleanStatus)(Component c, int kind, Boolean* value) {
  return status_of_step(c, "fmi2GetBooleanStatus", [&](WholeModel& model) {
    if (kind == fmi2::terminated) *value = model.phase() == WholePhase::terminated ? 1 : 0;
    return kind == fmi2::terminated;
  });
}
// NOLINTEND(readability-identifier-naming)
