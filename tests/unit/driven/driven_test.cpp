#include <gtest/gtest.h>

#include "subsystem/driven/driven_subsystem.hpp"

namespace concord {
namespace {

/// x' = k (force + more), exactly for inputs that are lines; says of itself what the test wants.
class Sum final : public Subsystem {
 public:
  explicit Sum(bool passes_on) : Subsystem(described()), passes_on_(passes_on) {}
  void start(const MacroStep&, double) override {}
  Outcome advance(const MacroStep& step, std::span<const Polynomial> inputs, InputContinuity,
                  Wanted, std::span<Sample> outputs) override {
    const double middle = 0.5 * step.size();
    x_ += k_ * step.size() * (inputs[0](middle) + inputs[1](middle));
    outputs[0] = {x_, 0.0};
    return Outcome::ok;
  }
  Outcome set_parameter(std::size_t, double value) override {
    if (value < 0.0) {
      failure_ = "k is negative";
      return Outcome::failed;
    }
    k_ = value;
    return Outcome::ok;
  }
  bool io(Archive& archive) override {
    if (!passes_on_) {
      failure_ = "it keeps it to itself";
      return false;
    }
    archive(x_, k_);
    return true;
  }

 private:
  static SubsystemDescription described() {
    SubsystemDescription description;
    description.inputs = {{"force", "", 0.0}, {"more", "", 0.0}};
    description.outputs = {{"x", ""}};
    description.parameters = {"k"};
    description.capabilities.polynomial_inputs = true;
    return description;
  }
  bool passes_on_;
  double x_ = 0.0, k_ = 1.0;
};

/// The force is 2 t up to 1 s; `more` is left.
std::unique_ptr<Subsystem> driven(bool passes_on = true) {
  Drive drive;
  drive.signals = std::make_shared<SampledSignals>(
      std::vector{0.0, 0.5, 1.0}, std::vector<SampledSignals::Signal>{{"force", {0.0, 1.0, 2.0}}});
  drive.inputs = {0};
  auto subsystem = drive_subsystem(std::make_unique<Sum>(passes_on), drive);
  subsystem->start({0.0, 0.25}, 1.0);
  return subsystem;
}

double advanced(Subsystem& subsystem, double begin, double end, double more) {
  std::vector<Polynomial> inputs(subsystem.description().inputs.size());
  inputs.front().c = {more, 0.0, 0.0, 0.0};
  std::vector<Sample> outputs(subsystem.description().outputs.size());
  EXPECT_EQ(
      subsystem.advance({begin, end}, inputs, InputContinuity::broken, Wanted::values, outputs),
      Outcome::ok);
  return outputs[0].value;
}

TEST(DrivenSubsystem, PassesOnWhatItRemembers) {
  const auto one = driven();
  EXPECT_EQ(one->set_parameter(0, 3.0), Outcome::ok);
  EXPECT_DOUBLE_EQ(advanced(*one, 0.0, 0.75, 1.0), 3.0 * (0.75 * 0.75 + 0.75));
  Archive written;
  ASSERT_TRUE(one->io(written));
  const auto other = driven();
  Archive read(written.bytes());
  ASSERT_TRUE(other->io(read));
  EXPECT_TRUE(read.at_end());
  EXPECT_EQ(advanced(*other, 0.75, 1.0, 2.0), advanced(*one, 0.75, 1.0, 2.0));
}

TEST(DrivenSubsystem, TellsWhyItsSubsystemRefuses) {
  const auto subsystem = driven(false);
  Archive archive;
  EXPECT_FALSE(subsystem->io(archive));
  EXPECT_EQ(subsystem->failure(), "it keeps it to itself");
  EXPECT_EQ(subsystem->set_parameter(0, -1.0), Outcome::failed);
  EXPECT_EQ(subsystem->failure(), "k is negative");
}

}  // namespace
}  // namespace concord
