/* x' = -sign(x) once x has come to 0, within 1e-9: one event after the other. */
#include "model.h"
const int model_nx = 1, model_nu = 1, model_ny = 1, model_np = 0, model_nz = 1;
void model_start(State* s) {
  s->x[0] = 0.5;
  s->next = -1;
}
void model_f(const State* s, double t, const double* x, const double* u, double* dx) {
  (void)t, (void)x;
  dx[0] = s->next + u[0];
}
void model_g(const State* s, double t, const double* x, const double* u, double* y) {
  (void)s, (void)t, (void)u;
  y[0] = x[0];
}
void model_z(const State* s, double* z) { z[0] = 1e-9 + (s->next < 0 ? s->x[0] : -s->x[0]); }
bool model_event(State* s) {
  double z;
  model_z(s, &z);
  if (z <= 0) s->next = -s->next;
  return false;
}
