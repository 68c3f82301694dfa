/* The FMI 3.0 interface of a test model with clocks: co-simulation and model exchange, both with
 * event mode, and scheduled execution. */
#include "clocked.h"

enum { OK, WARNING, DISCARD, ERROR, FATALITY };
enum {
  INSTANTIATED = 1,
  INITIALIZING = 2,
  EVENT = 4,
  CONTINUOUS = 8,
  STEP = 16,
  ACTIVATION = 32,
  UPDATE = 64,
  FAILED = 128
};

typedef void (*Log)(void*, int, const char*, const char*);
typedef struct {
  State s;
  Log log;
  void (*update)(void*);
  void (*lock)(void);
  void (*unlock)(void);
  void* environment;
  int role;
  char heard[64], said[64]; /* texts: input 250, output 350; 351 is what was heard */
} Instance;

static bool refused(Instance* c, const char* function, const char* why) {
  char text[128];
  if (!why) return false;
  fprintf(stderr, "STRICT: %s: %s\n", function, why);
  snprintf(text, sizeof text, "%s: %s", function, why);
  c->log(c->environment, ERROR, "error", text);
  c->s.mode = FAILED;
  return true;
}
#define REQUIRE(good, why)                                       \
  do {                                                           \
    if (refused(c, __func__, (good) ? NULL : why)) return ERROR; \
  } while (0)
#define REQUIRE_MODE(modes) REQUIRE(c->s.mode&(modes), "called in a mode that does not allow it")

static Instance* make(const char* token, void* environment, Log log, int role) {
  if (strcmp(token, "{test}") != 0) return NULL;
  Instance* c = calloc(1, sizeof *c);
  c->log = log, c->environment = environment, c->role = role;
  c->s.mode = INSTANTIATED;
  for (int k = 0; k < MOST; ++k) c->s.last[k] = -INFINITY, c->s.tick[k] = INFINITY;
  model_start(&c->s);
  return c;
}
void* fmi3InstantiateModelExchange(const char* name, const char* token, const char* resources,
                                   bool visible, bool logging, void* environment, Log log) {
  (void)name, (void)resources, (void)visible, (void)logging;
  return make(token, environment, log, CONTINUOUS);
}
void* fmi3InstantiateCoSimulation(const char* name, const char* token, const char* resources,
                                  bool visible, bool logging, bool event_mode, bool early,
                                  const unsigned* wanted, size_t n, void* environment, Log log,
                                  void* update) {
  (void)name, (void)resources, (void)visible, (void)logging, (void)early, (void)wanted, (void)n;
  (void)update;
  return event_mode ? make(token, environment, log, STEP) : NULL;
}
void* fmi3InstantiateScheduledExecution(const char* name, const char* token, const char* resources,
                                        bool visible, bool logging, void* environment, Log log,
                                        void (*update)(void*), void (*lock)(void),
                                        void (*unlock)(void)) {
  (void)name, (void)resources, (void)visible, (void)logging;
  Instance* c = make(token, environment, log, ACTIVATION);
  if (c) c->update = update, c->lock = lock, c->unlock = unlock;
  return c;
}
void fmi3FreeInstance(Instance* c) { free(c); }
int fmi3EnterInitializationMode(Instance* c, bool t, double tolerance, double start, bool s,
                                double stop) {
  (void)t, (void)tolerance, (void)s, (void)stop;
  REQUIRE_MODE(INSTANTIATED);
  c->s.t = start;
  return c->s.mode = INITIALIZING, OK;
}
static bool all_countdowns_asked(const State* s) {
  bool all = true;
  for (int k = 0; k < model_nc; ++k) all = all && (model_clocks[k].kind != 'd' || s->asked[k]);
  return all;
}
static void begin_event_mode(State* s) {
  memset(s->asked, 0, sizeof s->asked);
  memset(s->run, 0, sizeof s->run);
  if (model_instant) model_instant(s);
}
int fmi3ExitInitializationMode(Instance* c) {
  REQUIRE_MODE(INITIALIZING);
  REQUIRE(all_countdowns_asked(&c->s), "nobody has asked for the interval of a countdown clock");
  begin_event_mode(&c->s);
  return c->s.mode = c->role == ACTIVATION ? ACTIVATION : EVENT, OK;
}
int fmi3Terminate(Instance* c) {
  REQUIRE_MODE(EVENT | CONTINUOUS | STEP | ACTIVATION);
  return OK;
}
int fmi3EnterEventMode(Instance* c) {
  REQUIRE_MODE(CONTINUOUS | STEP);
  begin_event_mode(&c->s);
  return c->s.mode = EVENT, OK;
}
static int leave_event_mode(Instance* c, int role) {
  REQUIRE_MODE(EVENT);
  REQUIRE(all_countdowns_asked(&c->s), "nobody has asked for the interval of a countdown clock");
  for (int k = 0; k < model_nc; ++k)
    REQUIRE(!c->s.active[k], "a clock ticks, but its instant has not ended");
  return c->s.mode = role, OK;
}
int fmi3EnterStepMode(Instance* c) { return leave_event_mode(c, STEP); }
int fmi3EnterContinuousTimeMode(Instance* c) { return leave_event_mode(c, CONTINUOUS); }

/* Each partition once in an instant, when something is first asked of it. */
static void run_active(State* s) {
  for (int k = 0; k < model_nc; ++k)
    if (s->active[k] && !s->run[k]) s->run[k] = true, model_run(s, k);
}
int fmi3UpdateDiscreteStates(Instance* c, bool* again, bool* terminate, bool* nominals,
                             bool* values, bool* has_next, double* next) {
  REQUIRE_MODE(EVENT);
  run_active(&c->s);
  if (model_event) model_event(&c->s);
  memset(c->s.active, 0, sizeof c->s.active);
  memset(c->s.run, 0, sizeof c->s.run);
  memset(c->s.ticked, 0, sizeof c->s.ticked);
  *again = *terminate = *nominals = *values = false;
  if (model_goes_on && model_goes_on(&c->s)) *again = true, model_instant(&c->s);
  *next = model_next_time ? model_next_time(&c->s) : INFINITY;
  return *has_next = isfinite(*next), OK;
}

/* Whether one of the clocks ticks now. */
static bool ticks(const State* s, unsigned clocks) {
  for (int k = 0; k < model_nc; ++k)
    if ((clocks >> k & 1u) && (s->active[k] || s->ticked[k])) return true;
  return false;
}
static double* place(State* s, unsigned reference) {
  if (reference < 100) return &s->x[reference];
  return reference < 300 ? &s->u[reference - 200] : &s->y[reference - 300];
}
int fmi3GetFloat64(Instance* c, const unsigned* vr, size_t n, double* v, size_t m) {
  REQUIRE_MODE(INITIALIZING | EVENT | CONTINUOUS | STEP | ACTIVATION);
  REQUIRE(n == m, "a wrong number of values");
  REQUIRE(!c->s.fed, "read after a set without an activation between");
  run_active(&c->s);
  if (model_g) model_g(&c->s);
  for (size_t i = 0; i < n; ++i) {
    const unsigned clocks = model_clocks_of(vr[i]);
    REQUIRE(!clocks || (c->s.mode & (INITIALIZING | ACTIVATION)) || ticks(&c->s, clocks),
            "a clocked variable is read while no clock of its ticks");
    double dx[MOST];
    if (vr[i] >= 100 && vr[i] < 200) model_f(&c->s, dx);
    v[i] = vr[i] >= 100 && vr[i] < 200 ? dx[vr[i] - 100] : *place(&c->s, vr[i]);
  }
  return OK;
}
int fmi3SetFloat64(Instance* c, const unsigned* vr, size_t n, const double* v, size_t m) {
  REQUIRE(n == m, "a wrong number of values");
  for (size_t i = 0; i < n; ++i) {
    const unsigned clocks = model_clocks_of(vr[i]);
    REQUIRE(c->s.mode & (INSTANTIATED | INITIALIZING | EVENT | CONTINUOUS | STEP | ACTIVATION),
            "called in a mode that does not allow it");
    REQUIRE(
        !clocks || (c->s.mode & (INSTANTIATED | INITIALIZING | ACTIVATION)) || ticks(&c->s, clocks),
        "a clocked variable is set while no clock of its ticks");
    for (int k = 0; k < model_nc; ++k)
      REQUIRE(!(clocks >> k & 1u) || !c->s.run[k], "set after its partition has run");
    *place(&c->s, vr[i]) = v[i];
    c->s.fed = c->s.fed || c->s.mode == ACTIVATION;
  }
  return OK;
}
int fmi3SetString(Instance* c, const unsigned* vr, size_t n, const char** v, size_t m) {
  REQUIRE_MODE(INSTANTIATED | INITIALIZING | EVENT | STEP | ACTIVATION);
  REQUIRE(n == 1 && m == 1 && vr[0] == 250, "a wrong text");
  snprintf(c->heard, sizeof c->heard, "%s", v[0]);
  return OK;
}
int fmi3GetString(Instance* c, const unsigned* vr, size_t n, const char** v, size_t m) {
  REQUIRE_MODE(INITIALIZING | EVENT | CONTINUOUS | STEP | ACTIVATION);
  REQUIRE(n == 1 && m == 1 && (vr[0] == 350 || vr[0] == 351), "a wrong text");
  snprintf(c->said, sizeof c->said, "%g, %s", c->s.y[2], c->heard);
  v[0] = vr[0] == 350 ? c->said : c->heard;
  return OK;
}
int fmi3SetBinary(Instance* c, const unsigned* vr, size_t n, const size_t* sizes,
                  const uint8_t* const* v, size_t m) {
  REQUIRE_MODE(EVENT);
  REQUIRE(n == 1 && m == 1 && vr[0] == 600, "wrong bytes");
  REQUIRE(ticks(&c->s, model_clocks_of(600)), "bytes are set while no clock of theirs ticks");
  for (int k = 0; k < model_nc; ++k)
    REQUIRE(!(model_clocks_of(600) >> k & 1u) || !c->s.run[k], "set after its partition has run");
  REQUIRE(sizes[0] <= sizeof c->s.bytes[0], "more bytes than there is room for");
  memcpy(c->s.bytes[0], v[0], c->s.size[0] = sizes[0]);
  return OK;
}
int fmi3GetBinary(Instance* c, const unsigned* vr, size_t n, size_t* sizes, const uint8_t** v,
                  size_t m) {
  REQUIRE_MODE(EVENT);
  REQUIRE(n == 1 && m == 1 && vr[0] == 601, "wrong bytes");
  run_active(&c->s);
  REQUIRE(ticks(&c->s, model_clocks_of(601)), "bytes are read while no clock of theirs ticks");
  sizes[0] = c->s.size[1];
  v[0] = c->s.bytes[1];
  return OK;
}
int fmi3SetClock(Instance* c, const unsigned* vr, size_t n, const bool* v) {
  REQUIRE_MODE(EVENT);
  for (size_t i = 0; i < n; ++i) {
    const int k = (int)vr[i] - 500;
    REQUIRE(model_clocks[k].kind != 'o', "an output clock is set");
    REQUIRE(v[i], "a clock is deactivated");
    REQUIRE(c->s.t > c->s.last[k] || model_clocks[k].kind != 'p', "a periodic clock ticks twice");
    REQUIRE(!strchr("cd", model_clocks[k].kind) || fabs(c->s.t - c->s.tick[k]) < 1e-9,
            "a clock ticks at another time than it was to");
    c->s.active[k] = true;
    c->s.last[k] = c->s.t;
    c->s.tick[k] = INFINITY;
  }
  return OK;
}
int fmi3GetClock(Instance* c, const unsigned* vr, size_t n, bool* v) {
  REQUIRE_MODE(EVENT | UPDATE);
  if (c->s.mode == EVENT) run_active(&c->s);
  for (size_t i = 0; i < n; ++i) {
    const int k = (int)vr[i] - 500;
    const unsigned clocks = model_clocks[k].clocks;
    REQUIRE(model_clocks[k].kind == 'o', "an input clock is asked for");
    REQUIRE(!clocks || ticks(&c->s, clocks),
            "a clocked clock is asked for while none of its ticks");
    v[i] = c->s.ticked[k];
    if (c->s.mode == UPDATE) c->s.ticked[k] = false;
  }
  return OK;
}
int fmi3GetIntervalDecimal(Instance* c, const unsigned* vr, size_t n, double* v, int* qualifiers) {
  REQUIRE_MODE(INITIALIZING | EVENT | ACTIVATION | UPDATE);
  for (size_t i = 0; i < n; ++i) {
    const int k = (int)vr[i] - 500;
    REQUIRE(strchr("acd", model_clocks[k].kind), "the interval of this clock is known");
    v[i] = c->s.interval[k];
    qualifiers[i] = c->s.qualifier[k];
    c->s.asked[k] = true;
    if (c->s.qualifier[k] != CHANGED) continue;
    c->s.tick[k] = c->s.t + c->s.interval[k];
    c->s.qualifier[k] = UNCHANGED;
  }
  return OK;
}
/* In milliseconds. */
int fmi3GetIntervalFraction(Instance* c, const unsigned* vr, size_t n, uint64_t* counters,
                            uint64_t* resolutions, int* qualifiers) {
  for (size_t i = 0; i < n; ++i) {
    double interval = 0;
    if (fmi3GetIntervalDecimal(c, &vr[i], 1, &interval, &qualifiers[i]) != OK) return ERROR;
    counters[i] = (uint64_t)llround(1000 * interval);
    resolutions[i] = 1000;
  }
  return OK;
}
int fmi3GetShiftDecimal(Instance* c, const unsigned* vr, size_t n, double* v) {
  REQUIRE_MODE(INITIALIZING);
  for (size_t i = 0; i < n; ++i) v[i] = model_shift ? model_shift((int)vr[i] - 500) : 0;
  return OK;
}
int fmi3GetShiftFraction(Instance* c, const unsigned* vr, size_t n, uint64_t* counters,
                         uint64_t* resolutions) {
  REQUIRE_MODE(INITIALIZING);
  for (size_t i = 0; i < n; ++i) {
    counters[i] = model_shift ? (uint64_t)llround(1000 * model_shift((int)vr[i] - 500)) : 0;
    resolutions[i] = 1000;
  }
  return OK;
}

static Instance* running;
void tell_clock_update(State* s) {
  if (!running) return;
  s->mode = UPDATE;
  running->update(running->environment);
  s->mode = ACTIVATION;
}
int fmi3ActivateModelPartition(Instance* c, unsigned reference, double t) {
  const int k = (int)reference - 500;
  REQUIRE_MODE(ACTIVATION);
  REQUIRE(model_clocks[k].kind != 'o', "an output clock has no partition");
  REQUIRE(t > c->s.last[k], "activated twice, or in the past");
  REQUIRE(t >= c->s.t, "time goes back");
  c->s.t = c->s.last[k] = t;
  c->s.active[k] = true;
  c->s.fed = false;
  running = c;
  c->lock();
  model_run(&c->s, k);
  c->unlock();
  running = NULL;
  c->s.active[k] = false;
  memset(c->s.ticked, 0, sizeof c->s.ticked);
  return c->s.mode == FAILED ? ERROR : OK;
}

int fmi3GetFMUState(Instance* c, void** state) {
  REQUIRE_MODE(EVENT | CONTINUOUS | STEP | ACTIVATION);
  if (!*state) *state = malloc(sizeof c->s);
  return memcpy(*state, &c->s, sizeof c->s), OK;
}
int fmi3SetFMUState(Instance* c, void* state) { return memcpy(&c->s, state, sizeof c->s), OK; }
int fmi3FreeFMUState(void* c, void** state) {
  (void)c;
  free(*state);
  return *state = NULL, OK;
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

/* Classical Runge-Kutta of order 4 over h, inputs being held. */
static void integrate(State* s, double h) {
  const double b[4] = {1, 2, 2, 1}, a[4] = {0, 0.5, 0.5, 1}, t = s->t;
  double x[MOST], k[4][MOST];
  memcpy(x, s->x, sizeof x);
  for (int j = 0; j < 4 && model_nx; ++j) {
    s->t = t + a[j] * h;
    for (int i = 0; i < model_nx; ++i) s->x[i] = x[i] + (j ? a[j] * h * k[j - 1][i] : 0);
    model_f(s, k[j]);
  }
  for (int i = 0; i < model_nx; ++i) {
    s->x[i] = x[i];
    for (int j = 0; j < 4; ++j) s->x[i] += h / 6 * b[j] * k[j][i];
  }
  s->t = t + h;
}
int fmi3DoStep(Instance* c, double t, double h, bool no_rollback, bool* event, bool* terminate,
               bool* early, double* last) {
  (void)no_rollback;
  REQUIRE_MODE(STEP);
  REQUIRE(fabs(t - c->s.t) < 1e-9, "the time is not where the last step ended");
  for (int k = 0; k < model_nc; ++k)
    REQUIRE(t + h < c->s.tick[k] + 1e-9, "the step goes over a tick that was told");
  const int parts = (int)ceil(h / 1e-3);
  for (int k = parts; k > 0; --k) integrate(&c->s, (t + h - c->s.t) / k);
  c->s.t = *last = t + h;
  *event = model_untold && model_untold(&c->s);
  return *terminate = *early = false, OK;
}
int fmi3SetTime(Instance* c, double t) {
  REQUIRE_MODE(EVENT | CONTINUOUS);
  for (int k = 0; k < model_nc; ++k)
    REQUIRE(t < c->s.tick[k] + 1e-9, "the time goes over a tick that was told");
  return c->s.t = t, OK;
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
  (void)n;
  REQUIRE_MODE(INITIALIZING | EVENT | CONTINUOUS);
  return model_f(&c->s, dx), OK;
}
