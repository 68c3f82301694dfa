#include <gtest/gtest.h>

#include "concord/registry.hpp"

namespace concord {
namespace {

Parameters written() {
  Parameters parameters;
  parameters.set_written("mass", "1e3", false, "m.yaml:3")
      .set_written("count", "4", false, "m.yaml:4")
      .set_written("on", "true", false, "m.yaml:5")
      .set_written("off", "no", false, "m.yaml:6")
      .set_written("profile", "naca", false, "m.yaml:7")
      .set_written("digits", "12", true, "m.yaml:8");
  return parameters;
}

template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const ParameterError& error) {
    return error.location() + "|" + error.what();
  }
  return "no error";
}

TEST(Parameters, give_typed_values) {
  const Parameters parameters = written();
  EXPECT_EQ(parameters.number("mass"), 1000.0);
  EXPECT_EQ(parameters.number("count"), 4.0);
  EXPECT_EQ(parameters.integer("count"), 4);
  EXPECT_EQ(parameters.integer("mass"), 1000);
  EXPECT_TRUE(parameters.flag("on"));
  EXPECT_FALSE(parameters.flag("off"));
  EXPECT_EQ(parameters.text("profile"), "naca");
  EXPECT_EQ(parameters.text("digits"), "12");
}

TEST(Parameters, fall_back_to_the_default_only_when_missing) {
  const Parameters parameters = written();
  EXPECT_EQ(parameters.number("span", 30.0), 30.0);
  EXPECT_EQ(parameters.number("mass", 30.0), 1000.0);
  EXPECT_EQ(parameters.integer("cells", 7), 7);
  EXPECT_TRUE(parameters.flag("verbose", true));
  EXPECT_EQ(parameters.text("name", "wing"), "wing");
  EXPECT_THROW(parameters.number("profile", 1.0), ParameterError);
}

TEST(Parameters, of_the_wrong_kind_are_errors_with_their_line) {
  const Parameters parameters = written();
  EXPECT_EQ(error_of([&] { parameters.number("profile"); }),
            "m.yaml:7|parameter 'profile' must be a finite number, not 'naca'");
  EXPECT_EQ(error_of([&] { parameters.number("digits"); }),
            "m.yaml:8|parameter 'digits' must be a finite number, not '12'");
  EXPECT_EQ(error_of([&] { parameters.flag("count"); }),
            "m.yaml:4|parameter 'count' must be true or false, not '4'");
  EXPECT_EQ(error_of([&] { parameters.number("span"); }),
            "|parameter 'span' is missing; add it to parameters");
  Parameters half;
  half.set("cells", 2.5);
  EXPECT_EQ(error_of([&] { half.integer("cells"); }),
            "|parameter 'cells' must be an integer, not '2.5'");
}

TEST(Parameters, that_nobody_asked_for_are_errors) {
  Parameters parameters;
  parameters.set("mass", 1.0).set("sapn", 2.0);
  parameters.number("mass", 0.0);
  parameters.number("span", 0.0);
  EXPECT_EQ(error_of([&] { parameters.check_all_asked(); }),
            "|unknown parameter 'sapn'; did you mean 'span'? known parameters: mass, span");
  parameters.has("sapn");
  EXPECT_NO_THROW(parameters.check_all_asked());
}

TEST(Parameters, set_in_a_program_come_back_unchanged) {
  Parameters parameters;
  parameters.set("third", 1.0 / 3.0).set("n", 12L).set("on", true).set("name", "x");
  EXPECT_EQ(parameters.number("third"), 1.0 / 3.0);
  EXPECT_EQ(parameters.integer("n"), 12);
  EXPECT_TRUE(parameters.flag("on"));
  EXPECT_EQ(parameters.text("name"), "x");
}

}  // namespace
}  // namespace concord
