/* Inputs and outputs of type Float32: x' = u - x, y = x. */
#include "model.h"
const int model_nx = 1, model_nu = 1, model_ny = 2, model_np = 0, model_nz = 0;
void model_start(State* s) { s->x[0] = 0; }
void model_f(const State* s, double t, const double* x, const double* u, double* dx) {
  (void)s, (void)t;
  dx[0] = u[0] - x[0];
}
void model_g(const State* s, double t, const double* x, const double* u, double* y) {
  (void)s, (void)t, (void)u;
  y[0] = y[1] = x[0];
}
void model_z(const State* s, double* z) { (void)s, (void)z; }
bool model_event(State* s) { return (void)s, false; }
#ifndef FMI2
char model_type(unsigned r) { return r == 200 || r == 300 ? 'f' : 'r'; }
#endif
