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
  long calls[TALLIES];
} Instance;
enum { OK, WARNING, DISCARD, ERROR, FATALITY };

static bool refused(Instance* c, const char* function, const char* why) {
  char text[128];
  if (!complain(function, why)) return false;
  snprintf(text, sizeof text, "%s: %s", function, why);
  c->log(c->environment, ERROR, "error", text);
  c->s.mode = FAILED;
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
  c->s.stop = INFINITY;
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
  if (BEHAVIOUR == NO_EVENT_MODE && event_mode)
    return log(environment, ERROR, "error", "there is no event mode"), NULL;
  Instance* c = make(token, environment, log);
  if (c) c->update = update, c->event_mode = event_mode;
  return c;
}
void fmi3FreeInstance(Instance* c) {
  write_calls(c->calls);
  free(c);
}
int fmi3EnterInitializationMode(Instance* c, bool t, double tolerance, double start, bool s,
                                double stop) {
  (void)t, (void)tolerance;
  REQUIRE_MODE(INSTANTIATED);
  if (s) c->s.stop = stop;
  if (BEHAVIOUR == KEEPS_NOTHING) model_start(&c->s);
  c->s.mode = INITIALIZING;
  c->s.t = c->s.u_time = c->s.own_time = start;
  return OK;
}
int fmi3ExitInitializationMode(Instance* c) {
  REQUIRE_MODE(INITIALIZING);
  if (BEHAVIOUR == REFUSES_START) return c->s.mode = FAILED, ERROR;
  c->s.mode = c->exchange || c->event_mode ? EVENT : STEP;
  if (c->s.mode == STEP) model_event(&c->s);
  return c->s.fed = false, OK;
}
int fmi3Terminate(Instance* c) {
  REQUIRE_MODE(EVENT | CONTINUOUS | STEP);
  return c->s.mode = OVER, OK;
}
int fmi3EnterEventMode(Instance* c) {
  REQUIRE_MODE(CONTINUOUS | STEP);
  REQUIRE(c->exchange || c->event_mode ? NULL : "event mode is not used");
  c->s.event_time = c->s.t;
  ++c->calls[EVENTS];
  return c->s.mode = EVENT, OK;
}
int fmi3EnterStepMode(Instance* c) {
  REQUIRE_MODE(EVENT);
  if (!c->event_mode) return ERROR;
  note_signs(&c->s);
  return c->s.mode = STEP, c->s.fed = false, OK;
}
int fmi3UpdateDiscreteStates(Instance* c, bool* again, bool* terminate, bool* nominals,
                             bool* values, bool* has_next, double* next) {
  REQUIRE_MODE(EVENT);
  if (BEHAVIOUR == REFUSES_EVENTS && !c->exchange) return c->s.mode = FAILED, ERROR;
  *again = *nominals = *has_next = false;
  *terminate = BEHAVIOUR == ENDS && c->s.t >= 0.5;
  *values = model_event(&c->s);
  if (model_next_time) {
    *next = model_next_time(&c->s);
    *has_next = isfinite(*next);
  }
  return OK;
}

/* Discrete inputs and parameters of FMUs that use event mode are set there; all others in step
 * mode. */
static const char* misuse_of_set3(const Instance* c, unsigned reference) {
  const bool in_events = is_discrete(reference) || reference >= 400;
  if (c->event_mode && c->s.mode == STEP && in_events)
    return "a discrete input or a parameter is to be set in event mode";
  if (c->event_mode && c->s.mode == EVENT && !in_events)
    return "a continuous input is to be set in step mode";
  return misuse_of_set(&c->s, reference);
}
static size_t elements(const unsigned* vr, size_t n) {
  size_t sum = 0;
  for (size_t i = 0; i < n; ++i) sum += (size_t)size_of(vr[i]);
  return sum;
}
#define ACCESS(Name, Type, types)                                                                 \
  int fmi3Get##Name(Instance* c, const unsigned* vr, size_t n, Type* v, size_t m) {               \
    ++c->calls[GETS];                                                                             \
    REQUIRE(elements(vr, n) == m ? NULL : "a wrong number of values");                            \
    REQUIRE(misuse_of_get(&c->s));                                                                \
    for (size_t i = 0; i < n; ++i) {                                                              \
      REQUIRE(misuse_of_type(vr[i], types));                                                      \
      for (int k = 0; k < size_of(vr[i]); ++k) *v++ = (Type)value_of(&c->s, vr[i] + (unsigned)k); \
    }                                                                                             \
    return OK;                                                                                    \
  }                                                                                               \
  int fmi3Set##Name(Instance* c, const unsigned* vr, size_t n, const Type* v, size_t m) {         \
    ++c->calls[SETS];                                                                             \
    REQUIRE(elements(vr, n) == m ? NULL : "a wrong number of values");                            \
    for (size_t i = 0; i < n; ++i) {                                                              \
      REQUIRE(misuse_of_type(vr[i], types));                                                      \
      REQUIRE(misuse_of_set3(c, vr[i]));                                                          \
      for (int k = 0; k < size_of(vr[i]); ++k)                                                    \
        REQUIRE(set_value(&c->s, vr[i] + (unsigned)k, (double)*v++) ? "not to be set" : NULL);    \
    }                                                                                             \
    return OK;                                                                                    \
  }
ACCESS(Float64, double, "r")
ACCESS(Float32, float, "f")
ACCESS(Int32, int32_t, "i")
ACCESS(Int64, int64_t, "e")
ACCESS(Boolean, bool, "b")
int fmi3SetString(void* c, const unsigned* vr, size_t n, const char* const* v, size_t m) {
  return (void)c, (void)vr, (void)n, (void)v, (void)m, OK;
}

int fmi3GetFMUState(Instance* c, void** state) {
  if (BEHAVIOUR == CRASHES_IN_SAVE) abort();
  if (BEHAVIOUR == RESETS_IN_SAVE && *state) model_start(&c->s);
  if (BEHAVIOUR == LOSES_STATE && c->s.t > 0.5) return c->s.mode = FAILED, ERROR;
  REQUIRE(c->s.mode == FAILED ? "called after an error" : NULL);
  if (!*state) *state = malloc(sizeof c->s);
  return memcpy(*state, &c->s, sizeof c->s), OK;
}
int fmi3SetFMUState(Instance* c, void* state) {
  const State now = c->s;
  ++c->calls[RESTORES];
  if (BEHAVIOUR == NO_RESTORES) return ERROR;
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
  ++c->calls[DIRECTIONALS];
  REQUIRE(ns == elements(known, nk) ? NULL : "a wrong number of seeds");
  REQUIRE(nr == elements(unknown, nu) ? NULL : "a wrong number of sensitivities");
  REQUIRE_MODE(INITIALIZING | EVENT | CONTINUOUS | STEP | OVER);
  REQUIRE(misuse_of_derivative(unknown, nu));
  REQUIRE(misuse_of_derivative(known, nk));
  if (BEHAVIOUR == NO_DIRECTIONALS) return DISCARD;
  if (BEHAVIOUR == NO_LATER_DIRECTIONALS && c->s.t > LATER) return DISCARD;
  for (size_t i = 0; i < nu; ++i)
    for (int k = 0; k < size_of(unknown[i]); ++k, ++result) {
      const double* s = seed;
      *result = 0;
      for (size_t j = 0; j < nk; ++j)
        for (int l = 0; l < size_of(known[j]); ++l)
          *result += *s++ * partial(&c->s, unknown[i] + (unsigned)k, known[j] + (unsigned)l);
    }
  return OK;
}
int fmi3GetOutputDerivatives(Instance* c, const unsigned* vr, size_t n, const int32_t* order,
                             double* v, size_t m) {
  State low = c->s, high = c->s;
  double u[MOST], dx[MOST];
  const double e = 1e-4;
  REQUIRE(elements(vr, n) == m ? NULL : "a wrong number of values");
  REQUIRE_MODE(STEP);
  REQUIRE(misuse_of_derivative(vr, n));
  inputs_at(&c->s, c->s.t, u);
  model_f(&c->s, c->s.t, c->s.x, u, dx);
  low.t -= e, high.t += e;
  for (int i = 0; i < model_nx; ++i) low.x[i] -= e * dx[i], high.x[i] += e * dx[i];
  for (size_t i = 0; i < n; ++i) {
    if (order[i] != 1) return ERROR;
    for (unsigned k = 0; k < (unsigned)size_of(vr[i]); ++k)
      *v++ = (value_of(&high, vr[i] + k) - value_of(&low, vr[i] + k)) / (2 * e);
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
  ++c->calls[STEPS];
  *event = *terminate = *early = false;
  *last = c->s.t;
  REQUIRE(misuse_of_step(&c->s, t, h));
  REQUIRE(c->event_mode && model_next_time && t + h > model_next_time(&c->s) + 1e-9
              ? "the step goes over nextEventTime"
              : NULL);
  if (BEHAVIOUR == OWN_CLOCK && t != c->s.own_time) return ERROR;
  misbehave_in_step(t + h);
  if (BEHAVIOUR == DISCARDS && t + h > 0.5) return DISCARD;
  if (BEHAVIOUR == FATAL && t + h > 0.5) return FATALITY;
  if (stands_still(c->calls, no_rollback)) return *last = c->s.own_time += h, c->s.fed = false, OK;
  if (BEHAVIOUR == NAN_TIME && t > 0.5) return *early = true, *last = NAN, OK;
  for (int i = 0; BEHAVIOUR == FLOODS && i < 100; ++i)
    c->log(c->environment, WARNING, "flood", "message");
  bool early_return = BEHAVIOUR == RETURNS_EARLY && c->event_mode && t < 0.3 && t + h > 0.3;
  double end = early_return ? 0.3 : end_of_steps(&c->s, t + h);
  const bool found = integrate(&c->s, end, c->event_mode, c->update ? ask : NULL, c);
  if (found) end = c->s.t;
  early_return = early_return || (found && end < t + h);
  *early = early_return;
  *event = early_return || found;
  *last = BEHAVIOUR == DRIFTS ? t + 1.00001 * h : early_return ? end : t + h;
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
  ++c->calls[COMPLETED];
  REQUIRE_MODE(CONTINUOUS);
  c->s.event_time = c->s.t;
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
