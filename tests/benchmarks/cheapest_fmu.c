/* An FMU 2.0 whose step costs next to nothing: y = x, x' = u by one Euler step. Variables of other
 * types are there to be left alone. */
#include <stdlib.h>

typedef struct {
  double x, u;
} Instance;

void* fmi2Instantiate(void) { return calloc(1, sizeof(Instance)); }
void fmi2FreeInstance(void* c) { free(c); }
int fmi2SetupExperiment(void) { return 0; }
int fmi2EnterInitializationMode(void) { return 0; }
int fmi2ExitInitializationMode(void) { return 0; }
int fmi2Terminate(void) { return 0; }
int fmi2SetReal(Instance* c, const unsigned* vr, size_t n, const double* v) {
  if (n == 1 && vr[0] == 0) c->u = v[0];
  return 0;
}
int fmi2GetReal(Instance* c, const unsigned* vr, size_t n, double* v) {
  if (n == 1 && vr[0] == 1) v[0] = c->x;
  return 0;
}
int fmi2DoStep(Instance* c, double t, double h, int no_rollback) {
  (void)t, (void)no_rollback;
  c->x += h * c->u;
  return 0;
}
int fmi2SetInteger(Instance* c, const unsigned* vr, size_t n, const int* v) {
  return (void)c, (void)vr, (void)n, (void)v, 0;
}
int fmi2GetInteger(Instance* c, const unsigned* vr, size_t n, int* v) {
  for (size_t i = 0; i < n; ++i) v[i] = 0;
  return (void)c, (void)vr, 0;
}
int fmi2SetBoolean(Instance* c, const unsigned* vr, size_t n, const int* v) {
  return fmi2SetInteger(c, vr, n, v);
}
int fmi2GetBoolean(Instance* c, const unsigned* vr, size_t n, int* v) {
  return fmi2GetInteger(c, vr, n, v);
}
