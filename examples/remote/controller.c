/* The controller of controller.py in C: a process that is a subsystem of a run of Concord.
 *
 *     cc -O2 controller.c -o controller -lzmq && ./controller tcp://127.0.0.1:5555
 *
 * What stands behind "MessagePack" below is all that the protocol needs of it
 * (doc/remote_subsystems.md); of libzmq it needs a socket of type REP. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

/* ---- the controller ---- */

typedef struct {
  double sum, u; /* all that it remembers */
} Controller;

static void step(Controller *c, double h, double y) {
  const double error = 1 - y;
  c->sum += h * error;
  c->u = 8 * error + 4 * c->sum;
}

/* ---- MessagePack: what is read ---- */

typedef struct {
  const uint8_t *at, *end;
  int bad; /* the message ended too early, or something else was expected */
} In;

static uint64_t number_of_bytes(In *in, int count) {
  uint64_t value = 0;
  if (in->end - in->at < count) {
    in->bad = 1;
    return 0;
  }
  while (count-- > 0) value = value << 8 | *in->at++;
  return value;
}

static uint8_t next(In *in) { return (uint8_t)number_of_bytes(in, 1); }

/* Of a text, bytes, a list or a map whose head is one of these: the short form from `fix` on, then
 * those with 1, 2 and 4 bytes of length; 0 where there is no such form. */
static uint32_t length(In *in, int fix, int mask, int one, int two, int four) {
  const int head = next(in);
  if (fix && (head & ~mask) == fix) return (uint32_t)(head & mask);
  if (head == one) return (uint32_t)number_of_bytes(in, 1);
  if (head == two) return (uint32_t)number_of_bytes(in, 2);
  if (head == four) return (uint32_t)number_of_bytes(in, 4);
  in->bad = 1;
  return 0;
}

static uint32_t map_size(In *in) { return length(in, 0x80, 0x0f, -1, 0xde, 0xdf); }
static uint32_t list_size(In *in) { return length(in, 0x90, 0x0f, -1, 0xdc, 0xdd); }

static const uint8_t *piece(In *in, uint32_t size) {
  const uint8_t *begin = in->at;
  if ((uint64_t)(in->end - in->at) < size) {
    in->bad = 1;
    return begin;
  }
  in->at += size;
  return begin;
}

static int text_is(In text, const char *word) {
  return (size_t)(text.end - text.at) == strlen(word) && memcmp(text.at, word, strlen(word)) == 0;
}

static In text(In *in) {
  const uint32_t size = length(in, 0xa0, 0x1f, 0xd9, 0xda, 0xdb);
  const uint8_t *begin = piece(in, size);
  const In result = {begin, in->bad ? begin : begin + size, in->bad};
  return result;
}

static double real(In *in) {
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

static int64_t whole(In *in) {
  const int head = next(in);
  if (head < 0x80) return head;
  if (head >= 0xcc && head <= 0xcf) return (int64_t)number_of_bytes(in, 1 << (head - 0xcc));
  in->bad = 1;
  return 0;
}

static void pass_over(In *in) {
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

static void put(Out *out, const void *bytes, size_t size) {
  memcpy(out->bytes + out->size, bytes, size);
  out->size += size;
}
static void put_head(Out *out, int head) { out->bytes[out->size++] = (uint8_t)head; }
static void put_text(Out *out, const char *word) {
  put_head(out, 0xd9);
  put_head(out, (int)strlen(word));
  put(out, word, strlen(word));
}
static void put_bits(Out *out, int head, uint64_t bits) {
  int i;
  put_head(out, head);
  for (i = 56; i >= 0; i -= 8) put_head(out, (int)(bits >> i & 0xff));
}
static void put_real(Out *out, double value) {
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

static int read_question(In in, Question *q) {
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
      const uint8_t *bytes = piece(&in, size);
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

static void answer(const Question *q, Controller *c, int64_t *session, Out *out) {
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

int main(int argc, char **argv) {
  const char *address = argc > 1 ? argv[1] : "tcp://127.0.0.1:5555";
  const int connects = argc > 2 && strcmp(argv[2], "connect") == 0;
  void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_REP);
  Controller controller = {0, 0};
  int64_t session = 0;
  if ((connects ? zmq_connect(socket, address) : zmq_bind(socket, address)) != 0) {
    fprintf(stderr, "%s: %s\n", address, zmq_strerror(zmq_errno()));
    return 1;
  }
  for (;;) {
    zmq_msg_t message;
    Question question;
    Out out;
    In in;
    zmq_msg_init(&message);
    if (zmq_msg_recv(&message, socket, 0) < 0) return 1;
    in.at = zmq_msg_data(&message);
    in.end = in.at + zmq_msg_size(&message);
    in.bad = 0;
    if (!read_question(in, &question)) {
      fprintf(stderr, "a question that cannot be read\n");
      return 1;
    }
    answer(&question, &controller, &session, &out);
    zmq_msg_close(&message);
    if (zmq_send(socket, out.bytes, out.size, 0) < 0) return 1;
  }
}
