/* The smallest useful FMU of FMI 2.0 for co-simulation; MODEL is a header with the equations. */
#include <stdlib.h>
#include <string.h>

#define VARIABLES 8
typedef struct {
  double time, value[VARIABLES]; /* value references are positions here */
} Instance;

#include MODEL

enum { OK, WARNING, DISCARD, ERROR };

void* fmi2Instantiate(const char* name, int type, const char* guid, const char* resources,
                      const void* callbacks, int visible, int logging) {
  (void)name, (void)type, (void)guid, (void)resources, (void)callbacks, (void)visible;
  (void)logging;
  Instance* c = calloc(1, sizeof *c);
  if (c) start_values(c->value);
  return c;
}
void fmi2FreeInstance(void* c) { free(c); }
int fmi2SetupExperiment(Instance* c, int with_tolerance, double tolerance, double start,
                        int with_stop, double stop) {
  (void)with_tolerance, (void)tolerance, (void)with_stop, (void)stop;
  c->time = start;
  return OK;
}
int fmi2EnterInitializationMode(void* c) { return (void)c, OK; }
int fmi2ExitInitializationMode(void* c) { return (void)c, OK; }
int fmi2Terminate(void* c) { return (void)c, OK; }

int fmi2SetReal(Instance* c, const unsigned* vr, size_t n, const double* v) {
  for (size_t i = 0; i < n; ++i) c->value[vr[i]] = v[i];
  return OK;
}
int fmi2GetReal(Instance* c, const unsigned* vr, size_t n, double* v) {
  outputs(c->value);
  for (size_t i = 0; i < n; ++i) v[i] = c->value[vr[i]];
  return OK;
}
int fmi2SetInteger(void* c, const unsigned* vr, size_t n, const int* v) {
  return (void)c, (void)vr, (void)n, (void)v, ERROR;
}
int fmi2GetInteger(void* c, const unsigned* vr, size_t n, int* v) {
  return (void)c, (void)vr, (void)n, (void)v, ERROR;
}
int fmi2SetBoolean(void* c, const unsigned* vr, size_t n, const int* v) {
  return (void)c, (void)vr, (void)n, (void)v, ERROR;
}
int fmi2GetBoolean(void* c, const unsigned* vr, size_t n, int* v) {
  return (void)c, (void)vr, (void)n, (void)v, ERROR;
}
int fmi2SetString(void* c, const unsigned* vr, size_t n, const char* const* v) {
  return (void)c, (void)vr, (void)n, (void)v, ERROR;
}

/* Saving and restoring the state is what implicit methods need. */
int fmi2GetFMUstate(Instance* c, void** state) {
  if (!*state) *state = malloc(sizeof *c);
  return *state ? (memcpy(*state, c, sizeof *c), OK) : ERROR;
}
int fmi2SetFMUstate(Instance* c, const void* state) { return memcpy(c, state, sizeof *c), OK; }
int fmi2FreeFMUstate(void* c, void** state) {
  (void)c;
  free(*state);
  *state = NULL;
  return OK;
}

/* Runge-Kutta of order 2 in steps of at most 0.1 ms. */
int fmi2DoStep(Instance* c, double time, double size, int no_rollback) {
  (void)no_rollback;
  const int count = (int)(size / 1e-4) + 1;
  const double h = size / count;
  for (int i = 0; i < count; ++i) {
    double slope[STATES], middle[VARIABLES];
    memcpy(middle, c->value, sizeof middle);
    derivatives(c->value, slope);
    for (int j = 0; j < STATES; ++j) middle[j] += h / 2 * slope[j];
    derivatives(middle, slope);
    for (int j = 0; j < STATES; ++j) c->value[j] += h * slope[j];
  }
  c->time = time + size;
  return OK;
}
int fmi2GetRealStatus(Instance* c, int kind, double* v) { return (void)kind, *v = c->time, OK; }
int fmi2GetBooleanStatus(void* c, int kind, int* v) { return (void)c, (void)kind, *v = 0, OK; }
