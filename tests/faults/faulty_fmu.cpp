// The faulty FMU, FMI 2.0: co-simulation and model exchange.
#include "faulty_model.hpp"

using namespace faults;

namespace {

/// The beginning of fmi2CallbackFunctions.
struct Callbacks {
  void (*logger)(void* environment, const char* instance, int status, const char* category,
                 const char* message, ...);
};
struct EventInfo {
  int again, terminate, nominals_changed, states_changed, next_time_defined;
  double next_time;
};

/// As tools do that keep a pointer of their own.
void log_oddly(const Callbacks& callbacks) {
  char nobody = 0;
  for (void* environment :
       {reinterpret_cast<void*>(1), static_cast<void*>(nullptr), static_cast<void*>(&nobody)}) {
    callbacks.logger(environment, "it", warning, "odd", "an odd %s", "message");
  }
}

}  // namespace

extern "C" {

const char* fmi2GetTypesPlatform() { return "default"; }
const char* fmi2GetVersion() { return "2.0"; }

/// SUNDIALS brought along, as it were, of another version.
int brought_along = 0;
void* CVodeCreate(int, void*) { return &brought_along; }
void* N_VNew_Serial(long, void*) { return &brought_along; }

/// Parameters come later: what fails here is named by the environment. Without what was brought
/// along there is no instance, and, where that is asked for, a second one in a process waits for
/// ever.
void* fmi2Instantiate(const char*, int, const char*, const char*, const Callbacks* callbacks, int,
                      int) {
  static int instances = 0;
  if (const char* name = std::getenv("FAULT_IN_INSTANTIATE")) faults::commit(name);
  if (std::getenv("ONCE_PER_PROCESS") != nullptr && instances++ > 0) pause();
  if (CVodeCreate(1, nullptr) != &brought_along || N_VNew_Serial(1, nullptr) != &brought_along) {
    return nullptr;
  }
  auto* model = new Model;
  model->log_oddly = [callbacks] { log_oddly(*callbacks); };
  return model;
}
void fmi2FreeInstance(void* m) {
  at(m, "fmi2FreeInstance");
  delete static_cast<Model*>(m);
}
Status fmi2SetDebugLogging(void*, int, std::size_t, const char* const*) { return ok; }
Status fmi2SetupExperiment(void* m, int, double, double start, int, double) {
  MODEL;
  model.t = start;
  AT("fmi2SetupExperiment");
  return ok;
}
Status fmi2EnterInitializationMode(void* m) {
  AT("fmi2EnterInitializationMode");
  return ok;
}
Status fmi2ExitInitializationMode(void* m) {
  AT("fmi2ExitInitializationMode");
  return ok;
}
Status fmi2Terminate(void* m) {
  AT("fmi2Terminate");
  return ok;
}
Status fmi2Reset(void*) { return ok; }

Status fmi2GetReal(void* m, const unsigned* references, std::size_t count, double* values) {
  MODEL;
  AT("fmi2GetReal");
  for (std::size_t i = 0; i < count; ++i) values[i] = value(model, references[i]);
  if (gives_nan(model, "fmi2GetReal")) values[0] = std::nan("");
  return ok;
}
Status fmi2SetReal(void* m, const unsigned* references, std::size_t count, const double* values) {
  MODEL;
  for (std::size_t i = 0; i < count; ++i) set_value(model, references[i], values[i]);
  AT("fmi2SetReal");
  return ok;
}
Status fmi2GetInteger(void* m, const unsigned*, std::size_t, int* values) {
  MODEL;
  *values = model.rank;
  return ok;
}
Status fmi2SetInteger(void* m, const unsigned*, std::size_t, const int* values) {
  MODEL;
  model.rank = *values;
  return ok;
}
Status fmi2SetString(void* m, const unsigned* references, std::size_t count,
                     const char* const* values) {
  MODEL;
  for (std::size_t i = 0; i < count; ++i) set_text(model, references[i], values[i]);
  return ok;
}

Status fmi2GetFMUstate(void* m, void** state) {
  MODEL;
  AT("fmi2GetFMUstate");
  return save(model, state);
}
Status fmi2SetFMUstate(void* m, void* state) {
  MODEL;
  AT("fmi2SetFMUstate");
  model = *static_cast<Model*>(state);
  return ok;
}
Status fmi2FreeFMUstate(void* m, void** state) {
  AT("fmi2FreeFMUstate");
  delete static_cast<Model*>(*state);
  *state = nullptr;
  return ok;
}
Status fmi2SerializedFMUstateSize(void*, void*, std::size_t* size) {
  *size = serialized_size;
  return ok;
}
Status fmi2SerializeFMUstate(void* m, void* state, char* bytes, std::size_t) {
  AT("fmi2SerializeFMUstate");
  return serialize(state, bytes);
}
Status fmi2DeSerializeFMUstate(void* m, const char* bytes, std::size_t, void** state) {
  MODEL;
  AT("fmi2DeSerializeFMUstate");
  return deserialize(model, bytes, state);
}

Status fmi2GetDirectionalDerivative(void* m, const unsigned* unknowns, std::size_t n_unknowns,
                                    const unsigned* knowns, std::size_t n_knowns,
                                    const double* seed, double* result) {
  MODEL;
  AT("fmi2GetDirectionalDerivative");
  directional({unknowns, n_unknowns}, {knowns, n_knowns}, seed, result);
  if (gives_nan(model, "fmi2GetDirectionalDerivative")) result[0] = std::nan("");
  return ok;
}

Status fmi2SetRealInputDerivatives(void* m, const unsigned*, std::size_t count, const int* orders,
                                   const double* values) {
  MODEL;
  AT("fmi2SetRealInputDerivatives");
  for (std::size_t i = 0; i < count; ++i) model.u[orders[i]] = values[i];
  return ok;
}
Status fmi2GetRealOutputDerivatives(void* m, const unsigned*, std::size_t count, const int*,
                                    double* values) {
  MODEL;
  AT("fmi2GetRealOutputDerivatives");
  for (std::size_t i = 0; i < count; ++i) values[i] = model.x[1];
  if (gives_nan(model, "fmi2GetRealOutputDerivatives")) values[0] = std::nan("");
  return ok;
}
Status fmi2DoStep(void* m, double, double size, int) {
  MODEL;
  AT("fmi2DoStep");
  integrate(model, size);
  if (gives_nan(model, "fmi2DoStep")) model.x[0] = std::nan("");
  return ok;
}
Status fmi2CancelStep(void*) { return error; }
Status fmi2GetStatus(void*, int, Status*) { return discard; }
Status fmi2GetRealStatus(void* m, int, double* time) {
  MODEL;
  *time = model.t;
  return ok;
}
Status fmi2GetBooleanStatus(void*, int, int* value) {
  *value = 0;
  return ok;
}

Status fmi2EnterEventMode(void* m) {
  AT("fmi2EnterEventMode");
  return ok;
}
Status fmi2NewDiscreteStates(void* m, EventInfo* info) {
  AT("fmi2NewDiscreteStates");
  *info = {0, 0, 0, 0, 0, 0.0};
  return ok;
}
Status fmi2EnterContinuousTimeMode(void* m) {
  AT("fmi2EnterContinuousTimeMode");
  return ok;
}
Status fmi2CompletedIntegratorStep(void* m, int, int* event, int* terminate) {
  *event = *terminate = 0;
  AT("fmi2CompletedIntegratorStep");
  return ok;
}
Status fmi2SetTime(void* m, double time) {
  MODEL;
  model.t = time;
  AT("fmi2SetTime");
  return ok;
}
Status fmi2SetContinuousStates(void* m, const double* values, std::size_t) {
  MODEL;
  AT("fmi2SetContinuousStates");
  std::memcpy(model.x, values, sizeof model.x);
  return ok;
}
Status fmi2GetDerivatives(void* m, double* values, std::size_t) {
  MODEL;
  AT("fmi2GetDerivatives");
  for (int i = 0; i < 2; ++i) values[i] = derivative(model.x, model.u[0], i);
  if (gives_nan(model, "fmi2GetDerivatives")) values[0] = std::nan("");
  return ok;
}
Status fmi2GetContinuousStates(void* m, double* values, std::size_t) {
  MODEL;
  AT("fmi2GetContinuousStates");
  std::memcpy(values, model.x, sizeof model.x);
  return ok;
}
Status fmi2GetNominalsOfContinuousStates(void*, double* values, std::size_t) {
  values[0] = values[1] = 1.0;
  return ok;
}
Status fmi2GetEventIndicators(void*, double*, std::size_t) { return ok; }
}
