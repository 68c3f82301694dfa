/* The FMI 1.0 interface of a test model: co-simulation and model exchange. MODEL is the identifier
 * before the name of every function. */
#include "model.h"

#define PASTED(identifier, name) identifier##_fmi##name
#define JOINED(identifier, name) PASTED(identifier, name)
#define FMI(name) JOINED(MODEL, name)

typedef char Boolean;
typedef void Logger(void*, const char*, int, const char*, const char*, ...);
typedef struct {
  Logger* logger;
  void* (*allocate)(size_t, size_t);
  void (*release)(void*);
} ModelCallbacks;
typedef struct {
  Logger* logger;
  void* (*allocate)(size_t, size_t);
  void (*release)(void*);
  void (*finished)(void*, int);
} SlaveCallbacks;
typedef struct {
  Boolean converged, references, values, terminate, has_next;
  double next;
} EventInfo;
typedef struct {
  State s;
  Logger* logger;
  char name[64];
  bool exchange, updates; /* a discrete input waits for the event update */
  long calls[TALLIES];
  char heard[32], said[32]; /* inputs from 200 on, outputs from 300 on that are texts */
} Instance;
enum { OK, WARNING, DISCARD, ERROR, FATALITY, PENDING };

static bool refused(Instance* c, const char* function, const char* why) {
  if (!complain(function, why)) return false;
  c->logger(c, c->name, ERROR, "error", "%s: %s", function, why);
  c->s.mode = FAILED;
  return true;
}
#define REQUIRE(why)                             \
  do {                                           \
    if (refused(c, __func__, why)) return ERROR; \
  } while (0)
#define REQUIRE_MODE(modes) REQUIRE(misuse(&c->s, modes))

static Instance* made(const char* name, const char* guid, Logger* logger, bool exchange) {
  if (BEHAVIOUR == CRASHES) abort();
  if (BEHAVIOUR == REFUSES || strcmp(guid, "{test}") != 0) {
    logger(NULL, name, ERROR, "error", "wrong %s", "guid");
    return NULL;
  }
  Instance* c = calloc(1, sizeof *c);
  c->logger = logger;
  snprintf(c->name, sizeof c->name, "%s", name);
  c->exchange = exchange;
  c->s.mode = INSTANTIATED;
  c->s.event_time = -INFINITY;
  c->s.stop = INFINITY;
  model_start(&c->s);
  return c;
}
static int ended(Instance* c) {
  REQUIRE_MODE(CONTINUOUS | STEP | OVER);
  return c->s.mode = OVER, OK;
}
static void freed(Instance* c) {
  if (c->s.mode & (CONTINUOUS | STEP)) complain(__func__, "freed without being terminated");
  write_calls(c->calls);
  free(c);
}
static void tell(Instance* c, EventInfo* info, bool jumped) {
  memset(info, 0, sizeof *info);
  info->converged = 1;
  info->values = jumped;
  info->terminate = BEHAVIOUR == ENDS && c->s.t >= 0.5;
  if (model_next_time) {
    info->next = model_next_time(&c->s);
    info->has_next = isfinite(info->next);
  }
}

#ifndef TYPES
#define TYPES "standard32"
#endif
const char* FMI(GetVersion)(void) { return "1.0"; }
const char* FMI(GetTypesPlatform)(void) { return TYPES; }
const char* FMI(GetModelTypesPlatform)(void) { return TYPES; }
int FMI(SetDebugLogging)(void* c, Boolean on) { return (void)c, (void)on, OK; }

#define ACCESS(Name, Type, types)                                                       \
  int FMI(Get##Name)(Instance * c, const unsigned* vr, size_t n, Type* v) {             \
    ++c->calls[GETS];                                                                   \
    REQUIRE(c->s.mode == INSTANTIATED ? "read before initialisation" : NULL);           \
    REQUIRE(c->updates ? "read before the event update" : NULL);                        \
    REQUIRE(c->calls[STEPS] ? misuse_of_get(&c->s) : NULL);                             \
    for (size_t i = 0; i < n; ++i) {                                                    \
      REQUIRE(misuse_of_type(vr[i], types));                                            \
      v[i] = (Type)value_of(&c->s, vr[i]);                                              \
    }                                                                                   \
    return OK;                                                                          \
  }                                                                                     \
  int FMI(Set##Name)(Instance * c, const unsigned* vr, size_t n, const Type* v) {       \
    ++c->calls[SETS];                                                                   \
    for (size_t i = 0; i < n; ++i) {                                                    \
      REQUIRE(misuse_of_type(vr[i], types));                                            \
      REQUIRE(misuse(&c->s, INSTANTIATED | CONTINUOUS | STEP));                         \
      const bool input = vr[i] >= 200 && vr[i] < 300;                                   \
      REQUIRE(!input && c->s.mode != INSTANTIATED ? "set after initialisation" : NULL); \
      REQUIRE(set_value(&c->s, vr[i], v[i]) ? "not to be set" : NULL);                  \
      c->updates = c->updates || (c->s.mode == CONTINUOUS && is_discrete(vr[i]));       \
    }                                                                                   \
    return OK;                                                                          \
  }
ACCESS(Real, double, "rf")
ACCESS(Integer, int, "ie")
ACCESS(Boolean, Boolean, "b")
int FMI(SetString)(Instance* c, const unsigned* vr, size_t n, const char** v) {
  for (size_t i = 0; i < n; ++i) {
    const bool input = vr[i] < 300;
    REQUIRE_MODE(input ? INSTANTIATED | CONTINUOUS | STEP : INSTANTIATED);
    if (input)
      snprintf(c->heard, sizeof c->heard, "%s", v[i]);
    else if (vr[i] >= 400)
      c->s.p[vr[i] - 400] = (double)strlen(v[i]);
  }
  return OK;
}

/* 350: what it says; 351: what it has heard; others it refuses. */
int FMI(GetString)(Instance* c, const unsigned* vr, size_t n, const char** v) {
  REQUIRE(c->s.mode == INSTANTIATED ? "read before initialisation" : NULL);
  for (size_t i = 0; i < n; ++i) {
    if (vr[i] != 350 && vr[i] != 351) return ERROR;
    snprintf(c->said, sizeof c->said, "%s: %d", c->name, (int)floor(c->s.t / 0.25 + 1e-9));
    v[i] = vr[i] == 350 ? c->said : c->heard;
  }
  return OK;
}

void* FMI(InstantiateSlave)(const char* name, const char* guid, const char* folder,
                            const char* type, double timeout, Boolean visible, Boolean interactive,
                            SlaveCallbacks call, Boolean logging) {
  (void)timeout, (void)visible, (void)interactive, (void)logging;
  const bool good =
      strncmp(folder, "file:///", 8) == 0 && strcmp(type, "application/x-fmu-sharedlibrary") == 0;
  return made(name, good ? guid : "", call.logger, false);
}
int FMI(InitializeSlave)(Instance* c, double start, Boolean has_stop, double stop) {
  REQUIRE_MODE(INSTANTIATED);
  if (BEHAVIOUR == REFUSES_START) return c->s.mode = FAILED, ERROR;
  if (BEHAVIOUR == KEEPS_NOTHING) model_start(&c->s);
  c->s.t = c->s.u_time = c->s.own_time = start;
  if (has_stop) c->s.stop = stop;
  if (model_initial) model_initial(&c->s);
  model_event(&c->s);
  c->s.mode = STEP;
  return c->s.fed = false, OK;
}
int FMI(TerminateSlave)(Instance* c) { return ended(c); }
int FMI(ResetSlave)(void* c) { return (void)c, ERROR; }
void FMI(FreeSlaveInstance)(Instance* c) { freed(c); }
int FMI(SetRealInputDerivatives)(Instance* c, const unsigned* vr, size_t n, const int* order,
                                 const double* v) {
  REQUIRE_MODE(STEP);
  REQUIRE(misuse_of_derivative(vr, n));
  REQUIRE(n > (size_t)model_nu ? "more derivatives than inputs" : NULL);
  for (size_t i = 0; i < n; ++i) {
    if (order[i] > INPUT_ORDER) return DISCARD;
    c->s.du[vr[i] - 200][order[i] - 1] = v[i];
  }
  return OK;
}
int FMI(GetRealOutputDerivatives)(Instance* c, const unsigned* vr, size_t n, const int* order,
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
int FMI(DoStep)(Instance* c, double t, double h, Boolean is_new) {
  ++c->calls[STEPS];
  REQUIRE(misuse_of_step(&c->s, t, h));
  REQUIRE(is_new ? NULL : "a step is repeated");
  misbehave_in_step(t + h);
  if (BEHAVIOUR == DISCARDS && t + h > 0.5) return DISCARD;
  if (BEHAVIOUR == FATAL && t + h > 0.5) return FATALITY;
  if (BEHAVIOUR == RETURNS_EARLY && t + h > 0.5 && t < 0.5 - 1e-9) {
    integrate(&c->s, 0.5, false, NULL, NULL);
    c->s.own_time = 0.5;
    return c->s.fed = false, DISCARD;
  }
  integrate(&c->s, end_of_steps(&c->s, t + h), false, NULL, NULL);
  c->s.own_time += h;
  return c->s.fed = false, OK;
}
int FMI(CancelStep)(void* c) { return (void)c, ERROR; }
int FMI(GetStatus)(void* c, int kind, int* v) { return (void)c, (void)kind, (void)v, DISCARD; }
int FMI(GetRealStatus)(Instance* c, int kind, double* v) {
  return *v = c->s.own_time, kind == 2 ? OK : DISCARD;
}
int FMI(GetIntegerStatus)(void* c, int kind, int* v) {
  return (void)c, (void)kind, (void)v, DISCARD;
}
int FMI(GetBooleanStatus)(void* c, int kind, Boolean* v) {
  return (void)c, (void)kind, (void)v, DISCARD;
}
int FMI(GetStringStatus)(void* c, int kind, const char** v) {
  return (void)c, (void)kind, (void)v, DISCARD;
}

void* FMI(InstantiateModel)(const char* name, const char* guid, ModelCallbacks call,
                            Boolean logging) {
  return (void)logging, made(name, guid, call.logger, true);
}
void FMI(FreeModelInstance)(Instance* c) { freed(c); }
int FMI(Initialize)(Instance* c, Boolean controlled, double tolerance, EventInfo* info) {
  (void)controlled, (void)tolerance;
  REQUIRE_MODE(INSTANTIATED);
  if (BEHAVIOUR == REFUSES_START) return c->s.mode = FAILED, ERROR;
  if (BEHAVIOUR == KEEPS_NOTHING) model_start(&c->s);
  if (model_initial) model_initial(&c->s);
  tell(c, info, model_event(&c->s));
  c->s.mode = CONTINUOUS;
#ifdef UPDATES_AT_START
  info->converged = 0;
  c->updates = true;
#endif
  return OK;
}
int FMI(EventUpdate)(Instance* c, Boolean intermediate, EventInfo* info) {
  ++c->calls[EVENTS];
  REQUIRE_MODE(CONTINUOUS);
  REQUIRE(intermediate ? "nobody looks at intermediate results" : NULL);
  c->s.event_time = c->s.t;
  tell(c, info, model_event(&c->s));
  return c->updates = false, OK;
}
int FMI(SetTime)(Instance* c, double t) {
  REQUIRE(t < c->s.event_time ? "time goes back over an event or a completed step" : NULL);
  REQUIRE_MODE(INSTANTIATED | CONTINUOUS);
  return c->s.t = c->s.u_time = t, OK;
}
int FMI(SetContinuousStates)(Instance* c, const double* x, size_t n) {
  REQUIRE_MODE(CONTINUOUS);
  return memcpy(c->s.x, x, n * sizeof *x), OK;
}
int FMI(CompletedIntegratorStep)(Instance* c, Boolean* update) {
  ++c->calls[COMPLETED];
  REQUIRE_MODE(CONTINUOUS);
  misbehave_in_step(c->s.t);
  c->s.event_time = c->s.t;
  return *update = model_step_event && model_step_event(&c->s), OK;
}
int FMI(GetContinuousStates)(Instance* c, double* x, size_t n) {
  REQUIRE_MODE(CONTINUOUS);
  return memcpy(x, c->s.x, n * sizeof *x), OK;
}
int FMI(GetNominalContinuousStates)(Instance* c, double* x, size_t n) {
  (void)c;
  for (size_t i = 0; i < n; ++i) x[i] = 1;
  return OK;
}
int FMI(GetStateValueReferences)(Instance* c, unsigned* vr, size_t n) {
  (void)c;
#ifdef NAMES_NO_STATES
  return (void)vr, (void)n, ERROR;
#else
  for (size_t i = 0; i < n; ++i) vr[i] = (unsigned)i;
  return OK;
#endif
}
int FMI(GetDerivatives)(Instance* c, double* dx, size_t n) {
  REQUIRE_MODE(CONTINUOUS);
  REQUIRE(c->updates ? "asked before the event update" : NULL);
  if (BEHAVIOUR == DISCARDS && c->s.t > 0.5) return DISCARD;
  if (BEHAVIOUR == FATAL && c->s.t > 0.5) return FATALITY;
  for (size_t i = 0; i < n; ++i) dx[i] = value_of(&c->s, 100 + (unsigned)i);
  return OK;
}
int FMI(GetEventIndicators)(Instance* c, double* z, size_t n) {
  (void)n;
  REQUIRE_MODE(CONTINUOUS);
  return model_z(&c->s, z), OK;
}
int FMI(Terminate)(Instance* c) { return ended(c); }
