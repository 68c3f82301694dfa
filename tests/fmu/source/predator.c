/* x' = growth x u - death x */
#include "model.h"
const int model_nx = 1, model_nu = 1, model_ny = 1, model_np = 2, model_nz = 0;
void model_start(State* s) { s->x[0] = s->u[0] = s->p[0] = s->p[1] = 1; }
void model_f(const State* s, double t, const double* x, const double* u, double* dx) {
  (void)t;
  dx[0] = s->p[1] * x[0] * u[0] - s->p[0] * x[0];
}
void model_g(const State* s, double t, const double* x, const double* u, double* y) {
  (void)s, (void)t, (void)u;
  y[0] = x[0];
}
void model_z(const State* s, double* z) { (void)s, (void)z; }
bool model_event(State* s) { return (void)s, false; }
