#include "network/own_subsystems.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

#include "concord/errors.hpp"

namespace concord {
namespace {

/// Does what it is told when it is advanced.
class Told final : public Subsystem {
 public:
  using Act = std::function<Outcome()>;

  Told(std::string name, Act act) : Subsystem(named(std::move(name))), act_(std::move(act)) {}
  void start(const MacroStep&, double) override {}
  Outcome advance(const MacroStep&, std::span<const Polynomial>, InputContinuity, Wanted,
                  std::span<Sample>) override {
    ++counters_.advances;
    failure_ = "no way on";
    return act_();
  }

 private:
  static SubsystemDescription named(std::string name) {
    SubsystemDescription description;
    description.name = std::move(name);
    return description;
  }

  Act act_;
};

class Own : public ::testing::Test {
 protected:
  Model model() {
    Model model;
    for (const char* name : {"left", "right"}) {
      SubsystemEntry entry;
      entry.type.own().create = [this, name = std::string(name)](const SubsystemEntry&,
                                                                 const SubsystemSettings&) {
        return std::make_unique<Told>(name, [this] { return act(); });
      };
      model.subsystems.push_back(entry);
    }
    return model;
  }
  Outcome advance(std::size_t k) {
    return own.guarded(k, [](Subsystem& subsystem) {
      return subsystem.advance({0.0, 1.0}, {}, InputContinuity::broken, Wanted::values, {});
    });
  }

  std::function<Outcome()> act = [] { return Outcome::ok; };
  const std::vector<std::size_t> all{0, 1};
  OwnSubsystems own{model(), all, SettingsList(2)};
};

TEST_F(Own, AFailureCountsUntilTheSameSubsystemGoesOn) {
  act = [] { return Outcome::failed; };
  EXPECT_EQ(advance(1), Outcome::failed);
  EXPECT_EQ(own.failure(), "subsystem 'right': no way on");
  EXPECT_FALSE(own.fatal());
  act = [] { return Outcome::ok; };
  EXPECT_EQ(advance(0), Outcome::ok);
  EXPECT_TRUE(own.failure());
  EXPECT_EQ(advance(1), Outcome::ok);
  EXPECT_FALSE(own.failure());
}

TEST_F(Own, AfterAnExceptionNoneIsCalled) {
  act = []() -> Outcome { throw std::runtime_error("broken"); };
  EXPECT_EQ(advance(0), Outcome::failed);
  EXPECT_TRUE(own.fatal());
  EXPECT_FALSE(own.asks_for_end());
  act = [] { return Outcome::ok; };
  EXPECT_EQ(advance(1), Outcome::failed);
  EXPECT_EQ(own.counters(1).advances, 0);
  own.forget_failure();
  EXPECT_EQ(own.failure(), "subsystem 'left': broken");
}

TEST_F(Own, WhatWasThrownWhenAskedIsTheReasonOfALaterEnd) {
  const auto first = own.asking(1, []() -> void { throw std::runtime_error("the cause"); });
  EXPECT_EQ(first, "the cause");
  EXPECT_FALSE(own.fatal());
  act = []() -> Outcome { throw std::runtime_error("the consequence"); };
  advance(1);
  EXPECT_EQ(own.failure(), "subsystem 'right': the cause");
}

TEST_F(Own, TheEndThatASubsystemAsksForIsToldApart) {
  act = []() -> Outcome { throw EndOfSimulation("enough"); };
  advance(0);
  EXPECT_TRUE(own.fatal());
  EXPECT_TRUE(own.asks_for_end());
}

TEST_F(Own, CountersOutliveTheSubsystems) {
  advance(0);
  advance(0);
  own.end();
  EXPECT_EQ(own.counters(0).advances, 2);
  EXPECT_EQ(own.name(0), "left");
  EXPECT_FALSE(own.failure());
}

}  // namespace
}  // namespace concord
