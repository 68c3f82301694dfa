/* Walks through an exported FMU of FMI 2.0 (MODEL, with at least one state, input, output and
   parameter), right and wrong. Ends with the line of the first expectation that fails. */
#include MODEL

#include <assert.h>

static int complaints = 0;

enum { n_timed = n_watched - n_indicators };

static void count_complaint(fmi2ComponentEnvironment environment, fmi2String name,
                            fmi2Status status, fmi2String category, fmi2String format, ...) {
  assert(environment == &complaints && name[0] == 'w' && status >= fmi2Discard);
  assert(strncmp(category, "logStatus", 9) == 0 && strcmp(format, "%s") == 0);
  ++complaints;
}

static const fmi2CallbackFunctions callbacks = {count_complaint, NULL, NULL, NULL, &complaints};

#define EXPECT(expected, call)                      \
  do {                                              \
    if ((call) != (expected)) {                     \
      fprintf(stderr, "%d: %s\n", __LINE__, #call); \
      return 1;                                     \
    }                                               \
  } while (0)

/* The call is wrong: one complaint, and then only reading and a new start. */
#define EXPECT_WRONG(call)          \
  do {                              \
    const int before = complaints;  \
    EXPECT(fmi2Error, call);        \
    EXPECT(before + 1, complaints); \
  } while (0)

static fmi2Component make(fmi2Type type) {
  return fmi2Instantiate("walker", type, MODEL_TOKEN, "", &callbacks, 0, 0);
}

static int start(fmi2Component c) {
  EXPECT(fmi2OK, fmi2SetupExperiment(c, 1, 1e-6, 0.0, 1, 1.0));
  EXPECT(fmi2OK, fmi2EnterInitializationMode(c));
  EXPECT(fmi2OK, fmi2ExitInitializationMode(c));
  return 0;
}

static const unsigned input[] = {first_input}, output[] = {first_output}, state[] = {first_state};
static const unsigned parameter[] = {first_parameter}, slope[] = {first_derivative},
                      nothing[] = {999};

static int walk_co_simulation(void) {
  fmi2Component c = make(fmi2CoSimulation);
  double value = 2.0, first, again, seen[1];
  const int one[] = {1}, four[] = {4};
  EXPECT(fmi2OK, fmi2SetReal(c, state, 1, &value));
  EXPECT(fmi2OK, fmi2SetReal(c, parameter, 1, &value));
  EXPECT(0, start(c));
  EXPECT(fmi2OK, fmi2GetReal(c, state, 1, seen));
  EXPECT(1, seen[0] == 2.0);
  EXPECT(fmi2OK, fmi2SetReal(c, input, 1, &value));
  EXPECT(fmi2OK, fmi2SetRealInputDerivatives(c, input, 1, one, &value));
  EXPECT(fmi2OK, fmi2DoStep(c, 0.0, 0.1, 1));
  EXPECT(fmi2OK, fmi2GetReal(c, input, 1, seen));
  EXPECT(1, fabs(seen[0] - 2.2) < 1e-15);
  fmi2FMUstate saved = NULL, copy = NULL;
  EXPECT(fmi2OK, fmi2GetFMUstate(c, &saved));
  EXPECT(fmi2OK, fmi2DoStep(c, 0.1, 0.1, 0));
  EXPECT(fmi2OK, fmi2GetReal(c, output, 1, &first));
  size_t size = 0;
  EXPECT(fmi2OK, fmi2SerializedFMUstateSize(c, saved, &size));
  char* bytes = malloc(size + 2); /* one further on, so that nothing is aligned */
  EXPECT(fmi2OK, fmi2SerializeFMUstate(c, saved, bytes + 1, size));
  EXPECT(fmi2OK, fmi2DeSerializeFMUstate(c, bytes + 1, size, &copy));
  EXPECT(fmi2OK, fmi2DeSerializeFMUstate(c, bytes + 1, size + 1, &copy));
  EXPECT(fmi2OK, fmi2SetFMUstate(c, copy));
  EXPECT(fmi2OK, fmi2DoStep(c, 0.1, 0.1, 0));
  EXPECT(fmi2OK, fmi2GetReal(c, output, 1, &again));
  EXPECT(0, memcmp(&first, &again, sizeof first));
  EXPECT(fmi2OK, fmi2GetRealOutputDerivatives(c, output, 1, one, seen));
  EXPECT(fmi2OK, fmi2GetRealStatus(c, fmi2LastSuccessfulTime, seen));
  EXPECT(1, fabs(seen[0] - 0.2) < 1e-15);
  fmi2Boolean ended = 1;
  EXPECT(fmi2OK, fmi2GetBooleanStatus(c, fmi2Terminated, &ended));
  EXPECT(0, ended);
  fmi2Status status;
  EXPECT(fmi2Discard, fmi2GetStatus(c, fmi2DoStepStatus, &status));
  EXPECT_WRONG(fmi2SetRealInputDerivatives(c, input, 1, four, &value));
  EXPECT_WRONG(fmi2DoStep(c, 0.2, 0.1, 1));
  EXPECT(fmi2OK, fmi2GetReal(c, output, 1, seen));
  EXPECT(fmi2OK, fmi2SetFMUstate(c, saved));
  EXPECT_WRONG(fmi2DoStep(c, 0.3, 0.1, 1)); /* not where it stands */
  EXPECT(fmi2OK, fmi2SetFMUstate(c, saved));
  EXPECT_WRONG(fmi2DoStep(c, 0.1, 0.0, 1));
  EXPECT(fmi2OK, fmi2SetFMUstate(c, saved));
  EXPECT_WRONG(fmi2DoStep(c, 0.1, NAN, 1));
  EXPECT(fmi2OK, fmi2SetFMUstate(c, saved));
  EXPECT_WRONG(fmi2DoStep(c, 0.1, 1.0, 1)); /* beyond the stop time */
  EXPECT(fmi2OK, fmi2SetFMUstate(c, saved));
  EXPECT_WRONG(fmi2SetReal(c, state, 1, &value));
  EXPECT(fmi2OK, fmi2SetFMUstate(c, saved));
  EXPECT_WRONG(fmi2SetReal(c, output, 1, &value));
  EXPECT(fmi2OK, fmi2SetFMUstate(c, saved));
  EXPECT_WRONG(fmi2GetReal(c, nothing, 1, seen));
  EXPECT(fmi2OK, fmi2SetFMUstate(c, saved));
  EXPECT_WRONG(fmi2SetFMUstate(c, NULL));
  EXPECT(fmi2OK, fmi2SetFMUstate(c, saved));
  EXPECT_WRONG(fmi2DeSerializeFMUstate(c, bytes + 1, size - 1, &copy));
  EXPECT(fmi2OK, fmi2SetFMUstate(c, saved));
  EXPECT_WRONG(fmi2GetInteger(c, input, 1, &ended));
  EXPECT(fmi2OK, fmi2SetFMUstate(c, saved));
  EXPECT_WRONG(fmi2EnterEventMode(c));
  EXPECT(fmi2OK, fmi2SetFMUstate(c, saved));
  EXPECT_WRONG(fmi2CancelStep(c));
  EXPECT(fmi2OK, fmi2Reset(c));
  EXPECT_WRONG(fmi2DoStep(c, 0.0, 0.1, 1));
  EXPECT(fmi2OK, fmi2Reset(c));
  EXPECT_WRONG(fmi2ExitInitializationMode(c));
  EXPECT(fmi2OK, fmi2Reset(c));
  EXPECT(0, start(c));
  const double bad = NAN;
  EXPECT(fmi2OK, fmi2SetReal(c, input, 1, &bad));
  const int before = complaints;
  EXPECT(fmi2Discard, fmi2DoStep(c, 0.0, 0.1, 1));
  EXPECT(before + 1, complaints);
  EXPECT(fmi2OK, fmi2GetRealStatus(c, fmi2LastSuccessfulTime, seen));
  EXPECT(1, seen[0] == 0.0);
  EXPECT(fmi2OK, fmi2SetReal(c, input, 1, &value));
  EXPECT(fmi2OK, fmi2DoStep(c, 0.0, 1.0, 1));
  EXPECT(fmi2OK, fmi2Terminate(c));
  EXPECT_WRONG(fmi2DoStep(c, 1.0, 0.1, 1));
  EXPECT(fmi2OK, fmi2FreeFMUstate(c, &saved));
  EXPECT(1, saved == NULL);
  EXPECT(fmi2OK, fmi2FreeFMUstate(c, &copy));
  EXPECT(fmi2OK, fmi2FreeFMUstate(c, &copy));
  free(bytes);
  fmi2FreeInstance(c);
  return 0;
}

static int walk_model_exchange(void) {
  fmi2Component c = make(fmi2ModelExchange);
  double x[n_states], dxdt[n_states], z[n_indicators + 1], moved[1], one = 1.0;
  EXPECT(0, start(c));
  fmi2EventInfo info;
  EXPECT(fmi2OK, fmi2NewDiscreteStates(c, &info));
  EXPECT(0, info.newDiscreteStatesNeeded || info.terminateSimulation);
  EXPECT(n_timed > 0, info.nextEventTimeDefined);
  EXPECT(fmi2OK, fmi2SetReal(c, parameter, 1, &one));
  EXPECT(fmi2OK, fmi2EnterContinuousTimeMode(c));
  for (int k = 1; k <= 10; ++k) {
    fmi2Boolean event = 1, end = 1;
    EXPECT(fmi2OK, fmi2GetContinuousStates(c, x, n_states));
    EXPECT(fmi2OK, fmi2GetDerivatives(c, dxdt, n_states));
    for (int i = 0; i < n_states; ++i) x[i] += 0.01 * dxdt[i];
    EXPECT(fmi2OK, fmi2SetTime(c, 0.01 * k));
    EXPECT(fmi2OK, fmi2SetContinuousStates(c, x, n_states));
    EXPECT(fmi2OK, fmi2SetReal(c, input, 1, &one));
    EXPECT(fmi2OK, fmi2CompletedIntegratorStep(c, 1, &event, &end));
    EXPECT(0, event || end);
  }
  EXPECT(fmi2OK, fmi2GetDirectionalDerivative(c, slope, 1, state, 1, &one, moved));
  EXPECT(fmi2OK, fmi2GetEventIndicators(c, z, n_indicators));
  EXPECT(fmi2OK, fmi2GetNominalsOfContinuousStates(c, x, n_states));
  EXPECT(1, x[0] == 1.0);
  fmi2FMUstate saved = NULL, other = NULL;
  EXPECT(fmi2OK, fmi2GetFMUstate(c, &saved));
  EXPECT_WRONG(fmi2SetReal(c, parameter, 1, &one)); /* only in event mode */
  EXPECT(fmi2OK, fmi2SetFMUstate(c, saved));
  EXPECT_WRONG(fmi2SetContinuousStates(c, x, n_states + 1));
  EXPECT(fmi2OK, fmi2SetFMUstate(c, saved));
  EXPECT_WRONG(fmi2GetEventIndicators(c, z, n_indicators + 1));
  EXPECT(fmi2OK, fmi2SetFMUstate(c, saved));
  EXPECT_WRONG(fmi2DoStep(c, 0.1, 0.1, 1));
  EXPECT(fmi2OK, fmi2SetFMUstate(c, saved));
  EXPECT_WRONG(fmi2GetDirectionalDerivative(c, parameter, 1, state, 1, &one, moved));
  EXPECT(fmi2OK, fmi2SetFMUstate(c, saved));
  EXPECT_WRONG(fmi2GetDirectionalDerivative(c, slope, 1, output, 1, &one, moved));
  EXPECT(fmi2OK, fmi2SetFMUstate(c, saved));
  fmi2Component stepper = make(fmi2CoSimulation);
  EXPECT(fmi2OK, fmi2GetFMUstate(stepper, &other));
  EXPECT_WRONG(fmi2SetFMUstate(c, other)); /* of the other kind */
  EXPECT(fmi2OK, fmi2FreeFMUstate(stepper, &other));
  fmi2FreeInstance(stepper);
  EXPECT(fmi2OK, fmi2SetFMUstate(c, saved));
  EXPECT(fmi2OK, fmi2EnterEventMode(c));
  EXPECT(fmi2OK, fmi2Terminate(c));
  EXPECT(fmi2OK, fmi2FreeFMUstate(c, &saved));
  fmi2FreeInstance(c);
  return 0;
}

/* Steps of Euler's method from event to event; behind each all indicators are positive. */
static int walk_events(void) {
  fmi2Component c = make(fmi2ModelExchange);
  double x[n_states], dxdt[n_states], z[n_indicators + 1], t = 0.0;
  int events = 0;
  EXPECT(0, start(c));
  for (;;) {
    fmi2EventInfo info = {.newDiscreteStatesNeeded = 1};
    int passes = 0, due = 0;
    for (; info.newDiscreteStatesNeeded && passes < 10; ++passes)
      EXPECT(fmi2OK, fmi2NewDiscreteStates(c, &info));
    EXPECT(1, passes < 10);
    EXPECT(1, !info.nextEventTimeDefined || info.nextEventTime > t);
    EXPECT(fmi2OK, fmi2GetEventIndicators(c, z, n_indicators));
    for (int w = 0; w < n_indicators; ++w) EXPECT(1, z[w] > 0.0);
    if (t >= 3.0) break;
    EXPECT(fmi2OK, fmi2EnterContinuousTimeMode(c));
    while (!due && t < 3.0) {
      const double next = t + 0.01;
      due = info.nextEventTimeDefined && info.nextEventTime <= next;
      EXPECT(fmi2OK, fmi2GetContinuousStates(c, x, n_states));
      EXPECT(fmi2OK, fmi2GetDerivatives(c, dxdt, n_states));
      const double end = due ? info.nextEventTime : next;
      for (int i = 0; i < n_states; ++i) x[i] += (end - t) * dxdt[i];
      t = end;
      EXPECT(fmi2OK, fmi2SetTime(c, t));
      EXPECT(fmi2OK, fmi2SetContinuousStates(c, x, n_states));
      EXPECT(fmi2OK, fmi2GetEventIndicators(c, z, n_indicators));
      for (int w = 0; w < n_indicators; ++w) due = due || z[w] <= 0.0;
    }
    events += due;
    EXPECT(fmi2OK, fmi2EnterEventMode(c));
  }
  EXPECT(n_conditions > 0, events > 10);
  fmi2FreeInstance(c);
  return 0;
}

int main(void) {
  EXPECT(0, strcmp(fmi2GetVersion(), "2.0") | strcmp(fmi2GetTypesPlatform(), "default"));
  EXPECT(1, fmi2Instantiate("w", fmi2CoSimulation, "other", "", &callbacks, 0, 0) == NULL);
  EXPECT(1, fmi2Instantiate("w", fmi2CoSimulation, NULL, NULL, &callbacks, 0, 0) == NULL);
  EXPECT(2, complaints);
  EXPECT(1, fmi2Instantiate(NULL, fmi2CoSimulation, "other", NULL, NULL, 0, 0) == NULL);
  EXPECT(fmi2Error, fmi2DoStep(NULL, 0.0, 0.1, 1));
  fmi2FreeInstance(NULL);
  EXPECT(0, walk_co_simulation());
  EXPECT(0, walk_model_exchange());
  EXPECT(0, walk_events());
  return 0;
}
