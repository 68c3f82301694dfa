// Prints what evaluations of n instances of equations at once cost, in nanoseconds per instance,
// beside each instance alone and the same formulas in C++, one instance after the other.
//   batch_cost [evaluations = 2000000]

#include <cstdio>
#include <cstdlib>
#include <deque>

#include "expression_cases.hpp"
#include "subsystem/equations/equations_batch.hpp"

namespace {

using namespace concord;
using namespace concord::benchmarks;

/// States and so on of n instances as rows of all, and of one.
struct Point {
  Point(const EquationsDescription& d, std::size_t n)
      : x(d.states.size() * n, 0.4),
        u(d.inputs.size() * n, 0.7),
        f(x.size()),
        g(d.outputs.size() * n),
        dudt(u.size(), 0.3),
        d2udt2(u.size(), 0.1) {}
  std::vector<double> x, u, f, g, dudt, d2udt2;
};

struct Kind {
  const char* name;
  bool in_cpp;  ///< there are formulas by hand
  void (*of_batch)(EquationsBatch& batch, Point& at);
  void (*of_model)(OdeModel& model, Point& at);
};

constexpr Kind kinds[] = {{"f and g", true,
                           [](EquationsBatch& batch, Point& at) {
                             batch.derivatives(0.0, at.x, at.u, at.f);
                             batch.outputs(0.0, at.x, at.u, at.g);
                           },
                           [](OdeModel& model, Point& at) {
                             model.derivatives(0.0, at.x, at.u, at.f);
                             model.outputs(0.0, at.x, at.u, at.g);
                           }},
                          {"slopes", true,
                           [](EquationsBatch& batch, Point& at) {
                             batch.output_slopes(0.0, at.x, at.u, {at.f, at.dudt}, at.g);
                           },
                           [](OdeModel& model, Point& at) {
                             model.output_slopes(0.0, at.x, at.u, {at.f, at.dudt}, at.g);
                           }},
                          {"curvatures", false,
                           [](EquationsBatch& batch, Point& at) {
                             batch.output_curvatures(0.0, at.x, at.u, {at.dudt, at.d2udt2}, at.g);
                           },
                           [](OdeModel& model, Point& at) {
                             model.output_curvatures(0.0, at.x, at.u, {at.dudt, at.d2udt2}, at.g);
                           }},
                          {"partials", false,
                           [](EquationsBatch& batch, Point& at) {
                             batch.f_partials(0.0, at.x, at.u);
                             batch.g_partials(0.0, at.x, at.u);
                           },
                           nullptr}};

/// Instances as they are without batches: each with a point of its own.
struct Apart {
  OdeModel* model;
  Point at;
};

double apart(const Kind& kind, std::vector<Apart>& instances, long count) {
  const auto each = [&] {
    for (auto& [model, at] : instances) kind.of_model(*model, at);
  };
  return nanoseconds(count, each) / static_cast<double>(instances.size());
}

void measure(const Case& c, std::size_t n, long count) {
  std::deque<EquationsModel> models;
  std::vector<EquationsModel*> members;
  std::vector<Apart> equations, native;
  EquationsDescription description = c.description;
  for (std::size_t i = 0; i < n; ++i) {
    description.parameters.own()[0].value =
        *c.description.parameters[0].value + 1e-4 * static_cast<double>(i);
    members.push_back(&models.emplace_back(description));
    equations.push_back({members.back(), {description, 1}});
    native.push_back({c.native.get(), {description, 1}});
  }
  EquationsBatch batch(members);
  Point at(description, n);
  const long some = std::max(1L, count / static_cast<long>(n * description.states.size()));
  std::printf("%-9s %5zu", c.name.c_str(), n);
  for (const Kind& kind : kinds) {
    const double together = nanoseconds(some, [&] { kind.of_batch(batch, at); });
    std::printf("  %s %7.2f", kind.name, together / static_cast<double>(n));
    if (kind.of_model != nullptr) std::printf(" (alone %6.1f", apart(kind, equations, some));
    if (kind.in_cpp) std::printf(", C++ %5.1f", apart(kind, native, some));
    if (kind.of_model != nullptr) std::printf(")");
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::atol(argv[1]) : 2'000'000;
  for (const Case& c : cases())
    for (const std::size_t n : {1, 10, 100, 1000}) measure(c, n, count);
}
