/* An FMI 2.0 FMU that puts out what it was given: real parameters l, T, dT and the input u, the
 * integer n, the truth b and the enumeration e (references 1 to 7, outputs 10 more). */
#include <stdlib.h>

typedef struct {
  double real[20];
  int whole[20];
} Instance;

void* fmi2Instantiate(const char* name, int type, const char* guid, const char* resources,
                      const void* callbacks, int visible, int logging) {
  (void)name, (void)type, (void)guid, (void)resources, (void)callbacks, (void)visible,
      (void)logging;
  return calloc(1, sizeof(Instance));
}
void fmi2FreeInstance(void* c) { free(c); }
int fmi2SetupExperiment(void) { return 0; }
int fmi2EnterInitializationMode(void) { return 0; }
int fmi2ExitInitializationMode(void) { return 0; }
int fmi2Terminate(void) { return 0; }
int fmi2DoStep(void) { return 0; }
int fmi2SetReal(Instance* c, const unsigned* vr, size_t n, const double* v) {
  for (size_t i = 0; i < n; ++i) c->real[vr[i]] = v[i];
  return 0;
}
int fmi2GetReal(Instance* c, const unsigned* vr, size_t n, double* v) {
  for (size_t i = 0; i < n; ++i) v[i] = c->real[vr[i] < 10 ? vr[i] : vr[i] - 10];
  return 0;
}
int fmi2SetInteger(Instance* c, const unsigned* vr, size_t n, const int* v) {
  for (size_t i = 0; i < n; ++i) c->whole[vr[i]] = v[i];
  return 0;
}
int fmi2GetInteger(Instance* c, const unsigned* vr, size_t n, int* v) {
  for (size_t i = 0; i < n; ++i) v[i] = c->whole[vr[i] < 10 ? vr[i] : vr[i] - 10];
  return 0;
}
int fmi2SetBoolean(Instance* c, const unsigned* vr, size_t n, const int* v) {
  return fmi2SetInteger(c, vr, n, v);
}
int fmi2GetBoolean(Instance* c, const unsigned* vr, size_t n, int* v) {
  return fmi2GetInteger(c, vr, n, v);
}
