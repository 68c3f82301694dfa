// Prints what evaluations of equations cost, in nanoseconds: f and g, Jacobians, and reading them.
//   expression_cost [evaluations = 2000000]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "subsystem/equations/equations_model.hpp"

namespace {

using namespace concord;

struct Case {
  const char* name;
  EquationsDescription description;
};

EquationsDescription mass() {
  return {.subsystem = "mass",
          .location = "",
          .parameters = {{"m", 5.0, ""}, {"c", 1e4, ""}, {"d", 10.0, ""}},
          .inputs = {{"f", 1.0, ""}},
          .states = {{"x", 1.0, ""}, {"v", 0.5, ""}},
          .derivatives = {{"x", "v", ""}, {"v", "(f - c*x - d*v)/m", ""}},
          .outputs = {{"x", "x", ""}, {"v", "v", ""}},
          .units = {}};
}

EquationsDescription prey() {
  return {.subsystem = "prey",
          .location = "",
          .parameters = {{"alpha", 0.67, ""}, {"beta", 1.33, ""}},
          .inputs = {{"predators", 1.0, ""}},
          .states = {{"amount", 1.0, ""}},
          .derivatives = {{"amount", "alpha*amount - beta*amount*predators", ""}},
          .outputs = {{"amount", "amount", ""}},
          .units = {}};
}

EquationsDescription pendulum() {
  return {.subsystem = "pendulum",
          .location = "",
          .parameters = {{"g", 9.81, ""}, {"l", 2.0, ""}},
          .inputs = {{"push", 1.0, ""}},
          .states = {{"phi", 0.3, ""}, {"omega", 0.5, ""}},
          .derivatives = {{"phi", "omega", ""},
                          {"omega", "-g/l*sin(phi) - 0.1*abs(omega)*omega + push*cos(phi)", ""}},
          .outputs = {{"x", "l*sin(phi)", ""}, {"y", "-l*cos(phi)", ""}},
          .units = {}};
}

EquationsDescription chain(int n) {
  EquationsDescription result{.subsystem = "chain",
                              .location = "",
                              .parameters = {{"c", 10.0, ""}},
                              .inputs = {{"left", 1.0, ""}},
                              .states = {},
                              .derivatives = {},
                              .outputs = {{"right", "x0", ""}},
                              .units = {}};
  for (int i = 0; i < n; ++i) {
    const std::string own = "x" + std::to_string(i);
    const std::string before = i == 0 ? "left" : "x" + std::to_string(i - 1);
    const std::string after = i + 1 == n ? "0" : "x" + std::to_string(i + 1);
    result.states.push_back({own, 0.1, ""});
    result.derivatives.push_back(
        {own, "c*(1 + " + own + "^2)*(" + before + " - 2*" + own + " + " + after + ")", ""});
  }
  return result;
}

/// The best of many short series, so that other programs on the machine count little.
template <class Call>
double nanoseconds(long count, Call&& call) {
  constexpr int series = 200;
  const long each = std::max(1L, count / series);
  double best = 1e300;
  for (int i = 0; i < series; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    for (long k = 0; k < each; ++k) call();
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
    best = std::min(best, taken.count() / static_cast<double>(each));
  }
  return best;
}

void measure(const Case& c, long count) {
  EquationsModel model(c.description);
  const std::size_t n_st = c.description.states.size(), n_in = c.description.inputs.size(),
                    n_out = c.description.outputs.size();
  std::vector<double> x(n_st, 0.4), u(n_in, 0.7), f(n_st), g(n_out);
  std::vector<double> f_x(n_st * n_st), f_u(n_st * n_in), g_x(n_out * n_st), g_u(n_out * n_in);
  const long some = std::max(1L, count / static_cast<long>(n_st));
  const double reading =
      nanoseconds(std::max(1L, some / 10000), [&] { EquationsModel again(c.description); });
  const double right = nanoseconds(some, [&] {
    x[0] += 1e-12;
    model.derivatives(0.0, x, u, f);
  });
  const double outputs = nanoseconds(some, [&] { model.outputs(0.0, x, u, g); });
  const double jacobians = nanoseconds(std::max(1L, some / 10), [&] {
    model.jacobians(0.0, x, u, {f_x, f_u, g_x, g_u});
  });
  std::printf("%-10s f %9.1f  g %8.1f  jacobians %10.1f  reading %11.0f ns\n", c.name, right,
              outputs, jacobians, reading);
}

}  // namespace

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::atol(argv[1]) : 2'000'000;
  for (const Case& c : {Case{"mass", mass()}, Case{"prey", prey()}, Case{"pendulum", pendulum()},
                        Case{"chain 100", chain(100)}})
    measure(c, count);
}
