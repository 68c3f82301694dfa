/* A cart on a spring to another cart, whose position it gets: x'' = k (x_other - x)/m. */
enum { X, V, X_OTHER, M, K, F, STATES = 2 };
static void start_values(double* v) { v[X_OTHER] = 1, v[M] = 3, v[K] = 50; }
static void derivatives(const double* v, double* slope) {
  slope[X] = v[V];
  slope[V] = v[K] * (v[X_OTHER] - v[X]) / v[M];
}
static void outputs(double* v) { v[F] = v[K] * (v[X] - v[X_OTHER]); }
