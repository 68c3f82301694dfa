// The faulty FMU, FMI 3.0: co-simulation (with event mode and intermediate update) and model
// exchange.
#include "faulty_model.hpp"

using namespace faults;

namespace {

using Update = void (*)(void* environment, double time, bool set_requested, bool get_allowed,
                        bool finished, bool can_return_early, bool* return_requested,
                        double* return_time);

struct Model3 : Model {
  Update update = nullptr;
  void* environment = nullptr;
  bool asking = false;
};

/// Parameters come later: what fails here is named by the environment.
Model3* make() {
  if (const char* name = std::getenv("FAULT_IN_INSTANTIATE")) commit(name);
  return new Model3;
}

/// Asks for the inputs in the middle of a step, as an FMU with an integrator of its own.
void ask(Model3& model, double time) {
  bool return_requested = false;
  double return_time = 0.0;
  model.asking = true;
  model.update(model.environment, time, true, false, false, false, &return_requested, &return_time);
  model.asking = false;
}

}  // namespace

extern "C" {

const char* fmi3GetVersion() { return "3.0"; }

void* fmi3InstantiateModelExchange(const char*, const char*, const char*, bool, bool, void*,
                                   void*) {
  return static_cast<Model*>(make());
}
void* fmi3InstantiateCoSimulation(const char*, const char*, const char*, bool, bool, bool, bool,
                                  const unsigned*, std::size_t, void* environment, void*,
                                  Update update) {
  Model3* model = make();
  model->update = update;
  model->environment = environment;
  return static_cast<Model*>(model);
}
void fmi3FreeInstance(void* m) {
  at(m, "fmi3FreeInstance");
  delete static_cast<Model3*>(static_cast<Model*>(m));
}
Status fmi3EnterInitializationMode(void* m, bool, double, double start, bool, double) {
  MODEL;
  model.t = start;
  AT("fmi3EnterInitializationMode");
  return ok;
}
Status fmi3ExitInitializationMode(void* m) {
  AT("fmi3ExitInitializationMode");
  return ok;
}
Status fmi3Terminate(void* m) {
  AT("fmi3Terminate");
  return ok;
}

Status fmi3GetFloat64(void* m, const unsigned* references, std::size_t count, double* values,
                      std::size_t) {
  MODEL;
  AT("fmi3GetFloat64");
  for (std::size_t i = 0; i < count; ++i) values[i] = value(model, references[i]);
  if (gives_nan(model, "fmi3GetFloat64")) values[0] = std::nan("");
  return ok;
}
Status fmi3SetFloat64(void* m, const unsigned* references, std::size_t count, const double* values,
                      std::size_t) {
  MODEL;
  for (std::size_t i = 0; i < count; ++i) set_value(model, references[i], values[i]);
  AT(static_cast<Model3&>(model).asking ? "fmi3IntermediateUpdate" : "fmi3SetFloat64");
  return ok;
}
Status fmi3GetInt32(void* m, const unsigned*, std::size_t, int* values, std::size_t) {
  MODEL;
  *values = model.rank;
  return ok;
}
Status fmi3SetInt32(void* m, const unsigned*, std::size_t, const int* values, std::size_t) {
  MODEL;
  model.rank = *values;
  return ok;
}
Status fmi3SetString(void* m, const unsigned* references, std::size_t count,
                     const char* const* values, std::size_t) {
  MODEL;
  for (std::size_t i = 0; i < count; ++i) set_text(model, references[i], values[i]);
  return ok;
}

Status fmi3GetFMUState(void* m, void** state) {
  MODEL;
  AT("fmi3GetFMUState");
  return save(model, state);
}
Status fmi3SetFMUState(void* m, void* state) {
  MODEL;
  AT("fmi3SetFMUState");
  model = *static_cast<Model*>(state);
  return ok;
}
Status fmi3FreeFMUState(void* m, void** state) {
  AT("fmi3FreeFMUState");
  delete static_cast<Model*>(*state);
  *state = nullptr;
  return ok;
}
Status fmi3SerializedFMUStateSize(void*, void*, std::size_t* size) {
  *size = serialized_size;
  return ok;
}
Status fmi3SerializeFMUState(void* m, void* state, char* bytes, std::size_t) {
  AT("fmi3SerializeFMUState");
  return serialize(state, bytes);
}
Status fmi3DeserializeFMUState(void* m, const char* bytes, std::size_t, void** state) {
  MODEL;
  AT("fmi3DeserializeFMUState");
  return deserialize(model, bytes, state);
}

Status fmi3GetDirectionalDerivative(void* m, const unsigned* unknowns, std::size_t n_unknowns,
                                    const unsigned* knowns, std::size_t n_knowns,
                                    const double* seed, std::size_t, double* result, std::size_t) {
  MODEL;
  AT("fmi3GetDirectionalDerivative");
  directional({unknowns, n_unknowns}, {knowns, n_knowns}, seed, result);
  if (gives_nan(model, "fmi3GetDirectionalDerivative")) result[0] = std::nan("");
  return ok;
}

Status fmi3GetOutputDerivatives(void* m, const unsigned*, std::size_t count, const int*,
                                double* values, std::size_t) {
  MODEL;
  AT("fmi3GetOutputDerivatives");
  for (std::size_t i = 0; i < count; ++i) values[i] = model.x[1];
  return ok;
}
Status fmi3DoStep(void* m, double t, double size, bool, bool* event, bool* terminate, bool* early,
                  double* last) {
  MODEL;
  *event = *terminate = *early = false;
  *last = t + size;
  AT("fmi3DoStep");
  auto& own = static_cast<Model3&>(model);
  if (own.update != nullptr) ask(own, t + size / 2);
  integrate(model, size);
  if (gives_nan(model, "fmi3DoStep")) model.x[0] = std::nan("");
  return ok;
}
Status fmi3EnterStepMode(void* m) {
  AT("fmi3EnterStepMode");
  return ok;
}

Status fmi3EnterEventMode(void* m) {
  AT("fmi3EnterEventMode");
  return ok;
}
Status fmi3UpdateDiscreteStates(void* m, bool* again, bool* terminate, bool* nominals, bool* values,
                                bool* has_next, double*) {
  *again = *terminate = *nominals = *values = *has_next = false;
  AT("fmi3UpdateDiscreteStates");
  return ok;
}
Status fmi3EnterContinuousTimeMode(void* m) {
  AT("fmi3EnterContinuousTimeMode");
  return ok;
}
Status fmi3CompletedIntegratorStep(void* m, bool, bool* event, bool* terminate) {
  *event = *terminate = false;
  AT("fmi3CompletedIntegratorStep");
  return ok;
}
Status fmi3SetTime(void* m, double time) {
  MODEL;
  model.t = time;
  AT("fmi3SetTime");
  return ok;
}
Status fmi3SetContinuousStates(void* m, const double* values, std::size_t) {
  MODEL;
  AT("fmi3SetContinuousStates");
  std::memcpy(model.x, values, sizeof model.x);
  return ok;
}
Status fmi3GetContinuousStates(void* m, double* values, std::size_t) {
  MODEL;
  AT("fmi3GetContinuousStates");
  std::memcpy(values, model.x, sizeof model.x);
  return ok;
}
Status fmi3GetContinuousStateDerivatives(void* m, double* values, std::size_t) {
  MODEL;
  AT("fmi3GetContinuousStateDerivatives");
  for (int i = 0; i < 2; ++i) values[i] = derivative(model.x, model.u[0], i);
  if (gives_nan(model, "fmi3GetContinuousStateDerivatives")) values[0] = std::nan("");
  return ok;
}
/// Never changes its sign.
Status fmi3GetEventIndicators(void* m, double* values, std::size_t) {
  AT("fmi3GetEventIndicators");
  values[0] = 1.0;
  return ok;
}
}
