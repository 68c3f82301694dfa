#include "coupling/estimates/late_errors.hpp"

#include <gtest/gtest.h>

namespace concord {
namespace late_errors_test {

LateErrors delayed(double late) {
  LateErrors errors;
  errors.take(late, Eigen::MatrixXd::Identity(1, 1), Eigen::MatrixXd(1, 0));
  return errors;
}

/// The input is wrong by this much, on the mean, over an interval of size h; what of it is known
/// when the interval begins has come out by then.
double pass(LateErrors& errors, double h, double error) {
  const double s = errors.share(h);
  errors.begin(h);
  errors.add(1.0, Eigen::VectorXd::Constant(1, error));
  errors.end(h, Eigen::VectorXd());
  return errors.over_first(0.0)[0] + s * error;
}

TEST(LateErrors, CarriesTheIntegralWhateverTheIntervals) {
  LateErrors errors = delayed(0.7);
  double put_in = 0.0, put_out = 0.0;
  for (const double h : {0.1, 0.25, 0.05, 0.3, 0.2, 0.1, 0.4, 0.3, 0.6}) {
    const double error = put_out == 0.0 && put_in < 0.5 ? 1.0 : 0.0;
    put_in += h * error;
    put_out += h * pass(errors, h, error);
  }
  EXPECT_NEAR(put_out, put_in, 1e-15);
}

TEST(LateErrors, ComeOutLate) {
  LateErrors errors = delayed(1.0);
  EXPECT_EQ(pass(errors, 0.5, 3.0), 0.0);
  EXPECT_EQ(pass(errors, 0.5, 0.0), 0.0);
  EXPECT_EQ(pass(errors, 0.5, 0.0), 3.0);
  EXPECT_EQ(errors.at_end()[0], 3.0);
  EXPECT_EQ(pass(errors, 0.5, 0.0), 0.0);
}

TEST(LateErrors, OfALongerIntervalAShareLiesWithin) {
  LateErrors errors = delayed(0.5);
  EXPECT_DOUBLE_EQ(pass(errors, 2.0, 4.0), 3.0);
  EXPECT_DOUBLE_EQ(pass(errors, 2.0, 0.0), 1.0);
}

TEST(LateErrors, LayersAreOverWhereIntervalsEnd) {
  LateErrors errors = delayed(0.5);
  errors.begin(0.2);
  errors.add(1.0, Eigen::VectorXd::Constant(1, 3.0));
  errors.add_layers(Eigen::VectorXd::Constant(1, 2.0));
  errors.end(0.2, Eigen::VectorXd());
  EXPECT_EQ(pass(errors, 0.3, 0.0), 0.0);
  EXPECT_DOUBLE_EQ(pass(errors, 0.1, 0.0), 3.0);
  EXPECT_DOUBLE_EQ(errors.layers()[0], 2.0);
  EXPECT_DOUBLE_EQ(errors.at_end()[0], 1.0);
  EXPECT_DOUBLE_EQ(errors.over_last()[0], 1.0);
  EXPECT_DOUBLE_EQ(0.75 * errors.over_first(0.25)[0] + 0.25 * errors.over_last()[0], 3.0);
}

TEST(LateErrors, OfOthersThereIsNothing) {
  LateErrors none;
  none.begin(1.0);
  none.end(1.0, Eigen::VectorXd());
  EXPECT_FALSE(none.any());
}

}  // namespace late_errors_test
}  // namespace concord
