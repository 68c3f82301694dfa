/* The FMI 3.0 interface of a test model: co-simulation and model exchange. */
#include "model.h"

typedef void (*Log)(void*, int, const char*, const char*);
typedef void (*Update)(void*, double, bool, bool, bool, bool, bool*, double*);
typedef struct {
  State s;
  Log log;
  Update update;
  void* environment;
  bool exchange, event_mode;
} Instance;
enum { OK, WARNING, DISCARD, ERROR, FATALITY };

static bool refused(Instance* c, const char* function, const char* why) {
  char text[128];
  if (!why) return false;
  snprintf(text, sizeof text, "%s: %s", function, why);
  c->log(c->environment, ERROR, "error", text);
  return true;
}
#define REQUIRE(why)                             \
  do {                                           \
    if (refused(c, __func__, why)) return ERROR; \
  } while (0)
#define REQUIRE_MODE(modes) REQUIRE(misuse(&c->s, modes))

const char* fmi3GetVersion(void) { return "3.0"; }
static Instance* make(const char* token, void* environment, Log log) {
  if (BEHAVIOUR == CRASHES) abort();
  if (BEHAVIOUR == REFUSES || strcmp(token, "{test}") != 0) {
    log(environment, ERROR, "error", "wrong token");
    return NULL;
  }
  Instance* c = calloc(1, sizeof *c);
  c->log = log;
  c->environment = environment;
  c->s.mode = INSTANTIATED;
  c->s.event_time = -INFINITY;
  model_start(&c->s);
  return c;
}
void* fmi3InstantiateModelExchange(const char* name, const char* token, const char* resources,
                                   bool visible, bool logging, void* environment, Log log) {
  (void)name, (void)resources, (void)visible, (void)logging;
  Instance* c = make(token, environment, log);
  if (c) c->exchange = true;
  return c;
}
void* fmi3InstantiateCoSimulation(const char* name, const char* token, const char* resources,
                                  bool visible, bool logging, bool event_mode, bool early,
                                  const unsigned* wanted, size_t n, void* environment, Log log,
                                  Update update) {
  (void)name, (void)resources, (void)visible, (void)logging, (void)early, (void)wanted, (void)n;
  Instance* c = make(token, environment, log);
  if (c) c->update = update, c->event_mode = event_mode;
  return c;
}
void fmi3FreeInstance(void* c) { free(c); }
int fmi3EnterInitializationMode(Instance* c, bool t, double tolerance, double start, bool s,
                                double stop) {
  (void)t, (void)tolerance, (void)s, (void)stop;
  REQUIRE_MODE(INSTANTIATED);
  c->s.mode = INITIALIZING;
  c->s.t = c->s.u_time = c->s.own_time = start;
  return OK;
}
int fmi3ExitInitializationMode(Instance* c) {
  REQUIRE_MODE(INITIALIZING);
  c->s.mode = c->exchange || c->event_mode ? EVENT : STEP;
  return c->s.fed = false, OK;
}
int fmi3Terminate(Instance* c) {
  REQUIRE_MODE(EVENT | CONTINUOUS | STEP);
  return c->s.mode = OVER, OK;
}
int fmi3EnterEventMode(Instance* c) {
  REQUIRE_MODE(CONTINUOUS | STEP);
  c->s.event_time = c->s.t;
  return c->s.mode = EVENT, OK;
}
int fmi3EnterStepMode(Instance* c) {
  REQUIRE_MODE(EVENT);
  if (!c->event_mode) return ERROR;
  return c->s.mode = STEP, c->s.fed = false, OK;
}
int fmi3UpdateDiscreteStates(Instance* c, bool* again, bool* terminate, bool* nominals,
                             bool* values, bool* has_next, double* next) {
  REQUIRE_MODE(EVENT);
  *again = *nominals = *has_next = false;
  *terminate = BEHAVIOUR == ENDS && c->s.t >= 0.5;
  *values = model_event(&c->s);
  if (model_next_time) {
    *next = model_next_time(&c->s);
    *has_next = isfinite(*next);
  }
  return OK;
}

#define ACCESS(Name, Type)                                                                \
  int fmi3Get##Name(Instance* c, const unsigned* vr, size_t n, Type* v, size_t m) {       \
    if (n != m) return ERROR;                                                             \
    REQUIRE(misuse_of_get(&c->s));                                                        \
    for (size_t i = 0; i < n; ++i) v[i] = (Type)value_of(&c->s, vr[i]);                   \
    return OK;                                                                            \
  }                                                                                       \
  int fmi3Set##Name(Instance* c, const unsigned* vr, size_t n, const Type* v, size_t m) { \
    if (n != m) return ERROR;                                                             \
    for (size_t i = 0; i < n; ++i) {                                                      \
      REQUIRE(misuse_of_set(&c->s, vr[i]));                                               \
      if (set_value(&c->s, vr[i], (double)v[i])) return ERROR;                            \
    }                                                                                     \
    return OK;                                                                            \
  }
ACCESS(Float64, double)
ACCESS(Float32, float)
ACCESS(Int32, int32_t)
ACCESS(Int64, int64_t)
ACCESS(Boolean, bool)
int fmi3SetString(void* c, const unsigned* vr, size_t n, const char* const* v, size_t m) {
  return (void)c, (void)vr, (void)n, (void)v, (void)m, OK;
}

int fmi3GetFMUState(Instance* c, void** state) {
  if (BEHAVIOUR == LOSES_STATE && c->s.t > 0.5) return ERROR;
  if (!*state) *state = malloc(sizeof c->s);
  return memcpy(*state, &c->s, sizeof c->s), OK;
}
int fmi3SetFMUState(Instance* c, void* state) {
  const State now = c->s;
  memcpy(&c->s, state, sizeof c->s);
  if (BEHAVIOUR == FORGETS) c->s.x[0] = now.x[0], c->s.count = now.count;
  return OK;
}
int fmi3FreeFMUState(void* c, void** state) {
  (void)c;
  free(*state);
  *state = NULL;
  return OK;
}
int fmi3SerializedFMUStateSize(Instance* c, void* state, size_t* size) {
  return (void)state, *size = sizeof c->s, OK;
}
int fmi3SerializeFMUState(void* c, void* state, uint8_t* bytes, size_t size) {
  return (void)c, memcpy(bytes, state, size), OK;
}
int fmi3DeserializeFMUState(void* c, const uint8_t* bytes, size_t size, void** state) {
  (void)c;
  if (!*state) *state = malloc(size);
  return memcpy(*state, bytes, size), OK;
}
int fmi3GetDirectionalDerivative(Instance* c, const unsigned* unknown, size_t nu,
                                 const unsigned* known, size_t nk, const double* seed, size_t ns,
                                 double* result, size_t nr) {
  if (ns != nk || nr != nu) return ERROR;
  REQUIRE_MODE(INITIALIZING | EVENT | CONTINUOUS | STEP | OVER);
  for (size_t i = 0; i < nu; ++i) {
    result[i] = 0;
    for (size_t j = 0; j < nk; ++j) result[i] += seed[j] * partial(&c->s, unknown[i], known[j]);
  }
  return OK;
}
int fmi3GetOutputDerivatives(Instance* c, const unsigned* vr, size_t n, const int32_t* order,
                             double* v, size_t m) {
  State low = c->s, high = c->s;
  double u[MOST], dx[MOST];
  const double e = 1e-4;
  if (n != m) return ERROR;
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

static void ask(void* data, double t) {
  Instance* c = data;
  bool requested = false;
  double at = 0;
  c->s.mode = UPDATE;
  c->update(c->environment, t, true, true, true, false, &requested, &at);
  c->s.mode = STEP;
}
#ifndef WITHOUT_DO_STEP
int fmi3DoStep(Instance* c, double t, double h, bool no_rollback, bool* event, bool* terminate,
               bool* early, double* last) {
  (void)no_rollback;
  *event = *terminate = *early = false;
  *last = c->s.t;
  REQUIRE_MODE(STEP);
  if (fabs(t - c->s.own_time) > 1e-9 || !(h > 0)) return ERROR;
  if (BEHAVIOUR == OWN_CLOCK && t != c->s.own_time) return ERROR;
  misbehave_in_step(t + h);
  if (BEHAVIOUR == DISCARDS && t + h > 0.5) return DISCARD;
  if (BEHAVIOUR == FATAL && t + h > 0.5) return FATALITY;
  if (BEHAVIOUR == FIXED_STEP) {
    if (c->s.step > 0 && fabs(h - c->s.step) > 1e-9 * h) {
      c->log(c->environment, ERROR, "error", "the step size has changed");
      return ERROR;
    }
    c->s.step = h;
  }
  for (int i = 0; BEHAVIOUR == FLOODS && i < 100; ++i)
    c->log(c->environment, WARNING, "flood", "message");
  const bool early_return = BEHAVIOUR == RETURNS_EARLY && c->event_mode && t < 0.3 && t + h > 0.3;
  const double end = early_return ? 0.3 : t + h;
  integrate(&c->s, end, c->update ? ask : NULL, c);
  *early = *event = early_return;
  *last = BEHAVIOUR == DRIFTS ? t + 1.00001 * h : end;
  c->s.own_time = early_return ? end : c->s.own_time + h;
  *terminate = BEHAVIOUR == ENDS && end > 0.5;
  return c->s.fed = false, OK;
}
#endif

int fmi3EnterContinuousTimeMode(Instance* c) {
  REQUIRE_MODE(EVENT);
  return c->s.mode = CONTINUOUS, OK;
}
int fmi3CompletedIntegratorStep(Instance* c, bool no_rollback, bool* event, bool* terminate) {
  (void)no_rollback;
  REQUIRE_MODE(CONTINUOUS);
  misbehave_in_step(c->s.t);
  *event = model_step_event && model_step_event(&c->s);
  *terminate = false;
  return OK;
}
int fmi3SetTime(Instance* c, double t) {
  REQUIRE(misuse_of_time(&c->s, t));
  return c->s.t = c->s.u_time = t, OK;
}
int fmi3SetContinuousStates(Instance* c, const double* x, size_t n) {
  REQUIRE_MODE(CONTINUOUS);
  return memcpy(c->s.x, x, n * sizeof *x), OK;
}
int fmi3GetContinuousStates(Instance* c, double* x, size_t n) {
  REQUIRE_MODE(INITIALIZING | EVENT | CONTINUOUS);
  return memcpy(x, c->s.x, n * sizeof *x), OK;
}
int fmi3GetContinuousStateDerivatives(Instance* c, double* dx, size_t n) {
  REQUIRE_MODE(INITIALIZING | EVENT | CONTINUOUS);
  if (BEHAVIOUR == DISCARDS && c->s.t > 0.5) return DISCARD;
  if (BEHAVIOUR == FATAL && c->s.t > 0.5) return FATALITY;
  for (size_t i = 0; i < n; ++i) dx[i] = value_of(&c->s, 100 + (unsigned)i);
  return OK;
}
int fmi3GetEventIndicators(Instance* c, double* z, size_t n) {
  (void)n;
  REQUIRE_MODE(INITIALIZING | EVENT | CONTINUOUS);
  return model_z(&c->s, z), OK;
}
