#include "units/units.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numbers>

namespace concord {
namespace {

struct Pair {
  const char* from;
  const char* to;
  double factor;
  double offset;
};

class Units : public testing::TestWithParam<Pair> {};

TEST_P(Units, convert) {
  const auto& [from, to, factor, offset] = GetParam();
  const auto result = unit_conversion(from, to);
  ASSERT_TRUE(std::holds_alternative<UnitConversion>(result)) << from << " to " << to;
  EXPECT_NEAR(std::get<UnitConversion>(result).factor, factor, 1e-14 * factor)
      << from << " to " << to;
  EXPECT_NEAR(std::get<UnitConversion>(result).offset, offset, 1e-12) << from << " to " << to;
}

INSTANTIATE_TEST_SUITE_P(
    known, Units,
    testing::Values(Pair{"1/s", "Hz", 1, 0}, Pair{"rpm", "rad/s", std::numbers::pi / 30, 0},
                    Pair{"rad/s", "rpm", 30 / std::numbers::pi, 0}, Pair{"degC", "K", 1, 273.15},
                    Pair{"K", "degC", 1, -273.15}, Pair{"degF", "degC", 5.0 / 9, -160.0 / 9},
                    Pair{"bar", "Pa", 1e5, 0}, Pair{"N.m", "J", 1, 0}, Pair{"N*m", "J", 1, 0},
                    Pair{"kg.m2/s2", "J", 1, 0}, Pair{"kg.m/s2", "N", 1, 0},
                    Pair{"m^2", "cm2", 1e4, 0}, Pair{"%", "1", 0.01, 0}, Pair{"-", "1", 1, 0},
                    Pair{"-", "%", 100, 0}, Pair{"m/s", "km/h", 3.6, 0},
                    Pair{"deg", "rad", std::numbers::pi / 180, 0}, Pair{"rev/min", "rpm", 1, 0},
                    Pair{"kWh", "J", 3.6e6, 0}, Pair{"mm", "m", 1e-3, 0},
                    Pair{"W/(m2.K)", "W/m2/K", 1, 0}, Pair{"\xc2\xb5m", "m", 1e-6, 0}));

INSTANTIATE_TEST_SUITE_P(empty_matches_anything, Units,
                         testing::Values(Pair{"", "m", 1, 0}, Pair{"m", "", 1, 0},
                                         Pair{"", "", 1, 0}, Pair{"", "no such unit", 1, 0},
                                         Pair{" ", "m", 1, 0}));

INSTANTIATE_TEST_SUITE_P(equal_texts_match_whatever_they_say, Units,
                         testing::Values(Pair{"widgets", "widgets", 1, 0}, Pair{"m ", " m", 1, 0}));

UnitProblem problem(const std::string& from, const std::string& to) {
  return std::get<UnitProblem>(unit_conversion(from, to));
}

TEST(UnitProblems, tell_unknown_units_from_different_dimensions) {
  EXPECT_EQ(problem("widgets", "m"), UnitProblem::unknown_from);
  EXPECT_EQ(problem("m", "m//s"), UnitProblem::unknown_to);
  EXPECT_EQ(problem("m", "s"), UnitProblem::different_dimensions);
  EXPECT_EQ(problem("N", "m"), UnitProblem::different_dimensions);
  EXPECT_EQ(problem("kg", "1"), UnitProblem::different_dimensions);
}

TEST(Units, of_integrals_over_time) {
  EXPECT_EQ(integral_unit(""), "");
  EXPECT_EQ(integral_unit("-"), "s");
  for (const auto& [unit, integral] :
       {std::pair("N", "N.s"), std::pair("m/s", "(m/s).s"), std::pair("1", "s")}) {
    EXPECT_EQ(integral_unit(unit), integral);
  }
  const auto same = unit_conversion(integral_unit("m/s"), "m");
  ASSERT_TRUE(std::holds_alternative<UnitConversion>(same));
  EXPECT_DOUBLE_EQ(std::get<UnitConversion>(same).factor, 1.0);
}

TEST(UnitProblems, reciprocals_are_different_dimensions) {
  EXPECT_EQ(problem("s", "Hz"), UnitProblem::different_dimensions);
}

TEST(UnitProblems, leave_stderr_silent) {
  testing::internal::CaptureStderr();
  problem("((", "m");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

struct InBase {
  const char* unit;
  std::array<int, 8> exponents;  // kg m s A K mol cd rad
  double factor, offset;
};

class BaseUnits : public testing::TestWithParam<InBase> {};

TEST_P(BaseUnits, are_those_of_fmi) {
  const auto found = in_base_units(GetParam().unit);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->exponents, GetParam().exponents);
  EXPECT_DOUBLE_EQ(found->factor, GetParam().factor);
  EXPECT_DOUBLE_EQ(found->offset, GetParam().offset);
}

INSTANTIATE_TEST_SUITE_P(
    all, BaseUnits,
    testing::Values(InBase{"N", {1, 1, -2}, 1, 0}, InBase{"km/h", {0, 1, -1}, 1 / 3.6, 0},
                    InBase{"degC", {0, 0, 0, 0, 1}, 1, 273.15}, InBase{"1", {}, 1, 0},
                    InBase{"degF", {0, 0, 0, 0, 1}, 5.0 / 9, 459.67 * 5 / 9}, InBase{"-", {}, 1, 0},
                    InBase{"%", {}, 0.01, 0},
                    InBase{"deg", {0, 0, 0, 0, 0, 0, 0, 1}, std::numbers::pi / 180, 0},
                    InBase{"rpm", {0, 0, -1, 0, 0, 0, 0, 1}, std::numbers::pi / 30, 0},
                    InBase{"V", {1, 2, -3, -1}, 1, 0}, InBase{"lm", {0, 0, 0, 0, 0, 0, 1, 2}, 1, 0},
                    InBase{"kmol/m3", {0, -3, 0, 0, 0, 1}, 1000, 0},
                    InBase{"W/(m2.K)", {1, 0, -3, 0, -1}, 1, 0}));

TEST(BaseUnits, are_missing_where_there_are_none) {
  for (const char* unit : {"", "widgets", "dBm", "m//s", "days since 2000-01-01"}) {
    EXPECT_FALSE(in_base_units(unit)) << unit;
  }
}

}  // namespace
}  // namespace concord
