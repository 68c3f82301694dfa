/* An FMI 3.0 FMU with variables of many types: y[i] = a[i] + n + b + length of the text + 100 times
 * the level, an enumeration (less multiples of 2^53), where n is an integer input; it puts out n +
 * 1 and whether n > 2. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  double a[2];
  int32_t n;
  int64_t level;
  bool b;
  size_t length;
} Instance;
enum { OK, WARNING, DISCARD, ERROR };
enum { Y = 1, A, N, B, TEXT, NEXT, LARGE, LEVEL };

void* fmi3InstantiateCoSimulation(const char* name, const char* token, const char* resources,
                                  bool visible, bool logging, bool event_mode, bool early,
                                  const unsigned* wanted, size_t n, void* environment, void* log,
                                  void* update) {
  (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)event_mode;
  (void)early, (void)wanted, (void)n, (void)environment, (void)log, (void)update;
  return calloc(1, sizeof(Instance));
}
void fmi3FreeInstance(void* c) { free(c); }
int fmi3EnterInitializationMode(void) { return OK; }
int fmi3ExitInitializationMode(void) { return OK; }
int fmi3Terminate(void) { return OK; }
int fmi3GetFloat64(Instance* c, const unsigned* vr, size_t n, double* v, size_t m) {
  if (n != 1 || vr[0] != Y || m != 2) return ERROR;
  for (int i = 0; i < 2; ++i)
    v[i] =
        c->a[i] + c->n + c->b + (double)c->length + 100 * (double)(c->level % ((int64_t)1 << 53));
  return OK;
}
int fmi3SetFloat64(Instance* c, const unsigned* vr, size_t n, const double* v, size_t m) {
  if (n != 1 || vr[0] != A || m != 2) return ERROR;
  memcpy(c->a, v, sizeof c->a);
  return OK;
}
int fmi3GetInt32(Instance* c, const unsigned* vr, size_t n, int32_t* v, size_t m) {
  if (n != 1 || m != 1 || vr[0] != NEXT) return ERROR;
  v[0] = c->n + 1;
  return OK;
}
int fmi3SetInt32(Instance* c, const unsigned* vr, size_t n, const int32_t* v, size_t m) {
  if (n != 1 || m != 1 || vr[0] != N) return ERROR;
  c->n = v[0];
  return OK;
}
int fmi3GetInt64(Instance* c, const unsigned* vr, size_t n, int64_t* v, size_t m) {
  if (n != 1 || m != 1 || vr[0] != LEVEL) return ERROR;
  return v[0] = c->level, OK;
}
int fmi3SetInt64(Instance* c, const unsigned* vr, size_t n, const int64_t* v, size_t m) {
  if (n != 1 || m != 1 || vr[0] != LEVEL) return ERROR;
  return c->level = v[0], OK;
}
int fmi3GetBoolean(Instance* c, const unsigned* vr, size_t n, bool* v, size_t m) {
  if (n != 1 || m != 1 || vr[0] != LARGE) return ERROR;
  v[0] = c->n > 2;
  return OK;
}
int fmi3SetBoolean(Instance* c, const unsigned* vr, size_t n, const bool* v, size_t m) {
  if (n != 1 || m != 1 || vr[0] != B) return ERROR;
  c->b = v[0];
  return OK;
}
int fmi3SetString(Instance* c, const unsigned* vr, size_t n, const char* const* v, size_t m) {
  if (n != 1 || m != 1 || vr[0] != TEXT) return ERROR;
  c->length = strlen(v[0]);
  return OK;
}
int fmi3DoStep(Instance* c, double t, double h, bool no_rollback, bool* event, bool* terminate,
               bool* early, double* last) {
  (void)c, (void)no_rollback;
  *event = *terminate = *early = false;
  *last = t + h;
  return OK;
}
