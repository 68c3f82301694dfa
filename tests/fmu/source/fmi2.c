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
  bool exchange;
} Instance;
enum { OK, WARNING, DISCARD, ERROR, FATALITY };

static bool refused(Instance* c, const char* function, const char* why) {
  if (why) c->call.logger(c->call.environment, c->name, ERROR, "error", "%s: %s", function, why);
  return why != NULL;
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
  model_start(&c->s);
  return c;
}
void fmi2FreeInstance(void* c) { free(c); }
int fmi2SetupExperiment(Instance* c, int t, double tolerance, double start, int s, double stop) {
  (void)t, (void)tolerance, (void)s, (void)stop;
  REQUIRE_MODE(INSTANTIATED);
  c->s.t = c->s.u_time = c->s.own_time = start;
  return OK;
}
int fmi2EnterInitializationMode(Instance* c) {
  REQUIRE_MODE(INSTANTIATED);
  return c->s.mode = INITIALIZING, OK;
}
int fmi2ExitInitializationMode(Instance* c) {
  REQUIRE_MODE(INITIALIZING);
  c->s.mode = c->exchange ? EVENT : STEP;
  return c->s.fed = false, OK;
}
int fmi2Terminate(Instance* c) {
  REQUIRE_MODE(EVENT | CONTINUOUS | STEP);
  return c->s.mode = OVER, OK;
}
int fmi2Reset(void* c) { return (void)c, OK; }
int fmi2SetDebugLogging(void* c, int on, size_t n, const char** list) {
  return (void)c, (void)on, (void)n, (void)list, OK;
}
int fmi2GetReal(Instance* c, const unsigned* vr, size_t n, double* v) {
  REQUIRE(misuse_of_get(&c->s));
  for (size_t i = 0; i < n; ++i) v[i] = value_of(&c->s, vr[i]);
  return OK;
}
int fmi2SetReal(Instance* c, const unsigned* vr, size_t n, const double* v) {
  for (size_t i = 0; i < n; ++i) {
    REQUIRE(misuse_of_set(&c->s, vr[i]));
    if (set_value(&c->s, vr[i], v[i])) return ERROR;
  }
  return OK;
}
int fmi2GetInteger(Instance* c, const unsigned* vr, size_t n, int* v) {
  REQUIRE(misuse_of_get(&c->s));
  for (size_t i = 0; i < n; ++i) v[i] = (int)value_of(&c->s, vr[i]);
  return OK;
}
int fmi2SetInteger(Instance* c, const unsigned* vr, size_t n, const int* v) {
  for (size_t i = 0; i < n; ++i) {
    REQUIRE(misuse_of_set(&c->s, vr[i]));
    if (set_value(&c->s, vr[i], v[i])) return ERROR;
  }
  return OK;
}
int fmi2GetBoolean(Instance* c, const unsigned* vr, size_t n, int* v) {
  return fmi2GetInteger(c, vr, n, v);
}
int fmi2SetBoolean(Instance* c, const unsigned* vr, size_t n, const int* v) {
  return fmi2SetInteger(c, vr, n, v);
}
int fmi2SetString(void* c, const unsigned* vr, size_t n, const char** v) {
  return (void)c, (void)vr, (void)n, (void)v, OK;
}
int fmi2GetFMUstate(Instance* c, void** state) {
  if (BEHAVIOUR == LOSES_STATE && c->s.t > 0.5) return ERROR;
  if (!*state) *state = malloc(sizeof c->s);
  memcpy(*state, &c->s, sizeof c->s);
  return OK;
}
int fmi2SetFMUstate(Instance* c, void* state) {
  const State now = c->s;
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
  REQUIRE_MODE(INITIALIZING | EVENT | CONTINUOUS | STEP | OVER);
  for (size_t i = 0; i < nu; ++i) {
    result[i] = 0;
    for (size_t j = 0; j < nk; ++j) result[i] += seed[j] * partial(&c->s, unknown[i], known[j]);
  }
  return OK;
}

int fmi2SetRealInputDerivatives(Instance* c, const unsigned* vr, size_t n, const int* order,
                                const double* v) {
  REQUIRE_MODE(INSTANTIATED | INITIALIZING | STEP);
  for (size_t i = 0; i < n; ++i) c->s.du[vr[i] - 200][order[i] - 1] = v[i];
  return OK;
}
int fmi2GetRealOutputDerivatives(Instance* c, const unsigned* vr, size_t n, const int* order,
                                 double* v) {
  State low = c->s, high = c->s;
  double u[MOST], dx[MOST];
  const double e = 1e-4;
  REQUIRE_MODE(STEP);
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
  (void)no_rollback;
  REQUIRE_MODE(STEP);
  if (!(h > 0)) return ERROR;
  if (fabs(t - c->s.own_time) > 1e-9) {
    c->call.logger(c->call.environment, c->name, ERROR, "error", "the time is %g, not %g",
                   c->s.own_time, t);
    return ERROR;
  }
  if (BEHAVIOUR == OWN_CLOCK && t != c->s.own_time) return ERROR;
  misbehave_in_step(t + h);
  if (BEHAVIOUR == ENDS && t + h > 0.5) return c->s.mode = OVER, DISCARD;
  if (BEHAVIOUR == DISCARDS && t + h > 0.5) return DISCARD;
  if (BEHAVIOUR == FATAL && t + h > 0.5) return FATALITY;
  if (BEHAVIOUR == FIXED_STEP) {
    if (c->s.step > 0 && fabs(h - c->s.step) > 1e-9 * h) {
      c->call.logger(c->call.environment, c->name, ERROR, "error", "step %g, not %g", h, c->s.step);
      return ERROR;
    }
    c->s.step = h;
  }
  for (int i = 0; BEHAVIOUR == FLOODS && i < 100; ++i)
    c->call.logger(c->call.environment, c->name, WARNING, "flood", "message %d", i);
  integrate(&c->s, t + h, NULL, NULL);
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
  REQUIRE_MODE(CONTINUOUS);
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
