/* The right one of the two masses: gives the coupling force. */
#include "model.h"
const int model_nx = 2, model_nu = 2, model_ny = 3, model_np = 5, model_nz = 0;
void model_start(State* s) {
  const double x[] = {3, 0}, p[] = {80, 1e5, 40, 1e4, 10};
  memcpy(s->x, x, sizeof x);
  memcpy(s->p, p, sizeof p);
  s->u[0] = 1;
}
static double force(const State* s, const double* x, const double* u) {
  return s->p[3] * (x[0] - u[0]) + s->p[4] * (x[1] - u[1]);
}
void model_f(const State* s, double t, const double* x, const double* u, double* dx) {
  (void)t;
  dx[0] = x[1];
  dx[1] = (-s->p[1] * x[0] - s->p[2] * x[1] - force(s, x, u)) / s->p[0];
}
void model_g(const State* s, double t, const double* x, const double* u, double* y) {
  (void)t;
  y[0] = force(s, x, u);
  y[1] = x[0];
  y[2] = x[1];
}
void model_z(const State* s, double* z) { (void)s, (void)z; }
bool model_event(State* s) { return (void)s, false; }
