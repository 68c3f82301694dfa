/* A test model: x' = f(t,x,u,p), y = g(t,x,u,p), and the state of an instance.
 * References: states 0.., derivatives 100.., inputs 200.., outputs 300.., parameters 400.., each
 * standing for as many entries as model_size says.
 *
 * The interfaces are strict: what the standards forbid returns error, and says so on stderr after
 * "STRICT:". With CALLS defined as a path, an instance appends the numbers of its calls there. */
#ifndef MODEL_H
#define MODEL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 8
enum {
  BEHAVES,
  FORGETS,
  DISCARDS,
  FATAL,
  NAN_OUTPUT,
  CRASHES,
  FLOODS,
  RETURNS_EARLY,
  REFUSES,
  CRASHES_LATER,
  DRIFTS,
  SLEEPS,
  HANGS,
  ENDS,
  OWN_CLOCK,
  LOSES_STATE,
  NO_DIRECTIONALS,
  NO_LATER_DIRECTIONALS,
  WRONG_DIRECTIONALS, /* of outputs */
  FROZEN,
  NAN_TIME,
  REFUSES_EVENTS,
  REFUSES_START,
  NO_RESTORES,
  NO_EVENT_MODE,
  RESETS_IN_SETUP,
  KEEPS_NOTHING,
  FREEZES,
  CRASHES_IN_SAVE,
  RESETS_IN_SAVE /* where it has saved before */
};
#ifndef BEHAVIOUR
#define BEHAVIOUR BEHAVES
#endif
#ifndef INPUT_ORDER
#define INPUT_ORDER 3
#endif
#ifndef LATER
#define LATER 0.5
#endif
#ifndef SUBSTEP
#define SUBSTEP 2e-4
#endif

/* Modes of the standards' state machines; every function checks that it may be called. */
typedef enum {
  INSTANTIATED = 1,
  INITIALIZING = 2,
  EVENT = 4,
  CONTINUOUS = 8,
  STEP = 16,
  UPDATE = 32,
  OVER = 64,
  CONFIGURING = 128,
  FAILED = 256 /* after error: only a state that was saved leads out of it */
} Mode;

/* What is counted. */
enum { STEPS, SETS, GETS, DIRECTIONALS, EVENTS, COMPLETED, RESTORES, TALLIES };

typedef struct {
  Mode mode;
  bool fed;          /* an input was set since the last step */
  double event_time; /* of the last event or completed step: time must not go back beyond it */
  double stop;       /* time must not go beyond it */
  double t, x[MOST], u[MOST], du[MOST][3], u_time, p[MOST], step, next, own_time;
  bool above[MOST]; /* indicators, where the last step or event ended */
  int64_t count;
} State;

extern const int model_nx, model_nu, model_ny, model_np, model_nz;
void model_start(State* s);
void model_f(const State* s, double t, const double* x, const double* u, double* dx);
void model_g(const State* s, double t, const double* x, const double* u, double* y);
void model_z(const State* s, double* z);
/* Handles an event, returns whether the states jumped. */
bool model_event(State* s);
/* Only where a model has them: the next time event; whether the step just completed makes an event;
 * the inputs, as bits, that only events may change. */
double model_next_time(const State* s) __attribute__((weak));
bool model_step_event(State* s) __attribute__((weak));
/* What the inputs make of the states while the FMU initialises. */
void model_initial(State* s) __attribute__((weak));
unsigned model_discrete(void) __attribute__((weak));
/* Number of entries, and type (one of "rfibe": real, single, integer, Boolean, enumeration), of a
 * reference where they are not 1 and 'r'. */
int model_size(unsigned reference) __attribute__((weak));
char model_type(unsigned reference) __attribute__((weak));

static inline int size_of(unsigned reference) { return model_size ? model_size(reference) : 1; }
static inline char type_of(unsigned reference) { return model_type ? model_type(reference) : 'r'; }
static inline bool is_discrete(unsigned reference) {
  return reference >= 200 && reference < 300 && model_discrete &&
         (model_discrete() >> (reference - 200) & 1u);
}

/* "STRICT: why" */
static inline const char* complain(const char* function, const char* why) {
  if (why && BEHAVIOUR != DRIFTS) fprintf(stderr, "STRICT: %s: %s\n", function, why);
  return why;
}
static inline void write_calls(const long* calls) {
#ifdef CALLS
  FILE* file = fopen(CALLS, "a");
  for (int i = 0; file && i < TALLIES; ++i) fprintf(file, "%ld ", calls[i]);
  if (file) fprintf(file, "\n"), fclose(file);
#else
  (void)calls;
#endif
}

/* Why a function must not be called now, or NULL. */
static inline const char* misuse(const State* s, unsigned allowed) {
  if (s->mode & allowed) return NULL;
  return s->mode == FAILED ? "called after an error" : "called in a mode that does not allow it";
}
static inline const char* misuse_of_set(const State* s, unsigned reference) {
  const unsigned before = INSTANTIATED | INITIALIZING;
  const bool input = reference >= 200 && reference < 300;
  const bool discrete = is_discrete(reference);
#ifdef TUNABLE
  if (reference >= 400)
    return s->mode & (before | STEP | EVENT) ? NULL : "a parameter is not to be set now";
#endif
  if (s->mode & (before | STEP | EVENT)) return !input && !(s->mode & before) ? "fixed" : NULL;
  return input && !discrete && (s->mode & (CONTINUOUS | UPDATE)) ? NULL : "not to be set now";
}
/* After initialisation an output must not be read between a set and a step. */
static inline const char* misuse_of_get(const State* s) {
  if (s->mode == STEP && s->fed) return "read after a set without a step between";
  return misuse(s, INITIALIZING | EVENT | CONTINUOUS | STEP | UPDATE | OVER);
}
static inline const char* misuse_of_time(const State* s, double t) {
  if (t < s->event_time) return "time goes back over an event or a completed step";
  if (t > s->stop + 1e-12 * fabs(s->stop)) return "time goes beyond stopTime";
  return misuse(s, EVENT | CONTINUOUS);
}
/* Directional derivatives and those of inputs and outputs are there for continuous reals only. */
static inline const char* misuse_of_derivative(const unsigned* references, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (!strchr("rf", type_of(references[i])) || is_discrete(references[i]))
      return "derivatives of or by a variable that is no continuous real";
  return NULL;
}
static inline const char* misuse_of_type(unsigned reference, const char* types) {
  return strchr(types, type_of(reference)) ? NULL : "a variable of another type";
}
static inline const char* misuse_of_step(State* s, double t, double h) {
  if (!(h > 0)) return "the step size is not positive";
  if (fabs(t - s->own_time) > 1e-9) return "the time is not where the last step ended";
  if (t + h > s->stop + 1e-9 * (1 + fabs(s->stop))) return "the step goes beyond stopTime";
#ifdef LEAST_STEP
  if (h < LEAST_STEP) return "the step is too short";
#endif
#ifdef ONE_STEP_SIZE
  if (s->step > 0 && fabs(h - s->step) > 1e-6 * h) return "the step size has changed";
  s->step = h;
#endif
  return misuse(s, STEP);
}
/* Who waits for it to hang is told by a file. */
static inline void tell_that_it_hangs(void) {
  const char* path = getenv("FMU_HANGS");
  FILE* file = path ? fopen(path, "w") : NULL;
  if (file) fclose(file);
}

/* What a step of an FMU that misbehaves does beside stepping. */
static inline void misbehave_in_step(double end) {
  const struct timespec nap = {0, 100000000};
  if (BEHAVIOUR == CRASHES_LATER && end > 0.5) *(volatile int*)NULL = 1;
  if (BEHAVIOUR == SLEEPS) nanosleep(&nap, NULL);
  if (BEHAVIOUR == HANGS && end > 0.5) tell_that_it_hangs();
  while (BEHAVIOUR == HANGS && end > 0.5) nanosleep(&nap, NULL);
}

/* As long as it may be set back, or for ever once it was. */
static inline bool stands_still(const long* calls, bool no_rollback) {
  return (BEHAVIOUR == FROZEN && !no_rollback) || (BEHAVIOUR == FREEZES && calls[RESTORES] > 0);
}

/* Inputs at t from values and derivatives. */
static inline void inputs_at(const State* s, double t, double* u) {
  const double d = t - s->u_time;
  for (int i = 0; i < model_nu; ++i)
    u[i] = s->u[i] + d * (s->du[i][0] + d / 2 * (s->du[i][1] + d / 3 * s->du[i][2]));
}

/* Classical Runge-Kutta of order 4. */
static inline void substep(State* s, double h) {
  double u[MOST], k[4][MOST], x[MOST];
  const double c[4] = {0, 0.5, 0.5, 1};
  for (int stage = 0; stage < 4; ++stage) {
    inputs_at(s, s->t + c[stage] * h, u);
    for (int i = 0; i < model_nx; ++i)
      x[i] = s->x[i] + (stage ? c[stage] * h * k[stage - 1][i] : 0.0);
    model_f(s, s->t + c[stage] * h, x, u, k[stage]);
  }
  for (int i = 0; i < model_nx; ++i)
    s->x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
  s->t += h;
}

/* What event mode is entered for: indicators that were positive and no longer are. */
static inline bool has_crossed(const State* s) {
  double z[MOST];
  bool any = false;
  model_z(s, z);
  for (int j = 0; j < model_nz; ++j) any = any || (s->above[j] && z[j] <= 0);
  return any;
}
static inline void note_signs(State* s) {
  double z[MOST];
  model_z(s, z);
  for (int j = 0; j < model_nz; ++j) s->above[j] = z[j] > 0;
}

/* Whether a substep of size h, or an input before it, crosses an event. */
static inline bool crosses(const State* s, double h) {
  State trial = *s;
  if (h > 0) substep(&trial, h);
  return has_crossed(&trial);
}

/* The part of the substep up to behind the event that it crosses; none where an input has. */
static inline void substep_to_event(State* s, double h) {
  double a = 0, b = h;
  if (crosses(s, 0)) return;
  for (int i = 0; i < 60 && s->t + a < s->t + b; ++i) {
    const double middle = 0.5 * (a + b);
    if (crosses(s, middle))
      b = middle;
    else
      a = middle;
  }
  substep(s, b);
}

/* Substeps to the end, with events at their ends, update, if any, being called before each. Where
 * event mode is there for events, to the first of them: true. */
static inline bool integrate(State* s, double end, bool event_mode, void (*update)(void*, double),
                             void* data) {
  const double begin = s->t;
  const long n = (long)ceil((end - begin) / SUBSTEP - 1e-9);
  double z[MOST];
  for (long i = 0; i < n; ++i) {
    if (update) update(data, s->t);
    const double next = i + 1 == n ? end : begin + (end - begin) * (double)(i + 1) / (double)n;
    if (event_mode && crosses(s, next - s->t)) return substep_to_event(s, next - s->t), true;
    substep(s, next - s->t);
    s->t = next;
    note_signs(s);
    model_z(s, z);
    for (int j = 0; j < model_nz; ++j)
      if (z[j] <= 0) model_event(s);
    if (!event_mode && model_next_time && s->t >= model_next_time(s) - 1e-9) {
      s->t = model_next_time(s);
      model_event(s);
      s->t = next;
    }
  }
  return false;
}

/* With INTERNAL_STEP defined, steps of that size and no others, whatever is asked for. */
static inline double end_of_steps(const State* s, double end) {
#ifdef INTERNAL_STEP
  const double n = floor((end - s->t) / INTERNAL_STEP + 1e-6);
  return s->t + n * INTERNAL_STEP;
#else
  return (void)s, end;
#endif
}

/* The value that a reference stands for; derivatives and outputs are computed. */
static inline double value_of(const State* s, unsigned reference) {
  double u[MOST], result[MOST];
  if (reference >= 400) return s->p[reference - 400];
  if (reference >= 200 && reference < 300) return s->u[reference - 200];
  inputs_at(s, s->t, u);
  if (reference >= 300) {
    model_g(s, s->t, s->x, u, result);
    if (BEHAVIOUR == NAN_OUTPUT && s->t > 0.5) return NAN;
    return result[reference - 300];
  }
  model_f(s, s->t, s->x, u, result);
  return reference >= 100 ? result[reference - 100] : s->x[reference];
}

static inline int set_value(State* s, unsigned reference, double value) {
  const bool initializing = (s->mode & (INSTANTIATED | INITIALIZING)) != 0;
  if (reference >= 400) {
    s->p[reference - 400] = value;
    s->fed = s->fed || s->mode == STEP;
  } else if (reference >= 200 && reference < 300) {
    s->u[reference - 200] = value;
    memset(s->du[reference - 200], 0, sizeof s->du[0]);
    s->u_time = s->t;
    s->fed = true;
    if (initializing && model_initial) model_initial(s);
  } else if (reference < 100) {
    s->x[reference] = value;
  } else {
    return 1;
  }
  return 0;
}

/* d unknown / d known by a difference that is exact for linear models. */
static inline double partial(const State* s, unsigned unknown, unsigned known) {
  State low = *s, high = *s;
  const double step = 1e-4;
  if (BEHAVIOUR == WRONG_DIRECTIONALS && unknown >= 300) return 0;
  double* entry_low = known >= 200 ? &low.u[known - 200] : &low.x[known];
  double* entry_high = known >= 200 ? &high.u[known - 200] : &high.x[known];
  *entry_low -= step;
  *entry_high += step;
  return (value_of(&high, unknown) - value_of(&low, unknown)) / (2 * step);
}

#endif
