/* Inputs of every kind: x' = u - x + gain n + (on ? d : 0), where the level, an enumeration, is the
 * gain; n, on, d and the level change at events only. y = x + u, count = n + 1, high says whether n
 * exceeds 2, next_level is the level's neighbour. An input that must be whole and is not leaves its
 * trace in `broken`. */
#include "model.h"
const int model_nx = 1, model_nu = 5, model_ny = 5, model_np = 0, model_nz = 0;
void model_start(State* s) {
  s->x[0] = 0.5;
  s->u[1] = s->u[2] = s->u[4] = 1;
}
void model_f(const State* s, double t, const double* x, const double* u, double* dx) {
  (void)s, (void)t;
  dx[0] = u[0] - x[0] + u[4] * u[1] + (u[2] != 0 ? u[3] : 0);
}
void model_g(const State* s, double t, const double* x, const double* u, double* y) {
  (void)s, (void)t;
  y[0] = x[0] + u[0];
  y[1] = u[1] + 1;
  y[2] = u[1] > 2;
  y[3] = u[4] == 2 ? 1 : 2;
  y[4] = u[3] != floor(u[3]);
}
void model_z(const State* s, double* z) { (void)s, (void)z; }
bool model_event(State* s) { return (void)s, false; }
unsigned model_discrete(void) { return 30; }
char model_type(unsigned r) {
  switch (r) {
    case 201:
    case 301:
      return 'i';
    case 202:
    case 302:
      return 'b';
    case 204:
    case 303:
      return 'e';
    default:
      return 'r';
  }
}
