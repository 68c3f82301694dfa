/* y = 3 u; beside it a count of half seconds, which is a whole number (n) and a real (m). */
#include "model.h"
const int model_nx = 0, model_nu = 1, model_ny = 3, model_np = 0, model_nz = 0;
void model_start(State* s) { (void)s; }
void model_f(const State* s, double t, const double* x, const double* u, double* dx) {
  (void)s, (void)t, (void)x, (void)u, (void)dx;
}
void model_g(const State* s, double t, const double* x, const double* u, double* y) {
  (void)s, (void)x;
  y[0] = 3 * u[0];
  y[1] = y[2] = floor(t / 0.5 + 1e-9);
}
void model_z(const State* s, double* z) { (void)s, (void)z; }
bool model_event(State* s) { return (void)s, false; }
char model_type(unsigned r) { return r == 301 ? 'i' : 'r'; }
