/* A cart that a force moves: x'' = f/m. */
enum { X, V, F, M, STATES = 2 };
static void start_values(double* v) { v[X] = 1, v[M] = 2; }
static void derivatives(const double* v, double* slope) { slope[X] = v[V], slope[V] = v[F] / v[M]; }
static void outputs(double* v) { (void)v; }
