/* y = 1 below 0.5 of what it is told, else 0: at once, and nothing is told of it. x' = y - x. */
#include "model.h"
const int model_nx = 1, model_nu = 1, model_ny = 2, model_np = 0, model_nz = 0;
void model_start(State* s) { (void)s; }
void model_f(const State* s, double t, const double* x, const double* u, double* dx) {
  (void)s, (void)t;
  dx[0] = (u[0] < 0.5) - x[0];
}
void model_g(const State* s, double t, const double* x, const double* u, double* y) {
  (void)s, (void)t;
  y[0] = u[0] < 0.5;
  y[1] = x[0];
}
void model_z(const State* s, double* z) { (void)s, (void)z; }
bool model_event(State* s) { return (void)s, false; }
