#pragma once
#pragma GCC system_header

#include <algorithm>

/// What mutated places of the program ask (scripts/mutate.py): all mutants of a sample are in one
/// build, and the environment says which of them a run is: CONCORD_MUTANT is its number, or there
/// is none. Each place notes in the file CONCORD_MUTANTS_ASKED that it was asked. Operands are
/// evaluated once, whatever is chosen.
namespace concord::mutants {

inline constexpr int most = 1 << 16;

struct Choice {
  Choice();
  int number = -1;
  unsigned char* asked;  ///< [most], one byte per place
};
extern Choice choice;

inline bool is(int mutant) { return mutant == choice.number; }
inline bool ask(int mutant) {
  choice.asked[mutant] = 1;
  return is(mutant);
}

template <class T>
T value(int mutant, T original, T mutated) {
  return ask(mutant) ? mutated : original;
}
template <class A, class B>
auto plus(int mutant, A a, B b) {
  return ask(mutant) ? a - b : a + b;
}
template <class A, class B>
auto minus(int mutant, A a, B b) {
  return ask(mutant) ? a + b : a - b;
}
template <class A, class B>
auto times(int mutant, A a, B b) {
  return ask(mutant) ? a / b : a * b;
}
template <class A, class B>
auto over(int mutant, A a, B b) {
  return ask(mutant) ? a * b : a / b;
}
template <class A, class B>
auto remainder(int mutant, A a, B b) {
  return ask(mutant) ? a * b : a % b;
}
template <class A>
auto negative(int mutant, A a) {
  return ask(mutant) ? +a : -a;
}
template <class A, class B>
A& add(int mutant, A& a, B b) {
  return ask(mutant) ? a -= b : a += b;
}
template <class A, class B>
A& subtract(int mutant, A& a, B b) {
  return ask(mutant) ? a += b : a -= b;
}
template <class A, class B>
A& multiply(int mutant, A& a, B b) {
  return ask(mutant) ? a /= b : a *= b;
}
template <class A, class B>
A& divide(int mutant, A& a, B b) {
  return ask(mutant) ? a *= b : a /= b;
}
template <class A, class B>
bool less(int mutant, A a, B b) {
  return ask(mutant) ? a <= b : a < b;
}
template <class A, class B>
bool less_equal(int mutant, A a, B b) {
  return ask(mutant) ? a < b : a <= b;
}
template <class A, class B>
bool greater(int mutant, A a, B b) {
  return ask(mutant) ? a >= b : a > b;
}
template <class A, class B>
bool greater_equal(int mutant, A a, B b) {
  return ask(mutant) ? a > b : a >= b;
}
template <class A, class B>
bool equal(int mutant, A a, B b) {
  return (a == b) != ask(mutant);
}
template <class A, class B>
bool unequal(int mutant, A a, B b) {
  return (a != b) != ask(mutant);
}
template <class T>
T min(int mutant, const T& a, const T& b) {
  return ask(mutant) ? std::max(a, b) : std::min(a, b);
}
template <class T>
T max(int mutant, const T& a, const T& b) {
  return ask(mutant) ? std::min(a, b) : std::max(a, b);
}
/// A function of one number, or the number itself.
template <class T, class F>
T call(int mutant, T x, F function) {
  return ask(mutant) ? x : static_cast<T>(function(x));
}

}  // namespace concord::mutants
