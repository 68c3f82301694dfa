/* A ball that bounces on the floor and counts. */
#include "model.h"
const int model_nx = 2, model_nu = 1, model_ny = 3, model_np = 2, model_nz = 1;
void model_start(State* s) {
  s->x[0] = 1;
  s->p[0] = 9.81;
  s->p[1] = 0.7;
}
void model_f(const State* s, double t, const double* x, const double* u, double* dx) {
  (void)t;
  dx[0] = x[1];
  dx[1] = u[0] - s->p[0];
}
void model_g(const State* s, double t, const double* x, const double* u, double* y) {
  (void)t, (void)u;
  y[0] = x[0];
  y[1] = x[1];
  y[2] = (double)s->count;
}
void model_z(const State* s, double* z) { z[0] = s->x[0]; }
bool model_event(State* s) {
  if (s->x[0] > 1e-9 || s->x[1] >= 0) return false;
  s->x[0] = 0;
  s->x[1] *= -s->p[1];
  ++s->count;
  return true;
}
