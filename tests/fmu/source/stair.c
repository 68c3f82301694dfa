/* Counts time events, 0.3 s apart; y = offset + gain n, nothing where it is switched off. Gain,
 * switch and offset are inputs that only events may change. The count fails where a time event is
 * not hit exactly. */
#include "model.h"
const int model_nx = 0, model_nu = 3, model_ny = 3, model_np = 0, model_nz = 0;
void model_start(State* s) {
  s->u[0] = s->u[1] = 1;
  s->next = 0.3;
}
void model_f(const State* s, double t, const double* x, const double* u, double* dx) {
  (void)s, (void)t, (void)x, (void)u, (void)dx;
}
void model_g(const State* s, double t, const double* x, const double* u, double* y) {
  (void)t, (void)x;
  y[0] = (double)s->count;
  y[1] = u[1] != 0 ? u[2] + u[0] * (double)s->count : 0;
  y[2] = s->count >= 3;
}
void model_z(const State* s, double* z) { (void)s, (void)z; }
bool model_event(State* s) {
  if (s->t == s->next) {
    ++s->count;
    s->next = 0.3 * (double)(s->count + 1);
  }
  return false;
}
double model_next_time(const State* s) { return s->next; }
unsigned model_discrete(void) { return 7; }
char model_type(unsigned r) {
  if (r == 200 || r == 300) return 'i';
  return r == 201 || r == 302 ? 'b' : 'r';
}
