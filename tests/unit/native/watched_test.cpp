#include <gtest/gtest.h>

#include <functional>
#include <new>

#include "concord/errors.hpp"
#include "subsystem/native/watched_model.hpp"
#include "subsystem/native/watched_subsystem.hpp"

namespace concord {
namespace {

/// What is thrown, and as what it comes out, at t = 0.5 s in `function`.
struct Thrown {
  const char* what;
  std::function<void()> by;
  const char* said;
};

const Thrown in_words_of_the_program[] = {
    {"a standard exception", [] { throw std::domain_error("log of -1"); }, "log of -1"},
    {"no memory", [] { throw std::bad_alloc(); }, "not enough memory"},
    {"a number", [] { throw 5; }, "an exception that is not a std::exception"},
    {"an error of the program", [] { throw InputError("no table"); }, "no table"}};

SubsystemDescription a_subsystem() {
  SubsystemDescription result;
  result.name = "s";
  result.kind = "native";
  return result;
}

class Throwing : public Subsystem {
 public:
  explicit Throwing(std::function<void()> by) : Subsystem(a_subsystem()), by_(std::move(by)) {}
  void start(const MacroStep&, double) override {}
  Outcome advance(const MacroStep&, std::span<const Polynomial>, InputContinuity, Wanted,
                  std::span<Sample>) override {
    by_();
    return Outcome::ok;
  }
  void save() override { by_(); }

 private:
  std::function<void()> by_;
};

class ThrowingModel : public OdeModel {
 public:
  explicit ThrowingModel(std::function<void()> by) : by_(std::move(by)) {}
  OdeInterface interface() const override { return {}; }
  void derivatives(double, std::span<const double>, std::span<const double>,
                   std::span<double>) override {
    by_();
  }
  void outputs(double, std::span<const double>, std::span<const double>,
               std::span<double>) override {}
  bool set_parameter(std::size_t, double) override {
    by_();
    return true;
  }

 private:
  std::function<void()> by_;
};

std::unique_ptr<Subsystem> subsystem(const std::function<void()>& by) {
  auto result = watched(std::make_unique<Throwing>(by), "the C++ code", a_subsystem(), {});
  result->start({0.5, 1.0}, 2.0);
  return result;
}

Outcome advance(Subsystem& subsystem) {
  return subsystem.advance({0.5, 1.0}, {}, InputContinuity::broken, Wanted::values, {});
}

template <class Exception>
std::string said_by(const std::function<void()>& work) {
  try {
    work();
  } catch (const Exception& error) {
    return typeid(error) == typeid(Exception) ? error.what() : "a derived exception";
  }
  return "nothing";
}

TEST(Watched, ModelsSayWhere) {
  for (const Thrown& thrown : in_words_of_the_program) {
    const auto model = watched(std::make_unique<ThrowingModel>(thrown.by), "the C++ code", "s", "");
    EXPECT_EQ(said_by<SimulationError>([&] { model->set_parameter(0, 1.0); }),
              std::string("set_parameter: ") + thrown.said)
        << thrown.what;
    EXPECT_EQ(said_by<SimulationError>([&] { model->derivatives(0.5, {}, {}, {}); }),
              std::string("derivatives at t = 0.5 s: ") + thrown.said)
        << thrown.what;
  }
}

TEST(Watched, SubsystemsSayWhere) {
  for (const Thrown& thrown : in_words_of_the_program) {
    const auto found = subsystem(thrown.by);
    EXPECT_EQ(said_by<SimulationError>([&] { advance(*found); }),
              std::string("advance at t = 0.5 s: ") + thrown.said)
        << thrown.what;
  }
}

TEST(Watched, RecoverableFailuresStayThat) {
  const auto fail = [] { throw RecoverableFailure("x < 0"); };
  const auto model = watched(std::make_unique<ThrowingModel>(fail), "the C++ code", "s", "");
  EXPECT_EQ(said_by<RecoverableFailure>([&] { model->derivatives(0.5, {}, {}, {}); }), "x < 0");
  const auto found = subsystem(fail);
  EXPECT_EQ(advance(*found), Outcome::failed);
  EXPECT_EQ(found->failure(), "x < 0");
  EXPECT_EQ(said_by<RecoverableFailure>([&] { found->save(); }), "x < 0");
}

TEST(Watched, TheEndOfASimulationStaysThat) {
  const auto found = subsystem([] { throw EndOfSimulation("landed"); });
  EXPECT_EQ(said_by<EndOfSimulation>([&] { advance(*found); }), "landed");
}

}  // namespace
}  // namespace concord
