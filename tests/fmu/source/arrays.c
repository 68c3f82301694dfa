/* Arrays of three: x' = A x + u with coupled entries, y = x + u / 10, z = sum of x. */
#include "model.h"
const int model_nx = 3, model_nu = 3, model_ny = 4, model_np = 0, model_nz = 0;
void model_start(State* s) {
  for (int i = 0; i < 3; ++i) s->x[i] = 1 + i;
}
void model_f(const State* s, double t, const double* x, const double* u, double* dx) {
  (void)s, (void)t;
  dx[0] = -x[0] + x[1] + u[0];
  dx[1] = -2 * x[1] + x[2] + u[1];
  dx[2] = -x[2] - x[0] + u[2];
}
void model_g(const State* s, double t, const double* x, const double* u, double* y) {
  (void)s, (void)t;
  for (int i = 0; i < 3; ++i) y[i] = x[i] + u[i] / 10;
  y[3] = x[0] + x[1] + x[2];
}
void model_z(const State* s, double* z) { (void)s, (void)z; }
bool model_event(State* s) { return (void)s, false; }
int model_size(unsigned r) { return r == 0 || r == 100 || r == 200 || r == 300 ? 3 : 1; }
