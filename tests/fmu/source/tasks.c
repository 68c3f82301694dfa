/* Scheduled execution: tasks of the clocks 500 (fast), 501 (slow, which comes first), 502 (late: a
 * countdown of 0.05 s from each slow one on, unless NOW: at once), output clock 503 with each
 * second slow one. Output 300 is the order in which tasks have run at the last instant (1 fast, 2
 * slow, 3 late), 301 the sum of input 200 at fast ones, 302 the number of slow ones, 303 of all. */
#include "clocked.h"
const int model_nx = 0, model_nc = 4;
const Clock model_clocks[] = {{'p', 0}, {'p', 0}, {'d', 0}, {'o', 2}};
void model_start(State* s) { s->d[0] = -INFINITY; }
unsigned model_clocks_of(unsigned reference) {
  return reference == 200 || reference == 301 ? 1 : reference == 302 ? 2 : 0;
}
void model_run(State* s, int k) {
  s->y[0] = s->t > s->d[0] ? k + 1 : 10 * s->y[0] + k + 1;
  s->d[0] = s->t;
  s->y[3] += 1;
  if (k == 0) s->y[1] += s->u[0];
  if (k != 1) return;
  s->y[2] += 1;
#ifdef NOW
  set_interval(s, 2, 0);
#else
  set_interval(s, 2, 0.05);
#endif
  s->ticked[3] = (int)s->y[2] % 2 == 0;
  tell_clock_update(s);
}
