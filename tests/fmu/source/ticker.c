/* Counts time events, 0.25 s apart; without inputs. */
#ifndef FIRST
#define FIRST 0.25
#endif
#include "model.h"
const int model_nx = 0, model_nu = 0, model_ny = 1, model_np = 0, model_nz = 0;
void model_start(State* s) { s->next = FIRST; }
void model_f(const State* s, double t, const double* x, const double* u, double* dx) {
  (void)s, (void)t, (void)x, (void)u, (void)dx;
}
void model_g(const State* s, double t, const double* x, const double* u, double* y) {
  (void)t, (void)x, (void)u;
  y[0] = (double)s->count;
}
void model_z(const State* s, double* z) { (void)s, (void)z; }
bool model_event(State* s) {
  if (s->t == s->next) ++s->count, s->next += 0.25;
  return false;
}
double model_next_time(const State* s) { return s->next; }
char model_type(unsigned r) { return r == 300 ? 'i' : 'r'; }
