#include "studies/design.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>

#include "concord/errors.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Texts = std::vector<std::string>;

TEST(ListedValues, EndsAreIncluded) {
  EXPECT_EQ(listed_values("1,2, 5", ""), (Texts{"1", "2", "5"}));
  EXPECT_EQ(listed_values("range(0, 0.5, 0.1)", ""),
            (Texts{"0", "0.1", "0.2", "0.3", "0.4", "0.5"}));
  EXPECT_EQ(listed_values("range(0,1,0.4)", ""), (Texts{"0", "0.4", "0.8"}));
  EXPECT_EQ(listed_values("range(3, 1, -1)", ""), (Texts{"3", "2", "1"}));
  EXPECT_EQ(listed_values("range(1, 3)", ""), (Texts{"1", "2", "3"}));
  EXPECT_EQ(listed_values("range(2, 0)", ""), (Texts{"2", "1", "0"}));
  EXPECT_EQ(listed_values("linspace(10, 100, 4)", ""), (Texts{"10", "40", "70", "100"}));
  EXPECT_EQ(listed_values("linspace(7, 9, 1)", ""), (Texts{"7"}));
  EXPECT_EQ(listed_values("logspace(1e-2, 1e2, 3)", "").size(), 3U);
  EXPECT_NEAR(*parse_number(listed_values("logspace(1e-2, 1e2, 3)", "")[1]), 1.0, 1e-15);
  EXPECT_EQ(listed_values("0, linspace(1,2,2), max(3, 4), [1, 2], \"a,b\"", ""),
            (Texts{"0", "1", "2", "max(3, 4)", "[1, 2]", "\"a,b\""}));
}

TEST(ListedValues, Refused) {
  for (const char* text : {"1,,2", "range(1)", "range(0, 1, -1)", "range(0, 1, 0)",
                           "linspace(0, 1, 2.5)", "linspace(0, 1, 0)", "linspace(0, a, 3)",
                           "logspace(-1, 1, 3)", "logspace(0, 1, 3)", "range(0, 1, 1e-12)"})
    EXPECT_THROW(listed_values(text, "here"), InputError) << text;
}

TEST(MakeDesign, EveryCombination) {
  const Design design = make_design({.set = {"a.x=1,2", "b.y = 3,4,5"}});
  EXPECT_EQ(design.names, (Texts{"a.x", "b.y"}));
  ASSERT_EQ(design.runs.size(), 6U);
  EXPECT_EQ(design.runs[1], (Texts{"1", "4"}));
  EXPECT_EQ(design.runs[3], (Texts{"2", "3"}));
}

TEST(MakeDesign, RowsOfAFileTimesValues) {
  const auto path = std::filesystem::temp_directory_path() / "concord_design_test.csv";
  std::ofstream(path) << "\xef\xbb\xbf"
                      << "a.x;parameters.g\r\n1;9.8\r\n\r\n2;\"1,6\"\r\n";
  const Design design = make_design({.set = {"b.y=3,4"}, .samples = path});
  EXPECT_EQ(design.names, (Texts{"a.x", "parameters.g", "b.y"}));
  ASSERT_EQ(design.runs.size(), 4U);
  EXPECT_EQ(design.runs[3], (Texts{"2", "1,6", "4"}));
  for (const char* text :
       {"", "a.x,b\n1,2\n", "a.x,b.y\n", "a.x,b.y\n1\n", "a.x,a.x\n1,2\n", "a.x\n\"1\n"}) {
    std::ofstream(path) << text;
    EXPECT_THROW(make_design({.samples = path}), InputError) << text;
  }
  std::filesystem::remove(path);
  EXPECT_THROW(make_design({.samples = path}), InputError);
}

/// Each of n equal parts of each range, by its own measure, has one point.
TEST(MakeDesign, LatinHypercube) {
  const DesignWords words{.set = {"a.x=uniform(-1, 1)", "b.y=loguniform(1e-3, 1e3)", "c.z=7"},
                          .latin = 50};
  const Design design = make_design(words);
  ASSERT_EQ(design.runs.size(), 50U);
  EXPECT_EQ(design.names, (Texts{"a.x", "b.y", "c.z"}));
  std::set<int> of_x, of_y, together;
  for (const auto& run : design.runs) {
    of_x.insert(static_cast<int>(25.0 * (*parse_number(run[0]) + 1.0)));
    of_y.insert(
        static_cast<int>(std::floor(50.0 / 6.0 * (std::log10(*parse_number(run[1])) + 3.0))));
    EXPECT_EQ(run[2], "7");
  }
  EXPECT_EQ(of_x.size(), 50U);
  EXPECT_EQ(of_y.size(), 50U);
  EXPECT_EQ(make_design(words).runs, design.runs);
  DesignWords other = words;
  other.seed = 2;
  EXPECT_NE(make_design(other).runs, design.runs);
}

/// The first point of seed 1, as every machine must have it.
TEST(MakeDesign, SameOnEveryMachine) {
  const Design design =
      make_design({.set = {"a.x=uniform(1, 5)", "a.y=uniform(0, 1)"}, .latin = 5});
  EXPECT_EQ(design.runs[0][0], "2.8807184910263355");
}

TEST(MakeDesign, Refused) {
  for (const Texts& set : std::vector<Texts>{{},
                                             {"x=1"},
                                             {"a.x"},
                                             {"a.x="},
                                             {"a.x=1", "a.x=2"},
                                             {"a.x=uniform(1,2)"},
                                             {"a.x=range(1,9999,1)", "a.y=range(1,9999,1)"}})
    EXPECT_THROW(make_design({.set = set}), InputError);
  EXPECT_THROW(make_design({.set = {"a.x=1"}, .latin = 5}), InputError);
  EXPECT_THROW(make_design({.set = {"a.x=uniform(1)"}, .latin = 5}), InputError);
  EXPECT_THROW(make_design({.set = {"a.x=loguniform(0, 1)"}, .latin = 5}), InputError);
}

}  // namespace
}  // namespace concord
