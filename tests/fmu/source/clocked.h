/* A test model with clocks: what is in it, and the state of an instance.
 * References: states 0.., derivatives 100.., inputs 200.., outputs 300.., clocks 500... All but the
 * clocks are Float64.
 *
 * The interface (clocked.c) is strict: what FMI 3.0.2 forbids returns error, and says so on stderr
 * after "STRICT:". */
#ifndef CLOCKED_H
#define CLOCKED_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 8
enum { NOT_YET_KNOWN, UNCHANGED, CHANGED };

typedef struct {
  int mode;
  double t, x[MOST], u[MOST], y[MOST], d[MOST]; /* d: discrete states */
  double interval[MOST];
  int qualifier[MOST]; /* of intervals */
  bool active[MOST];   /* input clocks, in the present instant */
  bool ticked[MOST];   /* output clocks, which are asked for once */
  bool run[MOST];      /* model partitions, in the present instant */
  bool asked[MOST];    /* countdown clocks, in the present event mode */
  bool fed;            /* scheduled: set since the last activation */
  double last[MOST];   /* activation, s */
  double tick[MOST];   /* of a countdown or changing clock: what was told, s; infinity: nothing */
  unsigned char bytes[2][512]; /* input 600 and output 601 */
  size_t size[2];
} State;

typedef struct {
  char kind; /* p: periodic, a: periodic and asked for, c: changing, d: countdown, t: triggered, o:
                output */
  unsigned clocks; /* of the clock itself: bits of the clocks at whose ticks alone it can tick */
} Clock;

extern const int model_nx, model_nc;
extern const Clock model_clocks[];
void model_start(State* s);
/* The clocks, as bits, at whose ticks alone an input or output changes; 0: none. */
unsigned model_clocks_of(unsigned reference);
/* The partition of clock k at time s->t: may change y, d, ticked, intervals (with set_interval). */
void model_run(State* s, int k);
void model_f(const State* s, double* dx) __attribute__((weak));
/* Outputs that no clock is said of. */
void model_g(State* s) __attribute__((weak));
/* What happens in event mode without a clock. */
void model_event(State* s) __attribute__((weak));
double model_next_time(const State* s) __attribute__((weak));
/* Before anything else in a super-dense instant: which output clocks tick. */
void model_instant(State* s) __attribute__((weak));
/* Behind one: whether there is another. */
bool model_goes_on(State* s) __attribute__((weak));
/* Behind a step in co-simulation: whether something has happened that nobody was told of. */
bool model_untold(const State* s) __attribute__((weak));
/* Of a clock that is asked for: its shift. */
double model_shift(int k) __attribute__((weak));

static inline void set_interval(State* s, int k, double interval) {
  s->interval[k] = interval;
  s->qualifier[k] = CHANGED;
}
/* Says to whoever runs partitions that output clocks tick or intervals are known. */
void tell_clock_update(State* s);

#endif
