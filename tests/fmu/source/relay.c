/* Heat that is on below 0.3 and off above 0.7 of the temperature that it is told, and
 * x' = heat - x; nothing is told of its switching. */
#include "model.h"
const int model_nx = 1, model_nu = 1, model_ny = 2, model_np = 0, model_nz = 1;
void model_start(State* s) { s->count = 1; }
void model_f(const State* s, double t, const double* x, const double* u, double* dx) {
  (void)t, (void)u;
  dx[0] = (double)s->count - x[0];
}
void model_g(const State* s, double t, const double* x, const double* u, double* y) {
  (void)t, (void)u;
  y[0] = (double)s->count;
  y[1] = x[0];
}
void model_z(const State* s, double* z) {
  double u[MOST];
  inputs_at(s, s->t, u);
  z[0] = s->count ? 0.7 - u[0] : u[0] - 0.3;
}
bool model_event(State* s) {
  double z;
  model_z(s, &z);
  if (z <= 0) s->count = !s->count;
  return false;
}
