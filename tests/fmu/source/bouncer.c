/* A ball that bounces on a table, whose height and speed are inputs, and counts. It sees an impact
 * only where it has come through the table, downwards. */
#include "model.h"
const int model_nx = 2, model_nu = 2, model_ny = 3, model_np = 2, model_nz = 1;
void model_start(State* s) {
  s->x[0] = 1;
  s->p[0] = 9.81;
  s->p[1] = 0.8;
}
void model_f(const State* s, double t, const double* x, const double* u, double* dx) {
  (void)t, (void)u;
  dx[0] = x[1];
  dx[1] = -s->p[0];
}
void model_g(const State* s, double t, const double* x, const double* u, double* y) {
  (void)t, (void)u;
  y[0] = x[0];
  y[1] = x[1];
  y[2] = (double)s->count;
}
void model_z(const State* s, double* z) {
  double u[MOST];
  inputs_at(s, s->t, u);
  z[0] = s->x[0] - u[0];
}
bool model_event(State* s) {
  double u[MOST], z;
  inputs_at(s, s->t, u);
  model_z(s, &z);
  if (z > 0 || s->x[1] >= u[1]) return false;
  s->x[1] = (1 + s->p[1]) * u[1] - s->p[1] * s->x[1];
  ++s->count;
  return true;
}
