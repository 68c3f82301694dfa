/* A node of a CAN bus (FMI-LS-BUS 1.0), written for these tests.
 *
 * Sends BURST frames at FIRST + k PERIOD, each in a super-dense instant of its own, while fewer
 * than MOST_FRAMES have been: classical frames with the identifier ID, the next one ID + 1, ...,
 * and SIZE bytes of data, the first of which is the number of the frame. Tx_Clock (501) is an
 * output, or with COUNTDOWN an input that counts down; with UNTOLD nobody is told when it ticks.
 * Where BAUD is given the first operations, at the start, say that rate, and with LOST what happens
 * to frames that lose.
 *
 * Outputs at ticks of Rx_Clock (500): frames received 300, their identifiers in order as digits in
 * base 2048 (the last four) 301, time of the last 302, confirmations 303, time of the last 304,
 * arbitrations lost 305, a print of all that came with its time 306, bus errors 307. */
#include "clocked.h"
#ifndef FIRST
#define FIRST 0.1
#endif
#ifndef PERIOD
#define PERIOD 0.1
#endif
#ifndef BURST
#define BURST 1
#endif
#ifndef MOST_FRAMES
#define MOST_FRAMES 1000000
#endif
#ifndef ID
#define ID 1
#endif
#ifndef SIZE
#define SIZE 8
#endif
#ifndef EXTENDED
#define EXTENDED 0
#endif
enum { SENT, PENDING, INSTANT, TOLD };
const int model_nx = 0, model_nc = 2;
#ifdef COUNTDOWN
const Clock model_clocks[] = {{'t', 0}, {'d', 0}};
#else
const Clock model_clocks[] = {{'t', 0}, {'o', 0}};
#endif
unsigned model_clocks_of(unsigned reference) {
  return reference == 601 ? 2 : reference == 600 || reference >= 300 ? 1 : 0;
}
static double send_time(const State* s) {
  return s->d[SENT] < MOST_FRAMES ? FIRST + s->d[INSTANT] * PERIOD : INFINITY;
}
static void put(State* s, uint32_t value, int bytes) {
  for (; bytes > 0; --bytes, value >>= 8) s->bytes[1][s->size[1]++] = value & 255u;
}
static void frame(State* s) {
  s->size[1] = 0;
#ifdef BAUD
  if (s->d[SENT] == 0) {
    put(s, 0x40, 4), put(s, 13, 4), put(s, 1, 1), put(s, BAUD, 4);
#ifdef LOST
    put(s, 0x40, 4), put(s, 10, 4), put(s, 4, 1), put(s, LOST, 1);
#endif
  }
#endif
  put(s, 0x10, 4), put(s, 16 + SIZE, 4);
  put(s, ID + (uint32_t)(BURST - s->d[PENDING]), 4), put(s, EXTENDED, 1), put(s, 0, 1);
  put(s, SIZE, 2);
  for (int i = 0; i < SIZE; ++i) put(s, i ? 0x55 + (uint32_t)i : (uint32_t)s->d[SENT], 1);
}
static bool due(const State* s) { return s->t >= send_time(s) - 1e-12; }
static void sent(State* s) {
  s->d[SENT] += 1;
  s->d[PENDING] -= 1;
}
#ifdef COUNTDOWN
void model_start(State* s) { set_interval(s, 1, FIRST); }
static void send(State* s) {
  if (s->d[PENDING] == 0) s->d[PENDING] = BURST, s->d[INSTANT] += 1;
  frame(s);
  sent(s);
  if (s->d[PENDING] > 0)
    set_interval(s, 1, 0);
  else if (isfinite(send_time(s)))
    set_interval(s, 1, send_time(s) - s->t);
}
#else
void model_start(State* s) { (void)s; }
static void send(State* s) { (void)s; }
void model_instant(State* s) {
  if (s->d[PENDING] == 0 && due(s)) s->d[PENDING] = BURST, s->d[INSTANT] += 1;
  if (s->d[PENDING] == 0) return;
  s->ticked[1] = true;
  frame(s);
}
bool model_goes_on(State* s) {
  if (s->d[PENDING] > 0) sent(s);
  return s->d[PENDING] > 0;
}
#ifdef UNTOLD
bool model_untold(const State* s) { return due(s); }
#else
double model_next_time(const State* s) { return send_time(s); }
#endif
#endif
static uint32_t number_at(const State* s, size_t at, int bytes) {
  uint32_t value = 0;
  while (bytes-- > 0) value = value << 8 | s->bytes[0][at + (size_t)bytes];
  return value;
}
static void print(State* s, double value) { s->y[6] = fmod(31 * s->y[6] + value, 1e6); }
void model_run(State* s, int k) {
  if (k == 1) {
    send(s);
    return;
  }
  for (size_t at = 0; at + 8 <= s->size[0]; at += number_at(s, at + 4, 4)) {
    const uint32_t code = number_at(s, at, 4), id = number_at(s, at + 8, 4);
    print(s, code + id + floor(1e6 * s->t + 0.5));
    switch (code) {
      case 0x10:
        s->y[0] += 1;
        s->y[1] = fmod(2048 * s->y[1] + (id & 2047), 2048.0 * 2048 * 2048 * 2048);
        s->y[2] = s->t;
        print(s, s->bytes[0][at + 16]);
        break;
      case 0x20:
        s->y[3] += 1;
        s->y[4] = s->t;
        break;
      case 0x30:
        s->y[5] += 1;
        break;
      case 0x31:
        s->y[7] += 1;
        break;
      default:
        break;
    }
  }
}
