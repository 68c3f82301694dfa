/* Set, DoStep, Get of n instances in a chain: bare_loop LIBRARY n STEPS -> microseconds per step.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char** argv) {
  void* library = argc == 4 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (!library) return 2;
  void* (*make)(void) = (void* (*)(void))dlsym(library, "fmi2Instantiate");
  int (*set)(void*, const unsigned*, size_t, const double*) = dlsym(library, "fmi2SetReal");
  int (*get)(void*, const unsigned*, size_t, double*) = dlsym(library, "fmi2GetReal");
  int (*step)(void*, double, double, int) = dlsym(library, "fmi2DoStep");
  const int n = atoi(argv[2]);
  const long steps = atol(argv[3]);
  const unsigned in = 0, out = 1;
  void** c = malloc((size_t)n * sizeof *c);
  double* y = calloc((size_t)n + 1, sizeof *y);
  for (int k = 0; k < n; ++k) c[k] = make();
  struct timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  for (long i = 0; i < steps; ++i) {
    for (int k = 0; k < n; ++k) {
      set(c[k], &in, 1, &y[k]);
      step(c[k], (double)i * 1e-6, 1e-6, 1);
    }
    for (int k = 0; k < n; ++k) get(c[k], &out, 1, &y[k + 1]);
  }
  clock_gettime(CLOCK_MONOTONIC, &b);
  const double seconds = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
  printf("%.4f\n", 1e6 * seconds / ((double)steps * n));
  return 0;
}
