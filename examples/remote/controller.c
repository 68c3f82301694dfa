/* The controller of controller.py in C: a process that is a subsystem of a run of Concord.
 *
 *     cc -O2 controller.c -o controller -lzmq && ./controller tcp://127.0.0.1:5555
 *
 * What stands behind "MessagePack" below is all that the protocol needs of it
 * (doc/remote_subsystems.md); of libzmq it needs a socket of type REP, of Linux what stands behind
 * "memory", where the address is shm://bench. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

/* ---- the controller ---- */

typedef struct {
  double sum, u; /* all that it remembers */
} Controller;

static void step(Controller* c, double h, double y) {
  const double error = 1 - y;
  c->sum += h * error;
  c->u = 8 * error + 4 * c->sum;
}

/* ---- MessagePack: what is read ---- */

typedef struct {
  const uint8_t *at, *end;
  int bad; /* the message ended too early, or something else was expected */
} In;

static uint64_t number_of_bytes(In* in, int count) {
  uint64_t value = 0;
  if (in->end - in->at < count) {
    in->bad = 1;
    return 0;
  }
  while (count-- > 0) value = value << 8 | *in->at++;
  return value;
}

static uint8_t next(In* in) { return (uint8_t)number_of_bytes(in, 1); }

/* Of a text, bytes, a list or a map whose head is one of these: the short form from `fix` on, then
 * those with 1, 2 and 4 bytes of length; 0 where there is no such form. */
static uint32_t length(In* in, int fix, int mask, int one, int two, int four) {
  const int head = next(in);
  if (fix && (head & ~mask) == fix) return (uint32_t)(head & mask);
  if (head == one) return (uint32_t)number_of_bytes(in, 1);
  if (head == two) return (uint32_t)number_of_bytes(in, 2);
  if (head == four) return (uint32_t)number_of_bytes(in, 4);
  in->bad = 1;
  return 0;
}

static uint32_t map_size(In* in) { return length(in, 0x80, 0x0f, -1, 0xde, 0xdf); }
static uint32_t list_size(In* in) { return length(in, 0x90, 0x0f, -1, 0xdc, 0xdd); }

static const uint8_t* piece(In* in, uint32_t size) {
  const uint8_t* begin = in->at;
  if ((uint64_t)(in->end - in->at) < size) {
    in->bad = 1;
    return begin;
  }
  in->at += size;
  return begin;
}

static int text_is(In text, const char* word) {
  return (size_t)(text.end - text.at) == strlen(word) && memcmp(text.at, word, strlen(word)) == 0;
}

static In text(In* in) {
  const uint32_t size = length(in, 0xa0, 0x1f, 0xd9, 0xda, 0xdb);
  const uint8_t* begin = piece(in, size);
  const In result = {begin, in->bad ? begin : begin + size, in->bad};
  return result;
}

static double real(In* in) {
  const int head = next(in);
  if (head == 0xca) { /* a double that is a float, too, may come as one */
    const uint32_t bits = (uint32_t)number_of_bytes(in, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  if (head == 0xcb) {
    const uint64_t bits = number_of_bytes(in, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  in->bad = 1;
  return 0;
}

static int64_t whole(In* in) {
  const int head = next(in);
  if (head < 0x80) return head;
  if (head >= 0xcc && head <= 0xcf) return (int64_t)number_of_bytes(in, 1 << (head - 0xcc));
  in->bad = 1;
  return 0;
}

static void pass_over(In* in) {
  const int head = in->at < in->end ? *in->at : 0xc1;
  uint32_t items;
  if ((head & 0xf0) == 0x80 || head == 0xde || head == 0xdf) {
    for (items = 2 * map_size(in); items-- > 0 && !in->bad;) pass_over(in);
  } else if ((head & 0xf0) == 0x90 || head == 0xdc || head == 0xdd) {
    for (items = list_size(in); items-- > 0 && !in->bad;) pass_over(in);
  } else if ((head & 0xe0) == 0xa0 || (head >= 0xd9 && head <= 0xdb)) {
    text(in);
  } else if (head >= 0xc4 && head <= 0xc6) {
    piece(in, length(in, 0, 0, 0xc4, 0xc5, 0xc6));
  } else if (head == 0xca || head == 0xcb) {
    real(in);
  } else if (head == 0xc0 || head == 0xc2 || head == 0xc3) {
    next(in);
  } else {
    whole(in);
  }
}

/* ---- and what is written ---- */

typedef struct {
  uint8_t bytes[512];
  size_t size;
} Out;

static void put(Out* out, const void* bytes, size_t size) {
  memcpy(out->bytes + out->size, bytes, size);
  out->size += size;
}
static void put_head(Out* out, int head) { out->bytes[out->size++] = (uint8_t)head; }
static void put_text(Out* out, const char* word) {
  put_head(out, 0xd9);
  put_head(out, (int)strlen(word));
  put(out, word, strlen(word));
}
static void put_bits(Out* out, int head, uint64_t bits) {
  int i;
  put_head(out, head);
  for (i = 56; i >= 0; i -= 8) put_head(out, (int)(bits >> i & 0xff));
}
static void put_real(Out* out, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  put_bits(out, 0xcb, bits);
}

/* ---- questions and answers ---- */

typedef struct {
  In ask;
  int64_t n, session;
  double h, u;
  int has_state;
  Controller state;
} Question;

static int read_question(In in, Question* q) {
  uint32_t entries = map_size(&in);
  memset(q, 0, sizeof *q);
  while (entries-- > 0 && !in.bad) {
    const In key = text(&in);
    if (text_is(key, "ask")) {
      q->ask = text(&in);
    } else if (text_is(key, "n")) {
      q->n = whole(&in);
    } else if (text_is(key, "session")) {
      q->session = whole(&in);
    } else if (text_is(key, "h")) {
      q->h = real(&in);
    } else if (text_is(key, "u") && list_size(&in) == 1) {
      q->u = real(&in);
    } else if (text_is(key, "state")) {
      const uint32_t size = length(&in, 0, 0, 0xc4, 0xc5, 0xc6);
      const uint8_t* bytes = piece(&in, size);
      q->has_state = !in.bad && size == sizeof q->state;
      if (q->has_state) memcpy(&q->state, bytes, size);
    } else if (!text_is(key, "u")) {
      pass_over(&in);
    } else {
      return 0;
    }
  }
  return !in.bad;
}

static void answer(const Question* q, Controller* c, int64_t* session, Out* out) {
  const int begins = text_is(q->ask, "hello");
  const int steps = text_is(q->ask, "step"), starts = text_is(q->ask, "start");
  out->size = 0;
  put_head(out, 0x80); /* a map, whose size comes at the end */
  put_text(out, "n");
  put_bits(out, 0xcf, (uint64_t)q->n);
  if (begins) {
    *session = q->session;
    memset(c, 0, sizeof *c);
    put_text(out, "protocol");
    put_head(out, 1);
    put_text(out, "offers");
    put_head(out, 0x91);
    put_text(out, "state");
    out->bytes[0] += 3;
  } else if (q->session != *session) {
    put_text(out, "unknown"); /* another run has begun since then */
    put_head(out, 0xc3);
    out->bytes[0] += 2;
  } else if (steps || starts) {
    if (q->has_state) *c = q->state;
    if (steps) step(c, q->h, q->u);
    put_text(out, "y");
    put_head(out, 0x91);
    put_real(out, c->u);
    put_text(out, "state");
    put_head(out, 0xc4);
    put_head(out, sizeof *c);
    put(out, c, sizeof *c);
    out->bytes[0] += 3;
  } else if (text_is(q->ask, "end")) {
    out->bytes[0] += 1;
  } else {
    put_text(out, "error");
    put_text(out, "cannot do that");
    out->bytes[0] += 2;
  }
}

/* Its size; 0 where the question cannot be read. */
static size_t answer_to(const void* question, size_t size, Controller* c, int64_t* session,
                        Out* out) {
  Question q;
  In in;
  in.at = question;
  in.end = in.at + size;
  in.bad = 0;
  if (!read_question(in, &q)) return 0;
  answer(&q, c, session, out);
  return out->size;
}

/* ---- memory that is shared with the run ---- */

typedef struct {
  _Alignas(64) _Atomic uint32_t rung; /* the number of the last question, or answer */
  _Atomic uint32_t sleeper;           /* whether somebody waits in a futex */
} Bell;

typedef struct {
  Bell asked, answered;
  _Alignas(64) uint64_t size; /* of the message, which begins at byte 4096 */
  _Atomic uint32_t begun;
} Memory;

enum { MESSAGE = 4096 };
static const char greeting[] = "concord memory 1"; /* without the 0 at its end */

/* A run that has come, and the file of its memory; -1: nobody. */
static int meet(const struct sockaddr_un* name, int listener, int* file) {
  char text[sizeof greeting];
  union {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
  } passed;
  struct iovec part = {text, sizeof text};
  struct msghdr message = {0};
  int run = listener;
  if (listener >= 0)
    run = accept(listener, NULL, NULL);
  else if (connect(run = socket(AF_UNIX, SOCK_SEQPACKET, 0), (const struct sockaddr*)name,
                   sizeof *name) != 0)
    usleep(10000);
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = &passed;
  message.msg_controllen = sizeof passed;
  if (run < 0) return -1;
  if (send(run, greeting, strlen(greeting), MSG_NOSIGNAL) < 0 ||
      recvmsg(run, &message, 0) != (ssize_t)strlen(greeting) ||
      memcmp(text, greeting, strlen(greeting)) != 0 || CMSG_FIRSTHDR(&message) == NULL) {
    close(run);
    return -1;
  }
  memcpy(file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof *file);
  return run;
}

static int is_there(int run) {
  char said;
  return recv(run, &said, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
}

static int64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Looks for it for 0.1 ms, then sleeps 10 ms at a time; 0 where the run has gone. */
static int wait_for_question(Memory* memory, uint32_t number, int run) {
  const struct timespec longest = {0, 10000000};
  int64_t until = nanoseconds() + 100000;
  while (memory->asked.rung != number) {
    if (nanoseconds() < until) continue;
    memory->asked.sleeper = 1;
    syscall(SYS_futex, &memory->asked.rung, FUTEX_WAIT, number - 1, &longest, NULL, 0);
    memory->asked.sleeper = 0;
    if (memory->asked.rung != number && !is_there(run)) return 0;
  }
  return 1;
}

static void serve_run(int run, int file, Controller* controller, int64_t* session) {
  struct stat status;
  size_t size = fstat(file, &status) == 0 ? (size_t)status.st_size : 0;
  Memory* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  uint32_t number = 1;
  if (memory == MAP_FAILED) return;
  memory->begun = 1;
  for (; wait_for_question(memory, number, run); ++number) {
    Out out;
    if (MESSAGE + memory->size > size) { /* it has grown */
      const size_t before = size;
      if (fstat(file, &status) != 0 || MESSAGE + memory->size > (size_t)status.st_size) break;
      size = (size_t)status.st_size;
      memory = mremap(memory, before, size, MREMAP_MAYMOVE);
      if (memory == MAP_FAILED) return;
    }
    memory->size = answer_to((char*)memory + MESSAGE, memory->size, controller, session, &out);
    if (memory->size == 0) break;
    memcpy((char*)memory + MESSAGE, out.bytes, out.size);
    memory->answered.rung = number;
    if (memory->answered.sleeper)
      syscall(SYS_futex, &memory->answered.rung, FUTEX_WAKE, 1, NULL, NULL, 0);
  }
  munmap(memory, size);
}

/* One run after the other. */
static int serve_memory(const char* address, int connects) {
  struct sockaddr_un name = {AF_UNIX, ""};
  Controller controller = {0, 0};
  int64_t session = 0;
  int listener = -1, file = -1;
  snprintf(name.sun_path, sizeof name.sun_path, "%s%s", *address == '/' ? "" : "/dev/shm/concord.",
           address);
  if (!connects) {
    listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    unlink(name.sun_path); /* of one that was killed */
    if (fchmod(listener, 0600) != 0 || bind(listener, (struct sockaddr*)&name, sizeof name) != 0 ||
        listen(listener, 1) != 0) {
      perror(name.sun_path);
      return 1;
    }
  }
  for (;;) {
    const int run = meet(&name, listener, &file);
    if (run < 0) continue;
    serve_run(run, file, &controller, &session);
    close(file);
    close(run);
  }
}

int main(int argc, char** argv) {
  const char* address = argc > 1 ? argv[1] : "tcp://127.0.0.1:5555";
  const int connects = argc > 2 && strcmp(argv[2], "connect") == 0;
  void *context, *socket;
  Controller controller = {0, 0};
  int64_t session = 0;
  if (strncmp(address, "shm://", 6) == 0) return serve_memory(address + 6, connects);
  context = zmq_ctx_new();
  socket = zmq_socket(context, ZMQ_REP);
  if ((connects ? zmq_connect(socket, address) : zmq_bind(socket, address)) != 0) {
    fprintf(stderr, "%s: %s\n", address, zmq_strerror(zmq_errno()));
    return 1;
  }
  for (;;) {
    zmq_msg_t message;
    Out out;
    size_t size;
    zmq_msg_init(&message);
    if (zmq_msg_recv(&message, socket, 0) < 0) return 1;
    size = answer_to(zmq_msg_data(&message), zmq_msg_size(&message), &controller, &session, &out);
    zmq_msg_close(&message);
    if (size == 0) {
      fprintf(stderr, "a question that cannot be read\n");
      return 1;
    }
    if (zmq_send(socket, out.bytes, size, 0) < 0) return 1;
  }
}
