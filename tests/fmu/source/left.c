/* A mass on a spring and a damper, driven by a force: the left one of the two masses. */
#include "model.h"
const int model_nx = 2, model_nu = 1, model_ny = 2, model_np = 3, model_nz = 0;
void model_start(State* s) {
  const double x[] = {1, 0}, p[] = {5, 1e4, 10};
  memcpy(s->x, x, sizeof x);
  memcpy(s->p, p, sizeof p);
  s->u[0] = 20000;
}
void model_f(const State* s, double t, const double* x, const double* u, double* dx) {
  (void)t;
  dx[0] = x[1];
  dx[1] = (u[0] - s->p[1] * x[0] - s->p[2] * x[1]) / s->p[0];
}
void model_g(const State* s, double t, const double* x, const double* u, double* y) {
  (void)s, (void)t, (void)u;
  y[0] = x[0];
  y[1] = x[1];
}
void model_z(const State* s, double* z) { (void)s, (void)z; }
bool model_event(State* s) { return (void)s, false; }
