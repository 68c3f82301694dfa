/* Heats below 19 and up to 21 of the temperature that it is told. */
#include "model.h"
const int model_nx = 0, model_nu = 1, model_ny = 1, model_np = 0, model_nz = 1;
void model_start(State* s) {
  s->u[0] = 20;
  s->count = 1;
}
void model_f(const State* s, double t, const double* x, const double* u, double* dx) {
  (void)s, (void)t, (void)x, (void)u, (void)dx;
}
void model_g(const State* s, double t, const double* x, const double* u, double* y) {
  (void)t, (void)x, (void)u;
  y[0] = (double)s->count;
}
void model_z(const State* s, double* z) {
  double u[MOST];
  inputs_at(s, s->t, u);
  z[0] = s->count ? 21 - u[0] : u[0] - 19;
}
bool model_event(State* s) {
  double z;
  model_z(s, &z);
  if (z <= 0) s->count = !s->count;
  return false;
}
char model_type(unsigned r) { return r == 300 ? 'b' : 'r'; }
