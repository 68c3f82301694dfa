/* An event at the very start moves the output by 3: y = x + level, x' = u, and x begins where the
 * input is when initialisation ends. */
#include "model.h"
const int model_nx = 1, model_nu = 1, model_ny = 1, model_np = 0, model_nz = 0;
void model_start(State* s) { s->x[0] = 0; }
void model_initial(State* s) { s->x[0] = s->u[0]; }
void model_f(const State* s, double t, const double* x, const double* u, double* dx) {
  (void)s, (void)t, (void)x;
  dx[0] = u[0];
}
void model_g(const State* s, double t, const double* x, const double* u, double* y) {
  (void)t, (void)u;
  y[0] = x[0] + 3 * (double)s->count;
}
void model_z(const State* s, double* z) { (void)s, (void)z; }
bool model_event(State* s) { return s->count = 1, false; }
