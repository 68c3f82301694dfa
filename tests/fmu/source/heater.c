/* A room that a heater with two switching points warms: T' = q on - T, on at T = low and off at
 * T = high, with a sensor that follows within 1/L s. Stiff for a large L, with state events. */
#include "model.h"
#ifndef STIFFNESS
#define STIFFNESS 1e5
#endif
const int model_nx = 2, model_nu = 1, model_ny = 3, model_np = 4, model_nz = 1;
void model_start(State* s) {
  const double p[] = {1, 0.2, 0.7, STIFFNESS};
  memcpy(s->p, p, sizeof p);
  s->x[0] = s->x[1] = 0.5;
  s->next = 1;
}
void model_f(const State* s, double t, const double* x, const double* u, double* dx) {
  (void)t;
  dx[0] = s->p[0] * s->next - x[0] + u[0];
  dx[1] = s->p[3] * (x[0] - x[1]);
}
void model_g(const State* s, double t, const double* x, const double* u, double* y) {
  (void)t, (void)u;
  y[0] = x[0];
  y[1] = x[1];
  y[2] = (double)s->count;
}
void model_z(const State* s, double* z) {
  z[0] = s->next > 0 ? s->p[2] - s->x[0] : s->x[0] - s->p[1];
}
bool model_event(State* s) {
  double z;
  model_z(s, &z);
  if (z > 1e-12) return false;
  s->next = 1 - s->next;
  ++s->count;
  return false;
}
