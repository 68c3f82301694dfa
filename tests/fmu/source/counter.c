/* x' = 1 + u; a completed step with x > 1 makes an event that takes 1 away and counts. */
#include "model.h"
const int model_nx = 1, model_nu = 1, model_ny = 2, model_np = 0, model_nz = 0;
void model_start(State* s) { (void)s; }
void model_f(const State* s, double t, const double* x, const double* u, double* dx) {
  (void)s, (void)t, (void)x;
  dx[0] = 1 + u[0];
}
void model_g(const State* s, double t, const double* x, const double* u, double* y) {
  (void)t, (void)u;
  y[0] = x[0];
  y[1] = (double)s->count;
}
void model_z(const State* s, double* z) { (void)s, (void)z; }
bool model_event(State* s) {
  const bool now = s->x[0] > 1;
  if (now) s->x[0] -= 1, ++s->count;
  return now;
}
bool model_step_event(State* s) { return s->x[0] > 1; }
