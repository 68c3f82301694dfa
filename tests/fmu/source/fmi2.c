/* The FMI 2.0 interface of a test model: co-simulation and model exchange. */
#include "model.h"

typedef struct {
  void (*logger)(void*, const char*, int, const char*, const char*, ...);
  void* (*allocate)(size_t, size_t);
  void (*release)(void*);
  void (*finished)(void*, int);
  void* environment;
} Callbacks;
typedef struct {
  int again, terminate, nominals, values, has_next;
  double next;
} EventInfo;
typedef struct {
  State s;
  Callbacks call;
  char name[64];
  bool exchange, set_up;
  long calls[TALLIES];
} Instance;
enum { OK, WARNING, DISCARD, ERROR, FATALITY };

static bool refused(Instance* c, const char* function, const char* why) {
  if (!complain(function, why)) return false;
  c->call.logger(c->call.environment, c->name, ERROR, "error", "%s: %s", function, why);
  c->s.mode = FAILED;
  return true;
}
#define REQUIRE(why)                             \
  do {                                           \
    if (refused(c, __func__, why)) return ERROR; \
  } while (0)
#define REQUIRE_MODE(modes) REQUIRE(misuse(&c->s, modes))

const char* fmi2GetVersion(void) { return "2.0"; }
const char* fmi2GetTypesPlatform(void) { return "default"; }
void* fmi2Instantiate(const char* name, int type, const char* guid, const char* resources,
                      const Callbacks* call, int visible, int logging) {
  (void)visible, (void)logging;
  if (BEHAVIOUR == CRASHES) abort();
  if (BEHAVIOUR == REFUSES || strcmp(guid, "{test}") != 0 ||
      strncmp(resources, "file:///", 8) != 0) {
    call->logger(call->environment, name, ERROR, "error", "wrong %s", "guid or resources");
    return NULL;
  }
  Instance* c = calloc(1, sizeof *c);
  c->call = *call;
  snprintf(c->name, sizeof c->name, "%s", name);
  c->exchange = type == 0;
  c->s.mode = INSTANTIATED;
  c->s.event_time = -INFINITY;
  c->s.stop = INFINITY;
  model_start(&c->s);
  return c;
}
void fmi2FreeInstance(Instance* c) {
  write_calls(c->calls);
  free(c);
}
int fmi2SetupExperiment(Instance* c, int t, double tolerance, double start, int s, double stop) {
  (void)t, (void)tolerance;
  REQUIRE_MODE(INSTANTIATED);
  c->set_up = true;
  if (BEHAVIOUR == RESETS_IN_SETUP) model_start(&c->s);
  if (s) c->s.stop = stop;
  c->s.t = c->s.u_time = c->s.own_time = start;
  return OK;
}
int fmi2EnterInitializationMode(Instance* c) {
  REQUIRE_MODE(INSTANTIATED);
  REQUIRE(c->set_up ? NULL : "called before SetupExperiment");
  if (BEHAVIOUR == KEEPS_NOTHING) model_start(&c->s);
  return c->s.mode = INITIALIZING, OK;
}
int fmi2ExitInitializationMode(Instance* c) {
  REQUIRE_MODE(INITIALIZING);
  if (BEHAVIOUR == REFUSES_START) return c->s.mode = FAILED, ERROR;
  c->s.mode = c->exchange ? EVENT : STEP;
  if (!c->exchange) model_event(&c->s);
  return c->s.fed = false, OK;
}
int fmi2Terminate(Instance* c) {
  REQUIRE_MODE(EVENT | CONTINUOUS | STEP | OVER);
  return c->s.mode = OVER, OK;
}
int fmi2Reset(void* c) { return (void)c, OK; }
int fmi2SetDebugLogging(void* c, int on, size_t n, const char** list) {
  return (void)c, (void)on, (void)n, (void)list, OK;
}
#define ACCESS(Name, Type, types)                                               \
  int fmi2Get##Name(Instance* c, const unsigned* vr, size_t n, Type* v) {       \
    ++c->calls[GETS];                                                           \
    REQUIRE(misuse_of_get(&c->s));                                              \
    for (size_t i = 0; i < n; ++i) {                                            \
      REQUIRE(misuse_of_type(vr[i], types));                                    \
      v[i] = (Type)value_of(&c->s, vr[i]);                                      \
    }                                                                           \
    return OK;                                                                  \
  }                                                                             \
  int fmi2Set##Name(Instance* c, const unsigned* vr, size_t n, const Type* v) { \
    ++c->calls[SETS];                                                           \
    for (size_t i = 0; i < n; ++i) {                                            \
      REQUIRE(misuse_of_type(vr[i], types));                                    \
      REQUIRE(misuse_of_set(&c->s, vr[i]));                                     \
      REQUIRE(set_value(&c->s, vr[i], v[i]) ? "not to be set" : NULL);          \
    }                                                                           \
    return OK;                                                                  \
  }
ACCESS(Real, double, "rf")
ACCESS(Integer, int, "ie")
ACCESS(Boolean, int, "b")
int fmi2SetString(void* c, const unsigned* vr, size_t n, const char** v) {
  return (void)c, (void)vr, (void)n, (void)v, OK;
}
int fmi2GetFMUstate(Instance* c, void** state) {
  if (BEHAVIOUR == CRASHES_IN_SAVE) abort();
  if (BEHAVIOUR == RESETS_IN_SAVE && *state) model_start(&c->s);
  if (BEHAVIOUR == LOSES_STATE && c->s.t > 0.5) return c->s.mode = FAILED, ERROR;
  REQUIRE(c->s.mode == FAILED ? "called after an error" : NULL);
  if (!*state) *state = malloc(sizeof c->s);
  memcpy(*state, &c->s, sizeof c->s);
  return OK;
}
int fmi2SetFMUstate(Instance* c, void* state) {
  const State now = c->s;
  ++c->calls[RESTORES];
  if (BEHAVIOUR == NO_RESTORES) return ERROR;
  memcpy(&c->s, state, sizeof c->s);
  if (BEHAVIOUR == FORGETS) c->s.x[0] = now.x[0], c->s.count = now.count;
  return OK;
}
int fmi2FreeFMUstate(void* c, void** state) {
  (void)c;
  free(*state);
  *state = NULL;
  return OK;
}
int fmi2SerializedFMUstateSize(Instance* c, void* state, size_t* size) {
  return (void)state, *size = sizeof c->s, OK;
}
int fmi2SerializeFMUstate(Instance* c, void* state, char* bytes, size_t size) {
  return (void)c, memcpy(bytes, state, size), OK;
}
int fmi2DeSerializeFMUstate(Instance* c, const char* bytes, size_t size, void** state) {
  (void)c;
  if (!*state) *state = malloc(size);
  return memcpy(*state, bytes, size), OK;
}
int fmi2GetDirectionalDerivative(Instance* c, const unsigned* unknown, size_t nu,
                                 const unsigned* known, size_t nk, const double* seed,
                                 double* result) {
  ++c->calls[DIRECTIONALS];
  REQUIRE_MODE(INITIALIZING | EVENT | CONTINUOUS | STEP | OVER);
  REQUIRE(misuse_of_derivative(unknown, nu));
  REQUIRE(misuse_of_derivative(known, nk));
  if (BEHAVIOUR == NO_DIRECTIONALS) return DISCARD;
  if (BEHAVIOUR == NO_LATER_DIRECTIONALS && c->s.t > LATER) return DISCARD;
  for (size_t i = 0; i < nu; ++i) {
    result[i] = 0;
    for (size_t j = 0; j < nk; ++j) result[i] += seed[j] * partial(&c->s, unknown[i], known[j]);
  }
  return OK;
}

int fmi2SetRealInputDerivatives(Instance* c, const unsigned* vr, size_t n, const int* order,
                                const double* v) {
  REQUIRE_MODE(INSTANTIATED | INITIALIZING | STEP);
  REQUIRE(misuse_of_derivative(vr, n));
  REQUIRE(n > (size_t)model_nu ? "more derivatives than inputs" : NULL);
  for (size_t i = 0; i < n; ++i) {
    if (order[i] > INPUT_ORDER) return DISCARD;
    c->s.du[vr[i] - 200][order[i] - 1] = v[i];
  }
  return OK;
}
int fmi2GetRealOutputDerivatives(Instance* c, const unsigned* vr, size_t n, const int* order,
                                 double* v) {
  State low = c->s, high = c->s;
  double u[MOST], dx[MOST];
  const double e = 1e-4;
  REQUIRE_MODE(STEP);
  REQUIRE(misuse_of_derivative(vr, n));
  inputs_at(&c->s, c->s.t, u);
  model_f(&c->s, c->s.t, c->s.x, u, dx);
  low.t -= e, high.t += e;
  for (int i = 0; i < model_nx; ++i) low.x[i] -= e * dx[i], high.x[i] += e * dx[i];
  for (size_t i = 0; i < n; ++i) {
    if (order[i] != 1) return ERROR;
    v[i] = (value_of(&high, vr[i]) - value_of(&low, vr[i])) / (2 * e);
  }
  return OK;
}
#ifndef WITHOUT_DO_STEP
int fmi2DoStep(Instance* c, double t, double h, int no_rollback) {
  ++c->calls[STEPS];
  REQUIRE(misuse_of_step(&c->s, t, h));
  if (BEHAVIOUR == OWN_CLOCK && t != c->s.own_time) return ERROR;
  misbehave_in_step(t + h);
  if (BEHAVIOUR == ENDS && t + h > 0.5) return c->s.mode = OVER, DISCARD;
  if (BEHAVIOUR == DISCARDS && t + h > 0.5) return DISCARD;
  if (BEHAVIOUR == FATAL && t + h > 0.5) return FATALITY;
  if (stands_still(c->calls, no_rollback)) return c->s.own_time += h, c->s.fed = false, OK;
  for (int i = 0; BEHAVIOUR == FLOODS && i < 100; ++i)
    c->call.logger(c->call.environment, c->name, WARNING, "flood", "message %d", i);
  integrate(&c->s, end_of_steps(&c->s, t + h), false, NULL, NULL);
  c->s.own_time = BEHAVIOUR == DRIFTS ? t + 1.00001 * h : c->s.own_time + h;
  return c->s.fed = false, OK;
}
#endif
int fmi2CancelStep(void* c) { return (void)c, ERROR; }
int fmi2GetStatus(void* c, int kind, int* v) { return (void)c, (void)kind, (void)v, DISCARD; }
int fmi2GetRealStatus(Instance* c, int kind, double* v) { return (void)kind, *v = c->s.t, OK; }
int fmi2GetBooleanStatus(Instance* c, int kind, int* v) {
  return *v = kind == 3 && c->s.mode == OVER, OK;
}

int fmi2EnterEventMode(Instance* c) {
  REQUIRE_MODE(CONTINUOUS);
  c->s.event_time = c->s.t;
  ++c->calls[EVENTS];
  return c->s.mode = EVENT, OK;
}
int fmi2NewDiscreteStates(Instance* c, EventInfo* info) {
  REQUIRE_MODE(EVENT);
  memset(info, 0, sizeof *info);
  info->values = model_event(&c->s);
  info->terminate = BEHAVIOUR == ENDS && c->s.t >= 0.5;
  if (model_next_time) {
    info->next = model_next_time(&c->s);
    info->has_next = isfinite(info->next);
  }
  return OK;
}
int fmi2EnterContinuousTimeMode(Instance* c) {
  REQUIRE_MODE(EVENT);
  return c->s.mode = CONTINUOUS, OK;
}
int fmi2CompletedIntegratorStep(Instance* c, int no_rollback, int* event, int* terminate) {
  (void)no_rollback;
  ++c->calls[COMPLETED];
  REQUIRE_MODE(CONTINUOUS);
  c->s.event_time = c->s.t;
  misbehave_in_step(c->s.t);
  *event = model_step_event && model_step_event(&c->s);
  *terminate = 0;
  return OK;
}
int fmi2SetTime(Instance* c, double t) {
  REQUIRE(misuse_of_time(&c->s, t));
  return c->s.t = c->s.u_time = t, OK;
}
int fmi2SetContinuousStates(Instance* c, const double* x, size_t n) {
  REQUIRE_MODE(CONTINUOUS);
  return memcpy(c->s.x, x, n * sizeof *x), OK;
}
int fmi2GetContinuousStates(Instance* c, double* x, size_t n) {
  REQUIRE_MODE(INITIALIZING | EVENT | CONTINUOUS);
  return memcpy(x, c->s.x, n * sizeof *x), OK;
}
int fmi2GetDerivatives(Instance* c, double* dx, size_t n) {
  REQUIRE_MODE(EVENT | CONTINUOUS);
  if (BEHAVIOUR == DISCARDS && c->s.t > 0.5) return DISCARD;
  if (BEHAVIOUR == FATAL && c->s.t > 0.5) return FATALITY;
  for (size_t i = 0; i < n; ++i) dx[i] = value_of(&c->s, 100 + (unsigned)i);
  return OK;
}
int fmi2GetEventIndicators(Instance* c, double* z, size_t n) {
  (void)n;
  REQUIRE_MODE(INITIALIZING | EVENT | CONTINUOUS);
  return model_z(&c->s, z), OK;
}
