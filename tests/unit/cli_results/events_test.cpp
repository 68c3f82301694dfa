#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

#include "cli/event_rows.hpp"
#include "cli/results_commands.hpp"
#include "concord/errors.hpp"
#include "results_fixture.hpp"

namespace concord::test {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// A sawtooth: sin(3 t) and 2 more behind each tooth; which side of one a time is on, is said.
double sawtooth(double t, std::size_t passed) {
  return std::sin(3 * t) + 2.0 * static_cast<double>(passed);
}

class Events : public ResultsFixture {
 protected:
  /// `n` equal macro-steps before, between and behind events at `teeth` in [0, 2]: rows of right
  /// limits; with a `rest` one more macro-step, so short, before and behind each event.
  std::string write_sawtooth(const std::string& name, int n, std::vector<double> teeth,
                             bool left_of_inputs = true, double rest = 0.0) const {
    ResultsWriter writer(MPI_COMM_SELF, file(name), layout());
    teeth.push_back(2.0);
    double begin = 0.0;
    writer.append_start(row(0.0, 0, true));
    for (std::size_t tooth = 0; tooth < teeth.size(); ++tooth) {
      const double h = (teeth[tooth] - begin) / n;
      for (int i = 1; i < n; ++i) writer.append(row(begin + h * i, tooth, true), {});
      begin = teeth[tooth];
      const bool last = tooth + 1 == teeth.size();
      if (rest > 0.0 && !last) writer.append(row(begin - rest, tooth, true), {});
      if (!last)
        writer.append_event(row(begin, tooth, left_of_inputs), row(begin, tooth + 1, true),
                            {"saw", "t > tooth"});
      writer.append(row(begin, last ? tooth : tooth + 1, true), {});
      if (rest > 0.0 && !last) writer.append(row(begin + rest, tooth + 1, true), {});
    }
    writer.close(RunStatus::completed, {});
    return file(name);
  }

  static double relative_error(const std::string& a, const std::string& b,
                               const std::string& variable) {
    std::istringstream lines(printed(compare_command, {a, b}));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string name, unit;
      double relative = NAN;
      words >> name >> unit >> relative;
      if (name == variable) return relative;
    }
    return NAN;
  }

  static std::string printed(int (*command)(std::span<const std::string>),
                             const std::vector<std::string>& arguments) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(command(arguments), 0);
    return testing::internal::GetCapturedStdout();
  }

 private:
  static ResultsRow row(double t, std::size_t passed, bool known) {
    static std::vector<Sample> outputs, inputs;
    const double value = sawtooth(t, passed), slope = 3 * std::cos(3 * t);
    outputs.assign(2, {value, slope});
    inputs.assign(1, {known ? value : unknown, slope});
    return {t, outputs, inputs, {}, {}};
  }
};

}  // namespace

TEST_F(Events, ExportGivesWhatWasBeforeAndWhatFollows) {
  const auto run = write_sawtooth("run.h5", 2, {0.5, 1.0});
  std::istringstream lines(printed(export_command, {run, "-v", "left.x,left.u"}));
  std::string header;
  std::getline(lines, header);
  std::vector<std::array<double, 3>> rows;
  for (std::string line; std::getline(lines, line);) {
    std::array<double, 3> numbers{};
    ASSERT_EQ(std::sscanf(line.c_str(), "%lf,%lf,%lf", &numbers[0], &numbers[1], &numbers[2]), 3);
    rows.push_back(numbers);
  }
  ASSERT_EQ(rows.size(), 9u);
  for (const auto& [index, passed] : {std::pair{2, 0}, {3, 1}, {5, 1}, {6, 2}}) {
    const auto& [time, x, u] = rows[static_cast<std::size_t>(index)];
    EXPECT_EQ(time, index < 4 ? 0.5 : 1.0);
    EXPECT_EQ(x, sawtooth(time, static_cast<std::size_t>(passed)));
    EXPECT_EQ(u, x);
  }
}

TEST_F(Events, ExportGivesOneRowWhereTold) {
  const auto run = write_sawtooth("run.h5", 2, {0.5, 1.0});
  const std::string both = printed(export_command, {run, "-v", "left.x"});
  const std::string right = printed(export_command, {run, "-v", "left.x", "--events", "right"});
  EXPECT_EQ(std::count(both.begin(), both.end(), '\n'), 10);
  EXPECT_EQ(std::count(right.begin(), right.end(), '\n'), 8);
  EXPECT_EQ(both, printed(export_command, {run, "-v", "left.x", "--events", "both"}));
  try {
    export_command(std::vector<std::string>{run, "--events", "left"});
    ADD_FAILURE() << "--events left passes";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("must be both or right"), std::string::npos);
  }
}

TEST_F(Events, ExportLeavesFieldsEmptyOfWhatIsNotKnown) {
  const auto run = write_sawtooth("run.h5", 1, {0.5}, false);
  std::istringstream lines(printed(export_command, {run, "-v", "left.u"}));
  std::vector<std::string> read;
  for (std::string line; std::getline(lines, line);) read.push_back(line);
  ASSERT_EQ(read.size(), 5u);
  EXPECT_EQ(read[2], "0.5,");
  EXPECT_EQ(read[3].substr(0, 4), "0.5,");
  EXPECT_GT(read[3].size(), 4u);
}

/// Exact runs differ by interpolation inside the pieces only, with left limits and without.
TEST_F(Events, CompareInterpolatesOnEachSideOnly) {
  for (const bool known : {true, false}) {
    const auto a = write_sawtooth("a.h5", 37, {0.5, 1.25}, known);
    const auto b = write_sawtooth("b.h5", 30, {0.5, 1.25}, known);
    EXPECT_LT(relative_error(a, b, "left.x"), 1e-9);
    EXPECT_LT(relative_error(a, b, "left.u"), known ? 2e-7 : 5e-6);
  }
}

/// The same events, found a little earlier or later, are no difference of the size of the jump.
TEST_F(Events, CompareMeetsTheSameEventBesideIt) {
  const auto b = write_sawtooth("b.h5", 30, {0.5, 1.25});
  for (const double shift : {-1e-7, 1e-7}) {
    const auto a = write_sawtooth("a.h5", 37, {0.5 + shift, 1.25 + shift});
    EXPECT_LT(relative_error(a, b, "left.x"), 1e-7) << shift;
  }
  const auto elsewhere = write_sawtooth("a.h5", 37, {0.6, 1.25});
  EXPECT_GT(relative_error(elsewhere, b, "left.x"), 0.1);
}

/// Rows beside an event lie on its same side in both files, however close to it.
TEST_F(Events, CompareTakesTheSameSideOfAnEvent) {
  for (const double shift : {-1e-11, -1e-13, -2e-16, 2e-16, 1e-13, 1e-11})
    for (const double rest_a : {0.0, 4e-12})
      for (const double rest_b : {0.0, 4e-12}) {
        const auto a = write_sawtooth("a.h5", 30, {0.5 + shift, 1.25 + shift}, true, rest_a);
        const auto b = write_sawtooth("b.h5", 30, {0.5, 1.25}, true, rest_b);
        EXPECT_LT(relative_error(a, b, "left.x"), 1e-9) << shift << ' ' << rest_a << ' ' << rest_b;
        EXPECT_LT(relative_error(b, a, "left.x"), 1e-9) << shift << ' ' << rest_a << ' ' << rest_b;
      }
}

/// Rows that are 2e-8 s apart differ by what integrators leave, which no polynomial may continue.
TEST_F(Events, CompareDoesNotContinueDifferencesOfCloseRows) {
  const auto write_rows = [&](const std::string& name, double h, double rest) {
    ResultsWriter writer(MPI_COMM_SELF, file(name), layout());
    std::vector<Sample> outputs, inputs(1);
    const auto row = [&](double t, double noise) {
      outputs.assign(2, {std::sin(3 * t) + noise, 3 * std::cos(3 * t)});
      return ResultsRow{t, outputs, inputs, {}, {}};
    };
    writer.append_start(row(0.0, 0.0));
    for (int i = 1; h * i < 2.0; ++i) {
      writer.append(row(h * i, 1e-10), {});
      if (rest > 0.0 && i % 3 != 0) writer.append(row(h * i + rest, -1e-10), {});
    }
    writer.close(RunStatus::completed, {});
    return file(name);
  };
  const auto a = write_rows("a.h5", 0.0123, 0.0), b = write_rows("b.h5", 0.02, 2e-8);
  EXPECT_LT(relative_error(a, b, "left.x"), 1e-8);
  EXPECT_LT(relative_error(b, a, "left.x"), 1e-8);
}

}  // namespace concord::test
