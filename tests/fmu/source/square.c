/* A square wave and a sawtooth of time, and x' = u - x; nothing is told of their jumps. */
#include "model.h"
#ifndef HALF
#define HALF 0.737
#endif
const int model_nx = 1, model_nu = 1, model_ny = 3, model_np = 0, model_nz = 0;
void model_start(State* s) { s->x[0] = 0; }
void model_f(const State* s, double t, const double* x, const double* u, double* dx) {
  (void)s, (void)t;
  dx[0] = u[0] - x[0];
}
void model_g(const State* s, double t, const double* x, const double* u, double* y) {
  (void)s, (void)u;
  const double n = floor(t / HALF);
  y[0] = fmod(n, 2) == 0 ? 1 : -1;
  y[1] = t - n * HALF;
  y[2] = x[0];
}
void model_z(const State* s, double* z) { (void)s, (void)z; }
bool model_event(State* s) { return (void)s, false; }
