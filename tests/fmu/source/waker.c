/* A countdown clock (500) that sets itself: first after 0.05 s (FIRST), then after 0.1, 0.2, 0.1,
 * 0.2 ... s, counted in output 300. At every second tick (CALLS) the output clock 501 ticks, with
 * output 301, which is 10 times the count then. */
#include "clocked.h"
#ifndef FIRST
#define FIRST 0.05
#endif
#ifndef CALLS
#define CALLS 2
#endif
const int model_nx = 0, model_nc = 2;
const Clock model_clocks[] = {{'d', 0}, {'o', 1}};
void model_start(State* s) { set_interval(s, 0, FIRST); }
unsigned model_clocks_of(unsigned reference) {
  return reference == 300 ? 1 : reference == 301 ? 2 : 0;
}
void model_run(State* s, int k) {
  (void)k;
  const int n = (int)(s->y[0] += 1);
#ifdef NEXT
  set_interval(s, 0, NEXT);
#else
  set_interval(s, 0, n % 2 ? 0.1 : 0.2);
#endif
  if (n % CALLS) return;
  s->ticked[1] = true;
  s->y[1] = 10 * n;
}
