/* A test model: x' = f(t,x,u,p), y = g(t,x,u,p), and the state of an instance.
 * References: states 0.., derivatives 100.., inputs 200.., outputs 300.., parameters 400.. */
#ifndef MODEL_H
#define MODEL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 8
enum {
  BEHAVES,
  FORGETS,
  DISCARDS,
  FATAL,
  NAN_OUTPUT,
  FIXED_STEP,
  CRASHES,
  FLOODS,
  RETURNS_EARLY,
  REFUSES
};
#ifndef BEHAVIOUR
#define BEHAVIOUR BEHAVES
#endif
#ifndef SUBSTEP
#define SUBSTEP 2e-4
#endif

typedef struct {
  double t, x[MOST], u[MOST], du[MOST][3], u_time, p[MOST], step;
  int64_t count;
} State;

extern const int model_nx, model_nu, model_ny, model_np, model_nz;
void model_start(State* s);
void model_f(const State* s, double t, const double* x, const double* u, double* dx);
void model_g(const State* s, double t, const double* x, const double* u, double* y);
void model_z(const State* s, double* z);
/* Handles an event, returns whether the states jumped. */
bool model_event(State* s);

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

/* Substeps to the end, with events at their ends; update, if any, is called before each. */
static inline void integrate(State* s, double end, void (*update)(void*, double), void* data) {
  const double begin = s->t;
  const long n = (long)ceil((end - begin) / SUBSTEP - 1e-9);
  double z[MOST];
  for (long i = 0; i < n; ++i) {
    if (update) update(data, s->t);
    const double next = i + 1 == n ? end : begin + (end - begin) * (double)(i + 1) / (double)n;
    substep(s, next - s->t);
    s->t = next;
    model_z(s, z);
    for (int j = 0; j < model_nz; ++j)
      if (z[j] <= 0) model_event(s);
  }
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
  if (reference >= 400) {
    s->p[reference - 400] = value;
  } else if (reference >= 200 && reference < 300) {
    s->u[reference - 200] = value;
    memset(s->du[reference - 200], 0, sizeof s->du[0]);
    s->u_time = s->t;
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
  double* entry_low = known >= 200 ? &low.u[known - 200] : &low.x[known];
  double* entry_high = known >= 200 ? &high.u[known - 200] : &high.x[known];
  *entry_low -= step;
  *entry_high += step;
  return (value_of(&high, unknown) - value_of(&low, unknown)) / (2 * step);
}

#endif
