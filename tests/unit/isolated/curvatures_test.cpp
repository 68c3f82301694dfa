#include <gtest/gtest.h>

#include "concord/registry.hpp"
#include "subsystem/isolated/hosted_subsystem.hpp"

namespace concord {
namespace {

/// y = u^2.
class Square : public OdeModel {
 public:
  explicit Square(const Parameters&) {}
  OdeInterface interface() const override {
    OdeInterface result;
    result.inputs = {{"u", "", 0.0}};
    result.outputs = {{"y", ""}};
    result.output_curvatures = true;
    return result;
  }
  void derivatives(double, std::span<const double>, std::span<const double>,
                   std::span<double>) override {}
  void outputs(double, std::span<const double>, std::span<const double> u,
               std::span<double> y) override {
    y[0] = u[0] * u[0];
  }
  bool output_curvatures(double, std::span<const double>, std::span<const double> u,
                         const InputMotion& motion, std::span<double> d2ydt2) override {
    d2ydt2[0] = 2.0 * (motion.dudt[0] * motion.dudt[0] + u[0] * motion.d2udt2[0]);
    return true;
  }
};

CONCORD_REGISTER_SUBSYSTEM("square_with_curvatures", Square)

/// What a subsystem in this process answers to a message.
class Hosted {
 public:
  template <class... Arguments>
  MessageReader call(RemoteFunction function, const Arguments&... arguments) {
    MessageWriter request;
    request.put(function, arguments...);
    MessageReader answer(hosted_.answer_to(request.bytes()).bytes);
    status = answer.taken<CallStatus>();
    return answer;
  }

  CallStatus status;

 private:
  HostedSubsystem hosted_;
};

TEST(IsolatedSubsystem, gives_second_derivatives_of_outputs_as_in_the_same_process) {
  NativeDescription native;
  native.subsystem = "square";
  native.type = "square_with_curvatures";
  Recipe recipe = Recipe::of(native);
  recipe.begin_with(recipe.describe());
  Archive written;
  recipe.io(written);
  Hosted hosted;
  hosted.call(RemoteFunction::make, written.bytes());
  EXPECT_TRUE(hosted.status.capabilities.output_curvatures);
  hosted.call(RemoteFunction::start, MacroStep{0.0, 0.5}, 1.0);
  const std::vector<Sample> inputs = {{3.0, 0.5, 7.0}};
  double found = 0.0;
  std::span<double> place(&found, 1);
  hosted.call(RemoteFunction::output_curvatures, inputs).take(place);
  ASSERT_EQ(hosted.status.ending, Ending::done);
  EXPECT_EQ(found, 2.0 * (0.25 + 3.0 * 7.0));
  const std::vector<double> x, u = {3.0}, dudt = {0.5}, curvatures = {7.0};
  auto answer = hosted.call(RemoteFunction::model_output_curvatures, 0.0, x, u, dudt, curvatures);
  ASSERT_TRUE(answer.taken<bool>());
  found = 0.0;
  answer.take(place);
  EXPECT_EQ(found, 2.0 * (0.25 + 3.0 * 7.0));
}

}  // namespace
}  // namespace concord
