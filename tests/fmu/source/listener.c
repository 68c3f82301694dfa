/* A triggered input clock (500): at its ticks output 300 counts them, and output 301 is input 200.
 */
#include "clocked.h"
const int model_nx = 0, model_nc = 1;
const Clock model_clocks[] = {{'t', 0}};
void model_start(State* s) { s->y[1] = -1; }
unsigned model_clocks_of(unsigned reference) { return reference >= 200 && reference < 400; }
void model_run(State* s, int k) {
  (void)k;
  s->y[0] += 1;
  s->y[1] = s->u[0];
}
