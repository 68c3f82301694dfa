/* A sampled controller: at ticks of clock 500 u = 2 e + I, then I += 0.05 e with e = 1 - y. Its
 * interval and shift stand in the description, or are asked for (ASKED): 0.1 s and 0.02 s. A state,
 * which what it puts out moves, and an output of it go on between the ticks. */
#include "clocked.h"
#ifndef KIND
#define KIND 'p'
#endif
#ifndef INTERVAL
#define INTERVAL 0.1
#endif
#ifndef SHIFT
#define SHIFT 0.02
#endif
#ifndef QUALIFIER
#define QUALIFIER CHANGED
#endif
const int model_nx = 1, model_nc = 1;
const Clock model_clocks[] = {{KIND, 0}};
void model_start(State* s) {
  s->interval[0] = INTERVAL;
  s->qualifier[0] = QUALIFIER;
}
unsigned model_clocks_of(unsigned reference) { return reference == 200 || reference == 300; }
void model_run(State* s, int k) {
  (void)k;
  const double e = 1 - s->u[0];
  s->y[0] = 2 * e + s->d[0];
  s->d[0] += 0.05 * e;
  s->d[1] += 1;
  if (KIND == 'c') set_interval(s, 0, INTERVAL);
#ifdef LATER
  if (KIND == 'a' && s->d[1] == 5) set_interval(s, 0, LATER);
#endif
}
void model_f(const State* s, double* dx) { dx[0] = s->y[0] - s->x[0]; }
void model_g(State* s) { s->y[1] = s->x[0]; }
double model_shift(int k) { return (void)k, SHIFT; }
