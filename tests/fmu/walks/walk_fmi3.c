/* Walks through an exported FMU of FMI 3.0 (MODEL, with at least one state, input, output and
   parameter), right and wrong. Ends with the line of the first expectation that fails. */
#include MODEL

#include <assert.h>

static int complaints = 0, updates = 0, finished = 0;
static fmi3Instance updated = NULL;
static int misbehaves = 0;

static void count_complaint(fmi3InstanceEnvironment environment, fmi3Status status,
                            fmi3String category, fmi3String message) {
  assert(environment == &complaints && status >= fmi3Discard && message[0] != '\0');
  assert(strncmp(category, "logStatus", 9) == 0);
  ++complaints;
}

#define EXPECT(expected, call)                      \
  do {                                              \
    if ((call) != (expected)) {                     \
      fprintf(stderr, "%d: %s\n", __LINE__, #call); \
      return 1;                                     \
    }                                               \
  } while (0)

#define EXPECT_WRONG(call)          \
  do {                              \
    const int before = complaints;  \
    EXPECT(fmi3Error, call);        \
    EXPECT(before + 1, complaints); \
  } while (0)

static const unsigned input[] = {first_input}, output[] = {first_output}, state[] = {first_state};
static const unsigned parameter[] = {first_parameter}, slope[] = {first_derivative},
                      nothing[] = {999};

/* u = 2 t, at the times that the FMU asks for. */
static void update(fmi3InstanceEnvironment environment, double time, bool set_requested,
                   bool get_allowed, bool step_finished, bool can_return_early,
                   bool* return_requested, double* return_time) {
  assert(environment == &complaints && !can_return_early && !*return_requested);
  assert(*return_time == time && step_finished == get_allowed && set_requested != get_allowed);
  double value = 2.0 * time;
  if (set_requested) {
    ++updates;
    fmi3SetFloat64(updated, misbehaves ? state : input, 1, &value, 1);
  } else {
    ++finished;
    fmi3GetFloat64(updated, output, 1, &value, 1);
  }
}

static int start(fmi3Instance c) {
  EXPECT(fmi3OK, fmi3EnterInitializationMode(c, true, 1e-9, 0.0, true, 1.0));
  EXPECT(fmi3OK, fmi3ExitInitializationMode(c));
  return 0;
}

static fmi3Instance stepper(int with_update) {
  return fmi3InstantiateCoSimulation("walker", MODEL_TOKEN, NULL, false, false, false, false, input,
                                     with_update ? 1 : 0, &complaints, count_complaint,
                                     with_update ? update : NULL);
}

static fmi3Status step(fmi3Instance c, double t, double h) {
  bool event = true, end = true, early = true;
  double last = -1.0;
  const fmi3Status status = fmi3DoStep(c, t, h, true, &event, &end, &early, &last);
  if (status != fmi3Error && (event || end || early)) return fmi3Fatal;
  if (status == fmi3OK && last != t + h) return fmi3Fatal;
  if (status == fmi3Discard && last != t) return fmi3Fatal;
  return status;
}

static int walk_co_simulation(void) {
  fmi3Instance c = stepper(0);
  double value = 2.0, first, again, seen[1];
  const int32_t one[] = {1}, two[] = {2};
  EXPECT(fmi3OK, fmi3SetFloat64(c, state, 1, &value, 1));
  EXPECT(0, start(c));
  EXPECT(fmi3OK, fmi3GetFloat64(c, state, 1, seen, 1));
  EXPECT(1, seen[0] == 2.0);
  EXPECT(fmi3OK, fmi3SetFloat64(c, input, 1, &value, 1));
  EXPECT(fmi3OK, step(c, 0.0, 0.1));
  fmi3FMUState saved = NULL, copy = NULL;
  EXPECT(fmi3OK, fmi3GetFMUState(c, &saved));
  EXPECT(fmi3OK, step(c, 0.1, 0.1));
  EXPECT(fmi3OK, fmi3GetFloat64(c, output, 1, &first, 1));
  size_t size = 0;
  EXPECT(fmi3OK, fmi3SerializedFMUStateSize(c, saved, &size));
  uint8_t* bytes = malloc(size + 2);
  EXPECT(fmi3OK, fmi3SerializeFMUState(c, saved, bytes + 1, size));
  EXPECT(fmi3OK, fmi3DeserializeFMUState(c, bytes + 1, size, &copy));
  EXPECT(fmi3OK, fmi3DeserializeFMUState(c, bytes + 1, size + 1, &copy));
  EXPECT(fmi3OK, fmi3SetFMUState(c, copy));
  EXPECT(fmi3OK, step(c, 0.1, 0.1));
  EXPECT(fmi3OK, fmi3GetFloat64(c, output, 1, &again, 1));
  EXPECT(0, memcmp(&first, &again, sizeof first));
  EXPECT(fmi3OK, fmi3GetOutputDerivatives(c, output, 1, one, seen, 1));
  EXPECT_WRONG(fmi3GetOutputDerivatives(c, output, 1, two, seen, 1));
  EXPECT(fmi3OK, fmi3SetFMUState(c, saved));
  EXPECT_WRONG(step(c, 0.3, 0.1));
  EXPECT(fmi3OK, fmi3SetFMUState(c, saved));
  EXPECT_WRONG(step(c, 0.1, -0.1));
  EXPECT(fmi3OK, fmi3SetFMUState(c, saved));
  EXPECT_WRONG(step(c, 0.1, 1.0));
  EXPECT(fmi3OK, fmi3SetFMUState(c, saved));
  EXPECT_WRONG(fmi3SetFloat64(c, state, 1, &value, 1));
  EXPECT(fmi3OK, fmi3SetFMUState(c, saved));
  EXPECT_WRONG(fmi3SetFloat64(c, input, 1, &value, 2));
  EXPECT(fmi3OK, fmi3SetFMUState(c, saved));
  EXPECT_WRONG(fmi3GetFloat64(c, nothing, 1, seen, 1));
  EXPECT(fmi3OK, fmi3SetFMUState(c, saved));
  EXPECT_WRONG(fmi3DeserializeFMUState(c, bytes + 1, size - 1, &copy));
  EXPECT(fmi3OK, fmi3SetFMUState(c, saved));
  int32_t whole = 0;
  EXPECT(fmi3OK, fmi3GetInt32(c, NULL, 0, NULL, 0));
  EXPECT_WRONG(fmi3GetInt32(c, input, 1, &whole, 1));
  EXPECT(fmi3OK, fmi3SetFMUState(c, saved));
  EXPECT_WRONG(fmi3EnterStepMode(c));
  EXPECT(fmi3OK, fmi3Reset(c));
  EXPECT(0, start(c));
  const double bad = NAN;
  EXPECT(fmi3OK, fmi3SetFloat64(c, input, 1, &bad, 1));
  EXPECT(fmi3Discard, step(c, 0.0, 0.1));
  EXPECT(fmi3OK, fmi3SetFloat64(c, input, 1, &value, 1));
  EXPECT(fmi3OK, step(c, 0.0, 1.0));
  EXPECT(fmi3OK, fmi3Terminate(c));
  EXPECT_WRONG(fmi3Terminate(c));
  EXPECT(fmi3OK, fmi3FreeFMUState(c, &saved));
  EXPECT(fmi3OK, fmi3FreeFMUState(c, &copy));
  free(bytes);
  fmi3FreeInstance(c);
  return 0;
}

static int walk_intermediate_update(void) {
  double seen[1];
  updated = stepper(1);
  EXPECT(0, start(updated));
  EXPECT(fmi3OK, step(updated, 0.0, 0.5));
  EXPECT(1, updates >= 6 && finished >= 1);
  EXPECT(fmi3OK, fmi3GetFloat64(updated, input, 1, seen, 1));
  EXPECT(1, seen[0] == 1.0);
  misbehaves = 1;
  EXPECT(fmi3Error, step(updated, 0.5, 0.5));
  misbehaves = 0;
  fmi3FreeInstance(updated);
  const int before = complaints;
  EXPECT(1, fmi3InstantiateCoSimulation("walker", MODEL_TOKEN, NULL, false, false, false, false,
                                        state, 1, &complaints, count_complaint, update) == NULL);
  EXPECT(1, fmi3InstantiateCoSimulation("walker", MODEL_TOKEN, NULL, false, false, true, false,
                                        NULL, 0, &complaints, count_complaint, update) == NULL);
  EXPECT(before + 2, complaints);
  return 0;
}

static int walk_model_exchange(void) {
  fmi3Instance c = fmi3InstantiateModelExchange("walker", MODEL_TOKEN, NULL, false, false,
                                                &complaints, count_complaint);
  double x[n_states], dxdt[n_states], z[n_indicators + 1], moved[1], one = 1.0, next;
  bool again = true, end = true, nominals = true, states = true, timed = true, event = true;
  size_t count = 99;
  EXPECT(0, start(c));
  EXPECT(fmi3OK, fmi3UpdateDiscreteStates(c, &again, &end, &nominals, &states, &timed, &next));
  EXPECT(0, again || end || nominals || states);
  EXPECT(n_watched > n_indicators, timed);
  EXPECT(fmi3OK, fmi3SetFloat64(c, parameter, 1, &one, 1));
  EXPECT(fmi3OK, fmi3GetNumberOfEventIndicators(c, &count));
  EXPECT(1, count == n_indicators);
  EXPECT(fmi3OK, fmi3GetNumberOfContinuousStates(c, &count));
  EXPECT(1, count == n_states);
  EXPECT(fmi3OK, fmi3EnterContinuousTimeMode(c));
  for (int k = 1; k <= 10; ++k) {
    EXPECT(fmi3OK, fmi3GetContinuousStates(c, x, n_states));
    EXPECT(fmi3OK, fmi3GetContinuousStateDerivatives(c, dxdt, n_states));
    for (int i = 0; i < n_states; ++i) x[i] += 0.01 * dxdt[i];
    EXPECT(fmi3OK, fmi3SetTime(c, 0.01 * k));
    EXPECT(fmi3OK, fmi3SetContinuousStates(c, x, n_states));
    EXPECT(fmi3OK, fmi3SetFloat64(c, input, 1, &one, 1));
    EXPECT(fmi3OK, fmi3CompletedIntegratorStep(c, true, &event, &end));
    EXPECT(0, event || end);
  }
  EXPECT(fmi3OK, fmi3GetDirectionalDerivative(c, slope, 1, state, 1, &one, 1, moved, 1));
  fmi3FMUState saved = NULL;
  EXPECT(fmi3OK, fmi3GetFMUState(c, &saved));
  EXPECT_WRONG(fmi3GetDirectionalDerivative(c, slope, 1, state, 1, &one, 2, moved, 1));
  EXPECT(fmi3OK, fmi3SetFMUState(c, saved));
  EXPECT(fmi3OK, fmi3GetEventIndicators(c, z, n_indicators));
  EXPECT_WRONG(fmi3GetEventIndicators(c, z, n_indicators + 1));
  EXPECT(fmi3OK, fmi3SetFMUState(c, saved));
  EXPECT_WRONG(fmi3GetAdjointDerivative(c, slope, 1, state, 1, &one, 1, moved, 1));
  EXPECT(fmi3OK, fmi3SetFMUState(c, saved));
  EXPECT_WRONG(fmi3SetFloat64(c, parameter, 1, &one, 1));
  EXPECT(fmi3OK, fmi3SetFMUState(c, saved));
  EXPECT(fmi3OK, fmi3EnterEventMode(c));
  EXPECT(fmi3OK, fmi3Terminate(c));
  EXPECT(fmi3OK, fmi3FreeFMUState(c, &saved));
  fmi3FreeInstance(c);
  return 0;
}

/* Steps of Euler's method from event to event; behind each all indicators are positive. */
static int walk_events(void) {
  fmi3Instance c = fmi3InstantiateModelExchange("walker", MODEL_TOKEN, NULL, false, false,
                                                &complaints, count_complaint);
  double x[n_states], dxdt[n_states], z[n_indicators + 1], t = 0.0, at;
  bool end, nominals, states, timed;
  int events = 0;
  EXPECT(0, start(c));
  for (;;) {
    bool again = true, due = false;
    int passes = 0;
    for (; again && passes < 10; ++passes)
      EXPECT(fmi3OK, fmi3UpdateDiscreteStates(c, &again, &end, &nominals, &states, &timed, &at));
    EXPECT(1, passes < 10);
    EXPECT(1, !timed || at > t);
    EXPECT(fmi3OK, fmi3GetEventIndicators(c, z, n_indicators));
    for (int w = 0; w < n_indicators; ++w) EXPECT(1, z[w] > 0.0);
    if (t >= 3.0) break;
    EXPECT(fmi3OK, fmi3EnterContinuousTimeMode(c));
    while (!due && t < 3.0) {
      due = timed && at <= t + 0.01;
      EXPECT(fmi3OK, fmi3GetContinuousStates(c, x, n_states));
      EXPECT(fmi3OK, fmi3GetContinuousStateDerivatives(c, dxdt, n_states));
      const double next = due ? at : t + 0.01;
      for (int i = 0; i < n_states; ++i) x[i] += (next - t) * dxdt[i];
      t = next;
      EXPECT(fmi3OK, fmi3SetTime(c, t));
      EXPECT(fmi3OK, fmi3SetContinuousStates(c, x, n_states));
      EXPECT(fmi3OK, fmi3GetEventIndicators(c, z, n_indicators));
      for (int w = 0; w < n_indicators; ++w) due = due || z[w] <= 0.0;
    }
    events += due;
    EXPECT(fmi3OK, fmi3EnterEventMode(c));
  }
  EXPECT(n_conditions > 0, events > 10);
  fmi3FreeInstance(c);
  return 0;
}

int main(void) {
  EXPECT(0, strcmp(fmi3GetVersion(), "3.0"));
  EXPECT(1, fmi3InstantiateModelExchange("w", "other", NULL, false, false, &complaints,
                                         count_complaint) == NULL);
  EXPECT(1, fmi3InstantiateScheduledExecution("w", MODEL_TOKEN, NULL, false, false, &complaints,
                                              count_complaint, NULL, NULL, NULL) == NULL);
  EXPECT(2, complaints);
  EXPECT(fmi3Error, step(NULL, 0.0, 0.1));
  fmi3FreeInstance(NULL);
  EXPECT(0, walk_co_simulation());
  EXPECT(0, walk_intermediate_update());
  EXPECT(0, walk_model_exchange());
  EXPECT(0, walk_events());
  return 0;
}
