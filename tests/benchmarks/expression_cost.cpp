// Prints what evaluations of equations cost, in nanoseconds, beside the same formulas in C++: f and
// g, slopes of outputs, Jacobians; and reading them.
//   expression_cost [evaluations = 2000000]
//   expression_cost CASE values|slopes|jacobians equations|native COUNT    that alone, prints
//   nothing

#include <cstdio>
#include <cstdlib>

#include "expression_cases.hpp"

namespace {

using namespace concord;
using namespace concord::benchmarks;

/// A model and a point at which it is evaluated.
class Evaluations {
 public:
  Evaluations(const EquationsDescription& description, OdeModel& model)
      : model_(model),
        x_(description.states.size(), 0.4),
        u_(description.inputs.size(), 0.7),
        f_(x_.size()),
        g_(description.outputs.size()),
        dudt_(u_.size(), 0.3),
        f_x_(x_.size() * x_.size()),
        f_u_(x_.size() * u_.size()),
        g_x_(g_.size() * x_.size()),
        g_u_(g_.size() * u_.size()) {}

  void values() {
    x_[0] += 1e-12;
    model_.derivatives(0.0, x_, u_, f_);
    model_.outputs(0.0, x_, u_, g_);
  }
  void slopes() { model_.output_slopes(0.0, x_, u_, {f_, dudt_}, g_); }
  void jacobians() { model_.jacobians(0.0, x_, u_, {f_x_, f_u_, g_x_, g_u_}); }

 private:
  OdeModel& model_;
  std::vector<double> x_, u_, f_, g_, dudt_, f_x_, f_u_, g_x_, g_u_;
};

struct Kind {
  const char* name;
  void (Evaluations::*evaluate)();
};

constexpr Kind kinds[] = {{"values", &Evaluations::values},
                          {"slopes", &Evaluations::slopes},
                          {"jacobians", &Evaluations::jacobians}};

void measure(const Case& c, long count) {
  EquationsModel model(c.description);
  Evaluations equations(c.description, model), native(c.description, *c.native);
  const long some = std::max(1L, count / static_cast<long>(c.description.states.size()));
  std::printf("%-9s", c.name.c_str());
  for (const auto& [name, evaluate] : kinds)
    std::printf(" %s %7.1f (C++ %6.1f)", name, nanoseconds(some, [&] { (equations.*evaluate)(); }),
                nanoseconds(some, [&] { (native.*evaluate)(); }));
  const double reading =
      nanoseconds(std::max(1L, some / 10000), [&] { EquationsModel again(c.description); });
  std::printf(" reading %8.0f ns\n", reading);
}

/// For programs that count instructions.
void repeat(const Case& c, const std::string& what, const std::string& who, long count) {
  EquationsModel model(c.description);
  Evaluations evaluations(c.description, who == "native" ? *c.native : model);
  for (const auto& [name, evaluate] : kinds) {
    const long number = what == name ? count : 0;
    for (long k = 0; k < number; ++k) (evaluations.*evaluate)();
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (const Case& c : cases()) {
    if (argc <= 2)
      measure(c, argc > 1 ? std::atol(argv[1]) : 2'000'000);
    else if (argc == 5 && c.name == argv[1])
      repeat(c, argv[2], argv[3], std::atol(argv[4]));
  }
}
