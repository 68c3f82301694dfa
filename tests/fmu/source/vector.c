/* An FMI 3.0 FMU for model exchange whose size is a structural parameter: x' = u - x, y = x, each a
 * vector of n entries, n = 2 unless it is set in configuration mode. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { OK, WARNING, DISCARD, ERROR };
enum { SIZE = 1, U, X, DERIVATIVE, Y };
enum { INSTANTIATED, CONFIGURING, RUNNING };
#define MOST 100

typedef struct {
  int mode;
  uint64_t n;
  double u[MOST], x[MOST];
} Instance;

void* fmi3InstantiateModelExchange(const char* name, const char* token, const char* resources,
                                   bool visible, bool logging, void* environment, void* log) {
  (void)name, (void)token, (void)resources, (void)visible, (void)logging;
  (void)environment, (void)log;
  Instance* c = calloc(1, sizeof *c);
  c->n = 2;
  return c;
}
void fmi3FreeInstance(void* c) { free(c); }
int fmi3EnterConfigurationMode(Instance* c) {
  if (c->mode != INSTANTIATED) return ERROR;
  return c->mode = CONFIGURING, OK;
}
int fmi3ExitConfigurationMode(Instance* c) {
  if (c->mode != CONFIGURING) return ERROR;
  return c->mode = INSTANTIATED, OK;
}
int fmi3EnterInitializationMode(Instance* c) {
  if (c->mode != INSTANTIATED) return ERROR;
  return c->mode = RUNNING, OK;
}
int fmi3ExitInitializationMode(void) { return OK; }
int fmi3Terminate(void) { return OK; }
int fmi3GetUInt64(Instance* c, const unsigned* vr, size_t n, uint64_t* v, size_t m) {
  if (n != 1 || m != 1 || vr[0] != SIZE) return ERROR;
  return v[0] = c->n, OK;
}
int fmi3SetUInt64(Instance* c, const unsigned* vr, size_t n, const uint64_t* v, size_t m) {
  if (n != 1 || m != 1 || vr[0] != SIZE || c->mode != CONFIGURING || v[0] > MOST) return ERROR;
  return c->n = v[0], OK;
}
int fmi3GetFloat64(Instance* c, const unsigned* vr, size_t n, double* v, size_t m) {
  if (m != n * c->n) return ERROR;
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < c->n; ++k)
      *v++ = vr[i] == U ? c->u[k] : vr[i] == DERIVATIVE ? c->u[k] - c->x[k] : c->x[k];
  return OK;
}
int fmi3SetFloat64(Instance* c, const unsigned* vr, size_t n, const double* v, size_t m) {
  if (m != n * c->n) return ERROR;
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < c->n; ++k) (vr[i] == U ? c->u : c->x)[k] = *v++;
  return OK;
}
int fmi3EnterEventMode(void) { return OK; }
int fmi3UpdateDiscreteStates(void* c, bool* again, bool* terminate, bool* nominals, bool* values,
                             bool* has_next, double* next) {
  (void)c, (void)next;
  return *again = *terminate = *nominals = *values = *has_next = false, OK;
}
int fmi3EnterContinuousTimeMode(void) { return OK; }
int fmi3SetTime(void) { return OK; }
int fmi3SetContinuousStates(Instance* c, const double* x, size_t n) {
  if (n != c->n) return ERROR;
  return memcpy(c->x, x, n * sizeof *x), OK;
}
int fmi3GetContinuousStates(Instance* c, double* x, size_t n) {
  if (n != c->n) return ERROR;
  return memcpy(x, c->x, n * sizeof *x), OK;
}
int fmi3GetContinuousStateDerivatives(Instance* c, double* dx, size_t n) {
  if (n != c->n) return ERROR;
  for (size_t k = 0; k < n; ++k) dx[k] = c->u[k] - c->x[k];
  return OK;
}
