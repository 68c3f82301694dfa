#include "cli/dense_curves.hpp"

#include <cmath>
#include <numbers>

#include "results_fixture.hpp"

namespace concord::test {
namespace {

class Dense : public ResultsFixture {
 protected:
  /// The largest error of left.x against `exact`.
  static double error_of(const ResultsReader& results, const DenseCurves& curves,
                         const std::function<double(double)>& exact) {
    const auto values = curves.values(*results.find("left.x"));
    EXPECT_EQ(values.size(), curves.time().size());
    double error = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i)
      error = std::max(error, std::abs(values[i] - exact(curves.time()[i])));
    return error;
  }
};

TEST_F(Dense, FewRowsAreNoPolygon) {
  const auto wave = [](double t) { return std::sin(2 * std::numbers::pi * t); };
  const ResultsReader results(write("wave.h5", 25, wave));
  const DenseCurves curves(results);
  EXPECT_GE(curves.time().size(), 1000u);
  EXPECT_LT(error_of(results, curves, wave), 1e-4);
  const DenseCurves part(results, std::pair(0.5, 0.6), 200);
  EXPECT_GE(part.time().size(), 200u);
  EXPECT_LE(part.time().front(), 0.5);
  EXPECT_GE(part.time().back(), 0.6);
  EXPECT_LT(error_of(results, part, wave), 1e-4);
}

TEST_F(Dense, ManyRowsStayAsTheyAre) {
  const ResultsReader results(write("many.h5", 2001, [](double t) { return t * t; }));
  const DenseCurves curves(results);
  EXPECT_TRUE(std::ranges::equal(curves.time(), results.time()));
}

TEST_F(Dense, NothingGoesAcrossAnEvent) {
  const auto kink = [](double t) { return std::abs(t - 1.0) * (2.0 + t); };
  const ResultsReader results(write("kink.h5", 21, kink, 0.0, {1.0}));
  const DenseCurves curves(results);
  EXPECT_EQ(std::ranges::count(curves.time(), 1.0), 2);
  EXPECT_LT(error_of(results, curves, kink), 1e-12);
}

}  // namespace
}  // namespace concord::test
