/* Sends a text and bytes that change every `period` and keeps what comes in: co-simulation and
 * model exchange of FMI 2 and, with FMI3 defined, of FMI 3. One state, x' = code - u, where `code`
 * is made of the text that it has. What the standards forbid returns error, and says so on stderr
 * after "STRICT:". */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PERIOD
#define PERIOD 0.25
#endif
enum {
  X,
  DX,
  U,
  Y,
  TICK,
  CODE,
  COUNT,
  MESSAGE,
  SAID,
  ECHO,
  GREETING,
  DATA,
  SENT,
  BYTES_ECHO,
  WORDS,
  WORDS_OUT,
  KEY,
  SHORT_DATA,
  TIME,
  KEY_OUT,
  WORDS_ECHO
};
enum { OK, WARNING, DISCARD, ERROR };
enum { INSTANTIATED = 1, INITIALIZING = 2, EVENT = 4, CONTINUOUS = 8, STEP = 16 };
enum { LONG = 100000 };

typedef struct {
  size_t size;
  char* bytes; /* with a 0 behind them */
} Text;

typedef struct {
  int mode, tick, count;
  bool fed, exchange, event_mode;
  double t, x, u;
  Text message, said, greeting, data, sent, key, short_data, words[2];
} Courier;

static void set_text(Text* text, const void* bytes, size_t size) {
  char* own = malloc(size + 1);
  if (size > 0) memcpy(own, bytes, size);
  own[size] = 0;
  free(text->bytes);
  text->bytes = own;
  text->size = size;
}
static bool same(const Text* text, const void* bytes, size_t size) {
  return text->size == size && (size == 0 || memcmp(text->bytes, bytes, size) == 0);
}
#define TEXTS(c)                                                                  \
  {                                                                               \
    &(c)->message, &(c)->said, &(c)->greeting, &(c)->data, &(c)->sent, &(c)->key, \
        &(c)->short_data, &(c)->words[0], &(c)->words[1]                          \
  }
enum { N_TEXTS = 9 };

static int fail(const char* function, const char* why) {
  fprintf(stderr, "STRICT: %s: %s\n", function, why);
  return ERROR;
}
#define REQUIRE(condition, why)                   \
  do {                                            \
    if (!(condition)) return fail(__func__, why); \
  } while (0)
#define REQUIRE_MODE(modes) REQUIRE(c->mode&(modes), "in a wrong mode")

/* Empty, UTF-8, long, short; of bytes some are 0. */
static void speak(Courier* c) {
  char* text = malloc(LONG + c->greeting.size + 1);
  size_t size = 0;
  if (c->tick % 4 == 1)
    size = (size_t)sprintf(text,
                           "%s: Gr\xc3\xbc\xc3\x9f"
                           "e \xe4\xb8\x96\xe7\x95\x8c %d",
                           c->greeting.bytes, c->tick);
  else if (c->tick % 4 == 2)
    for (; size < LONG; ++size) text[size] = (char)('a' + size % 26);
  else if (c->tick % 4 == 3)
    size = (size_t)sprintf(text, "%s %d", c->greeting.bytes, c->tick);
  set_text(&c->said, text, size);
  size = c->tick % 3 == 0 ? 0 : c->tick % 3 == 1 ? 5 : LONG;
  for (size_t i = 0; i < size; ++i) text[i] = (char)(i * 255 / 2 + (size_t)c->tick);
  if (size == 5) memcpy(text, "\0\1\0\377", 4);
  set_text(&c->sent, text, size);
  free(text);
}
static int code_of(const Courier* c) {
  int sum = 0;
  for (size_t i = 0; i < c->message.size; ++i) sum += (unsigned char)c->message.bytes[i];
  return sum % 7;
}
static double next_tick(const Courier* c) { return (c->tick + 1) * PERIOD; }
static bool tick(Courier* c) {
  const int before = c->tick;
  while (c->t >= next_tick(c) - 1e-9) ++c->tick;
  if (c->tick != before) speak(c);
  return c->tick != before;
}
static Courier* make(bool exchange, bool event_mode) {
  Courier* c = calloc(1, sizeof *c);
  Text* all[] = TEXTS(c);
  for (int i = 0; i < N_TEXTS; ++i) set_text(all[i], "", 0);
  set_text(&c->greeting, "hello", 5);
  set_text(&c->message, "nothing yet", 11);
  set_text(&c->key, "\1\2", 2);
  c->mode = INSTANTIATED;
  c->exchange = exchange;
  c->event_mode = event_mode;
  return c;
}
static void copy(Courier* to, const Courier* from) {
  Text* mine[] = TEXTS(to);
  Courier kept = *to;
  const Text* theirs[] = TEXTS(from);
  for (int i = 0; i < N_TEXTS; ++i) set_text(mine[i], theirs[i]->bytes, theirs[i]->size);
  kept = *to;
  *to = *from;
  Text* again[] = TEXTS(to);
  const Text* saved[] = TEXTS(&kept);
  for (int i = 0; i < N_TEXTS; ++i) *again[i] = *saved[i];
}
static void release(Courier* c) {
  Text* all[] = TEXTS(c);
  for (int i = 0; i < N_TEXTS; ++i) free(all[i]->bytes);
  free(c);
}
static size_t serialized_size(const Courier* c) {
  size_t size = sizeof *c;
  const Text* all[] = TEXTS(c);
  for (int i = 0; i < N_TEXTS; ++i) size += all[i]->size;
  return size;
}
static void serialize(const Courier* c, char* to) {
  const Text* all[] = TEXTS(c);
  memcpy(to, c, sizeof *c);
  to += sizeof *c;
  for (int i = 0; i < N_TEXTS; ++i) {
    memcpy(to, all[i]->bytes, all[i]->size);
    to += all[i]->size;
  }
}
static Courier* deserialized(const char* from) {
  Courier* c = malloc(sizeof *c);
  memcpy(c, from, sizeof *c);
  from += sizeof *c;
  Text* all[] = TEXTS(c);
  for (int i = 0; i < N_TEXTS; ++i) {
    all[i]->bytes = NULL;
    set_text(all[i], from, all[i]->size);
    from += all[i]->size;
  }
  return c;
}

static double number_of(const Courier* c, unsigned reference) {
  switch (reference) {
    case DX:
      return code_of(c) - c->u;
    case U:
      return c->u;
    case TICK:
      return c->tick;
    case CODE:
      return code_of(c);
    case COUNT:
      return c->count;
    default:
      return c->x;
  }
}
static const Text* text_of(const Courier* c, unsigned reference, size_t element) {
  switch (reference) {
    case MESSAGE:
    case ECHO:
      return &c->message;
    case SAID:
      return &c->said;
    case GREETING:
      return &c->greeting;
    case DATA:
    case BYTES_ECHO:
      return &c->data;
    case SENT:
      return &c->sent;
    case KEY:
    case KEY_OUT:
      return &c->key;
    case SHORT_DATA:
      return &c->short_data;
    case WORDS:
    case WORDS_ECHO:
      return &c->words[element];
    case WORDS_OUT:
      return element == 0 ? &c->said : &c->greeting;
    default:
      return NULL;
  }
}
/* Discrete inputs are set before the start, in event mode, and between steps of those who have
 * none. */
static const char* misuse_of_set(const Courier* c) {
  if (c->mode & (INSTANTIATED | INITIALIZING | EVENT)) return NULL;
  return c->mode == STEP && !c->event_mode ? NULL : "a text is not to be set now";
}
static const char* misuse_of_get(const Courier* c) {
  return c->mode == INSTANTIATED ? "read before initialisation"
         : c->fed                ? "read after a set without a step between"
                                 : NULL;
}
static void put(Courier* c, unsigned reference, size_t element, const void* bytes, size_t size) {
  Text* text = (Text*)text_of(c, reference, element);
  if (same(text, bytes, size)) return;
  set_text(text, bytes, size);
  c->count += reference == MESSAGE && c->mode != INSTANTIATED ? 1 : 0;
  if (reference == GREETING) speak(c);
  c->fed = c->mode == STEP;
}
static int step(Courier* c, double t, double h) {
  if (fabs(t - c->t) > 1e-9) return fail("DoStep", "the time is not where the last step ended");
  c->x += h * (code_of(c) - c->u);
  c->t = t + h;
  c->fed = false;
  if (!c->event_mode) tick(c);
  return OK;
}
static int start(Courier* c, double t) {
  REQUIRE_MODE(INSTANTIATED);
  c->t = t;
  c->mode = INITIALIZING;
  speak(c);
  return OK;
}
static int begin(Courier* c) {
  REQUIRE_MODE(INITIALIZING);
  c->mode = c->exchange || c->event_mode ? EVENT : STEP;
  return OK;
}

#ifdef FMI3
#define F(name) fmi3##name
#else
#define F(name) fmi2##name
#endif
#define EXPORT __attribute__((visibility("default")))

EXPORT int F(SetTime)(Courier* c, double t) {
  REQUIRE_MODE(EVENT | CONTINUOUS);
  c->t = t;
  return OK;
}
EXPORT int F(SetContinuousStates)(Courier* c, const double* x, size_t n) {
  REQUIRE_MODE(CONTINUOUS);
  if (n == 1) c->x = x[0];
  return OK;
}
EXPORT int F(GetContinuousStates)(Courier* c, double* x, size_t n) {
  if (n == 1) x[0] = c->x;
  return OK;
}
EXPORT int F(EnterEventMode)(Courier* c) {
  REQUIRE_MODE(CONTINUOUS | STEP);
  c->mode = EVENT;
  return OK;
}
EXPORT int F(EnterContinuousTimeMode)(Courier* c) {
  REQUIRE_MODE(EVENT);
  c->mode = CONTINUOUS;
  return OK;
}
EXPORT int F(ExitInitializationMode)(Courier* c) { return begin(c); }
EXPORT int F(Terminate)(Courier* c) { return c->mode = 0, OK; }
EXPORT void F(FreeInstance)(Courier* c) { release(c); }

#ifdef FMI3
EXPORT int fmi3GetFMUState(Courier* c, void** state) {
  if (*state == NULL) *state = make(c->exchange, c->event_mode);
  copy(*state, c);
  return OK;
}
EXPORT int fmi3SetFMUState(Courier* c, void* state) { return copy(c, state), OK; }
EXPORT int fmi3FreeFMUState(Courier* c, void** state) {
  (void)c;
  if (*state) release(*state);
  return *state = NULL, OK;
}
EXPORT int fmi3SerializedFMUStateSize(Courier* c, void* state, size_t* size) {
  (void)c;
  return *size = serialized_size(state), OK;
}
EXPORT int fmi3SerializeFMUState(Courier* c, void* state, char* bytes, size_t size) {
  (void)c, (void)size;
  return serialize(state, bytes), OK;
}
EXPORT int fmi3DeserializeFMUState(Courier* c, const char* bytes, size_t size, void** state) {
  (void)c, (void)size;
  return *state = deserialized(bytes), OK;
}
EXPORT const char* fmi3GetVersion(void) { return "3.0"; }
EXPORT void* fmi3InstantiateModelExchange(const char* n, const char* t, const char* r, bool v,
                                          bool l, void* e, void* log) {
  (void)n, (void)t, (void)r, (void)v, (void)l, (void)e, (void)log;
  return make(true, false);
}
EXPORT void* fmi3InstantiateCoSimulation(const char* n, const char* t, const char* r, bool v,
                                         bool l, bool events, bool early, const unsigned* wanted,
                                         size_t count, void* e, void* log, void* update) {
  (void)n, (void)t, (void)r, (void)v, (void)l, (void)early, (void)wanted, (void)count, (void)e;
  (void)log, (void)update;
  return make(false, events);
}
EXPORT int fmi3EnterInitializationMode(Courier* c, bool d, double tolerance, double t, bool s,
                                       double stop) {
  (void)d, (void)tolerance, (void)s, (void)stop;
  return start(c, t);
}
EXPORT int fmi3EnterStepMode(Courier* c) {
  REQUIRE_MODE(EVENT);
  c->mode = STEP;
  return OK;
}
EXPORT int fmi3UpdateDiscreteStates(Courier* c, bool* again, bool* terminate, bool* nominals,
                                    bool* values, bool* has_next, double* next) {
  REQUIRE_MODE(EVENT);
  *again = *terminate = *nominals = *values = false;
  tick(c);
  *has_next = true;
  *next = next_tick(c);
  return OK;
}
EXPORT int fmi3GetContinuousStateDerivatives(Courier* c, double* dx, size_t n) {
  if (n == 1) dx[0] = code_of(c) - c->u;
  return OK;
}
EXPORT int fmi3GetEventIndicators(Courier* c, double* z, size_t n) {
  (void)c, (void)z, (void)n;
  return OK;
}
EXPORT int fmi3GetFloat64(Courier* c, const unsigned* r, size_t n, double* v, size_t m) {
  REQUIRE(!misuse_of_get(c), misuse_of_get(c));
  for (size_t i = 0; i < n && i < m; ++i) v[i] = r[i] == TIME ? c->t : number_of(c, r[i]);
  return OK;
}
EXPORT int fmi3SetFloat64(Courier* c, const unsigned* r, size_t n, const double* v, size_t m) {
  for (size_t i = 0; i < n && i < m; ++i) {
    if (r[i] == U) c->u = v[i];
    if (r[i] == X) c->x = v[i];
  }
  c->fed = c->mode == STEP;
  return OK;
}
EXPORT int fmi3GetInt32(Courier* c, const unsigned* r, size_t n, int32_t* v, size_t m) {
  REQUIRE(!misuse_of_get(c), misuse_of_get(c));
  for (size_t i = 0; i < n && i < m; ++i) v[i] = (int32_t)number_of(c, r[i]);
  return OK;
}
EXPORT int fmi3SetInt32(Courier* c, const unsigned* r, size_t n, const int32_t* v, size_t m) {
  (void)c, (void)r, (void)n, (void)v, (void)m;
  return ERROR;
}
static size_t size_of(unsigned r) {
  return r == WORDS || r == WORDS_OUT || r == WORDS_ECHO ? 2 : 1;
}
EXPORT int fmi3GetString(Courier* c, const unsigned* r, size_t n, const char** v, size_t m) {
  REQUIRE(!misuse_of_get(c), misuse_of_get(c));
  for (size_t i = 0, k = 0; i < n; ++i)
    for (size_t e = 0; e < size_of(r[i]) && k < m; ++e) v[k++] = text_of(c, r[i], e)->bytes;
  return OK;
}
EXPORT int fmi3SetString(Courier* c, const unsigned* r, size_t n, const char* const* v, size_t m) {
  REQUIRE(!misuse_of_set(c), misuse_of_set(c));
  for (size_t i = 0, k = 0; i < n; ++i)
    for (size_t e = 0; e < size_of(r[i]) && k < m; ++e, ++k) put(c, r[i], e, v[k], strlen(v[k]));
  return OK;
}
EXPORT int fmi3GetBinary(Courier* c, const unsigned* r, size_t n, size_t* sizes, const uint8_t** v,
                         size_t m) {
  REQUIRE(!misuse_of_get(c), misuse_of_get(c));
  for (size_t i = 0; i < n && i < m; ++i) {
    const Text* text = text_of(c, r[i], 0);
    sizes[i] = text->size;
    v[i] = text->size > 0 ? (const uint8_t*)text->bytes : NULL;
  }
  return OK;
}
EXPORT int fmi3SetBinary(Courier* c, const unsigned* r, size_t n, const size_t* sizes,
                         const uint8_t* const* v, size_t m) {
  REQUIRE(!misuse_of_set(c), misuse_of_set(c));
  for (size_t i = 0; i < n && i < m; ++i) put(c, r[i], 0, v[i], sizes[i]);
  return OK;
}
EXPORT int fmi3DoStep(Courier* c, double t, double h, bool no_rollback, bool* event,
                      bool* terminate, bool* early, double* last) {
  (void)no_rollback;
  REQUIRE_MODE(STEP);
  *terminate = *early = false;
  const int status = step(c, t, h);
  *last = c->t;
  *event = c->event_mode && c->t >= next_tick(c) - 1e-9;
  return status;
}
#else
EXPORT int fmi2GetFMUstate(Courier* c, void** state) {
  if (*state == NULL) *state = make(c->exchange, c->event_mode);
  copy(*state, c);
  return OK;
}
EXPORT int fmi2SetFMUstate(Courier* c, void* state) { return copy(c, state), OK; }
EXPORT int fmi2FreeFMUstate(Courier* c, void** state) {
  (void)c;
  if (*state) release(*state);
  return *state = NULL, OK;
}
EXPORT int fmi2SerializedFMUstateSize(Courier* c, void* state, size_t* size) {
  (void)c;
  return *size = serialized_size(state), OK;
}
EXPORT int fmi2SerializeFMUstate(Courier* c, void* state, char* bytes, size_t size) {
  (void)c, (void)size;
  return serialize(state, bytes), OK;
}
EXPORT int fmi2DeSerializeFMUstate(Courier* c, const char* bytes, size_t size, void** state) {
  (void)c, (void)size;
  return *state = deserialized(bytes), OK;
}
EXPORT const char* fmi2GetVersion(void) { return "2.0"; }
EXPORT const char* fmi2GetTypesPlatform(void) { return "default"; }
EXPORT void* fmi2Instantiate(const char* n, int type, const char* t, const char* r,
                             const void* callbacks, int v, int l) {
  (void)n, (void)t, (void)r, (void)callbacks, (void)v, (void)l;
  return make(type == 0, false);
}
EXPORT int fmi2SetupExperiment(Courier* c, int d, double tolerance, double t, int s, double stop) {
  (void)d, (void)tolerance, (void)s, (void)stop;
  c->t = t;
  return OK;
}
EXPORT int fmi2EnterInitializationMode(Courier* c) { return start(c, c->t); }
typedef struct {
  int again, terminate, nominals, values, has_next;
  double next;
} EventInfo;
EXPORT int fmi2NewDiscreteStates(Courier* c, EventInfo* info) {
  REQUIRE_MODE(EVENT);
  memset(info, 0, sizeof *info);
  tick(c);
  info->has_next = 1;
  info->next = next_tick(c);
  return OK;
}
EXPORT int fmi2GetDerivatives(Courier* c, double* dx, size_t n) {
  if (n == 1) dx[0] = code_of(c) - c->u;
  return OK;
}
EXPORT int fmi2GetEventIndicators(Courier* c, double* z, size_t n) {
  (void)c, (void)z, (void)n;
  return OK;
}
EXPORT int fmi2GetReal(Courier* c, const unsigned* r, size_t n, double* v) {
  REQUIRE(!misuse_of_get(c), misuse_of_get(c));
  for (size_t i = 0; i < n; ++i) v[i] = number_of(c, r[i]);
  return OK;
}
EXPORT int fmi2SetReal(Courier* c, const unsigned* r, size_t n, const double* v) {
  for (size_t i = 0; i < n; ++i) {
    if (r[i] == U) c->u = v[i];
    if (r[i] == X) c->x = v[i];
  }
  c->fed = c->mode == STEP;
  return OK;
}
EXPORT int fmi2GetInteger(Courier* c, const unsigned* r, size_t n, int* v) {
  REQUIRE(!misuse_of_get(c), misuse_of_get(c));
  for (size_t i = 0; i < n; ++i) v[i] = (int)number_of(c, r[i]);
  return OK;
}
EXPORT int fmi2SetInteger(Courier* c, const unsigned* r, size_t n, const int* v) {
  (void)c, (void)r, (void)n, (void)v;
  return ERROR;
}
EXPORT int fmi2GetString(Courier* c, const unsigned* r, size_t n, const char** v) {
  REQUIRE(!misuse_of_get(c), misuse_of_get(c));
  for (size_t i = 0; i < n; ++i) v[i] = text_of(c, r[i], 0)->bytes;
  return OK;
}
EXPORT int fmi2SetString(Courier* c, const unsigned* r, size_t n, const char* const* v) {
  REQUIRE(!misuse_of_set(c), misuse_of_set(c));
  for (size_t i = 0; i < n; ++i) put(c, r[i], 0, v[i], strlen(v[i]));
  return OK;
}
EXPORT int fmi2DoStep(Courier* c, double t, double h, int no_rollback) {
  (void)no_rollback;
  REQUIRE_MODE(STEP);
  return step(c, t, h);
}
#endif
