/* y = x and a step of 1 at t = AT, and another of 1 GAP later; x' = u - x. Nothing is told of
 * them. */
#include "model.h"
#ifndef AT
#define AT 1.0
#endif
#ifndef GAP
#define GAP 1e-3
#endif
const int model_nx = 1, model_nu = 1, model_ny = 1, model_np = 0, model_nz = 0;
void model_start(State* s) { s->x[0] = 0; }
void model_f(const State* s, double t, const double* x, const double* u, double* dx) {
  (void)s, (void)t;
  dx[0] = u[0] - x[0];
}
void model_g(const State* s, double t, const double* x, const double* u, double* y) {
  (void)s, (void)u;
  y[0] = x[0] + (t >= AT) + (t >= AT + GAP);
}
void model_z(const State* s, double* z) { (void)s, (void)z; }
bool model_event(State* s) { return (void)s, false; }
