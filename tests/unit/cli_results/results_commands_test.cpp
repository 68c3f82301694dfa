#include "cli/results_commands.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <vector>

#include "cli/command.hpp"
#include "concord/errors.hpp"
#include "results_fixture.hpp"

namespace concord::test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ResultsCommands : public ResultsFixture {
 protected:
  std::string printed(int (*command)(std::span<const std::string>), const Arguments& arguments) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(command(arguments), 0);
    return testing::internal::GetCapturedStdout();
  }
  static std::string error(int (*command)(std::span<const std::string>),
                           const Arguments& arguments) {
    try {
      command(arguments);
      return "no error";
    } catch (const InputError& e) {
      return e.what();
    }
  }
  /// Relative L2 and maximum of one variable in the table of compare.
  static std::pair<double, double> row(const std::string& table, const std::string& variable) {
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string name, unit;
      double relative = NAN, percent = NAN, maximum = NAN;
      words >> name >> unit >> relative >> percent >> maximum;
      if (name != variable) continue;
      EXPECT_NEAR(percent, 100.0 * relative, 1e-6 * percent);
      return {relative, maximum};
    }
    ADD_FAILURE() << "no row " << variable << " in\n" << table;
    return {NAN, NAN};
  }
};

}  // namespace

TEST_F(ResultsCommands, CompareGivesTheErrorOfAKnownDisturbance) {
  const auto a = write("a.h5", 101, [](double t) { return std::sin(t) + 0.5; });
  const auto b = write("b.h5", 101, [](double t) { return std::sin(t); });
  double sum = 0.0;
  for (int i = 0; i <= 100; ++i) sum += std::pow(std::sin(0.02 * i), 2);
  const std::string table = printed(compare_command, {a, b});
  const auto [relative, maximum] = row(table, "left.x");
  EXPECT_NEAR(relative, std::sqrt(101 * 0.25 / sum), 1e-6 * relative);
  EXPECT_NEAR(maximum, 0.5, 1e-6);
  EXPECT_EQ(row(printed(compare_command, {a, a}), "left.x").first, 0.0);
}

TEST_F(ResultsCommands, CompareInterpolatesOtherTimeGrids) {
  const auto wave = [](double t) { return std::sin(3 * t); };
  const auto a = write("a.h5", 38, wave), coarse = write("coarse.h5", 21, wave),
             fine = write("fine.h5", 41, wave);
  const std::string with_coarse = printed(compare_command, {a, coarse});
  const std::string with_fine = printed(compare_command, {a, fine});
  // Degree 7 on points h apart: error of order h^8; at the ends of the grid, so bounded loosely.
  EXPECT_LT(row(with_fine, "left.x").first, 1e-7);
  EXPECT_GT(row(with_coarse, "left.x").first / row(with_fine, "left.x").first, 100.0);
  // The input has slopes: the same degree on half the rows.
  EXPECT_LT(row(with_fine, "left.u").first, row(with_fine, "left.x").first);
  EXPECT_GT(row(with_coarse, "left.u").first / row(with_fine, "left.u").first, 100.0);
}

/// Two smooth pieces that meet at `at`, where rows hold what was before: sin(3 t), then as much
/// more as `jump` and `bend` say.
std::function<double(double)> broken(double at, double jump, double bend) {
  return [=](double t) {
    const double later = t - at;
    return std::sin(3 * t) + (later > 1e-9 ? jump + bend * later * std::exp(-later) : 0.0);
  };
}

/// Exact runs on different grids, all with a row at the break, differ by interpolation on one side
/// of it, whether the files know of the break or not.
TEST_F(ResultsCommands, CompareNeverInterpolatesAcrossJumpsAndKinks) {
  const std::vector<std::vector<double>> told{{}, {1.0}};
  for (const std::vector<double>& events : told) {
    for (const double size : {1.0, 1e-3, 1e3}) {
      for (const bool jumps : {true, false}) {
        const auto signal = broken(1.0, jumps ? size : 0.0, jumps ? 0.0 : size);
        const auto a = write("a.h5", 281, signal, 0.0, events);
        const auto b = write("b.h5", 201, signal, 0.0, events);
        const double relative = row(printed(compare_command, {a, b}), "left.x").first;
        // A kink of 1e-3 is too small beside the points' distance to show without being told.
        EXPECT_LT(relative, events.empty() ? 2e-7 : 1e-8) << size << " " << jumps;
      }
    }
  }
}

/// A break that only the model knows of: between rows too few to show it.
TEST_F(ResultsCommands, CompareKnowsEventsFromTheFiles) {
  const std::vector<double> events{0.9, 1.0, 1.1};
  const auto steps = [](double t) { return t > 1.0 + 1e-9 && t < 1.1 + 1e-9 ? 1.0 + t : -t * t; };
  const auto a = write("a.h5", 121, steps, 0.0, events);
  const auto b = write("b.h5", 101, steps, 0.0, events);
  EXPECT_LT(row(printed(compare_command, {a, b}), "left.x").first, 1e-10);
}

/// Smooth rows are no breaks: noise of integrators, few points per wave, straight lines.
TEST_F(ResultsCommands, CompareKeepsItsAccuracyOnSmoothSignals) {
  for (const double frequency : {3.0, 12.0, 25.0}) {
    const auto wave = [=](double t) { return std::sin(frequency * t) + 2.0; };
    const auto a = write("a.h5", 88, wave), b = write("b.h5", 101, wave);
    const double h = frequency * 0.02;
    EXPECT_LT(row(printed(compare_command, {a, b}), "left.x").first, 0.1 * std::pow(h, 8) + 1e-13)
        << frequency;
  }
}

TEST_F(ResultsCommands, CompareSelectsVariables) {
  const auto a = write("a.h5", 5, [](double t) { return t; });
  const std::string table = printed(compare_command, {a, a, "--variables", "left.*"});
  EXPECT_NE(table.find("left.x"), std::string::npos);
  EXPECT_EQ(table.find("right.x"), std::string::npos);
  EXPECT_NE(error(compare_command, {a, a, "-v", "left.y"}).find("left.x"), std::string::npos);
}

TEST_F(ResultsCommands, CompareRefusesDisjointTimes) {
  const auto a = write("a.h5", 5, [](double t) { return t; });
  const auto b = write(
      "b.h5", 5, [](double t) { return t; }, 10.0);
  EXPECT_NE(error(compare_command, {a, b}).find("common time"), std::string::npos);
}

TEST_F(ResultsCommands, ExportWritesEveryBit) {
  const auto a = write("a.h5", 3, [](double t) { return t + 0.1; });
  const std::string csv = printed(export_command, {a, "--variables=left.x,left.u"});
  std::istringstream lines(csv);
  std::string header, start, second;
  std::getline(lines, header);
  std::getline(lines, start);
  std::getline(lines, second);
  EXPECT_EQ(header, "time,left.x,left.u");
  EXPECT_EQ(start, "0,0.10000000000000001,0.10000000000000001");
  EXPECT_EQ(second, "1,1.1000000000000001,1.1000000000000001");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
  printed(export_command, {a, "--variables=left.x,left.u", "-o", file("out.csv")});
  EXPECT_EQ(text_of(file("out.csv")), csv);
}

TEST_F(ResultsCommands, ExportReportsFilesItCannotWrite) {
  const auto a = write("a.h5", 2000, [](double t) { return t; });
  EXPECT_NE(error(export_command, {a, "-o", file("missing/out.csv")}).find("cannot write"),
            std::string::npos);
  EXPECT_NE(error(export_command, {a, "-o", "/dev/full"}).find("No space"), std::string::npos);
  const std::string before = text_of(a);
  EXPECT_NE(error(export_command, {a, "-o", a}).find("itself"), std::string::npos);
  EXPECT_EQ(text_of(a), before);
}

TEST_F(ResultsCommands, WrongCommandLinesAreInputErrors) {
  const auto a = write("a.h5", 5, [](double t) { return t; });
  EXPECT_NE(error(compare_command, {a}).find("2 results files"), std::string::npos);
  EXPECT_NE(error(compare_command, {a, a, "-o", "x"}).find("no option"), std::string::npos);
  EXPECT_NE(error(export_command, {a, "--nonsense"}).find("--nonsense"), std::string::npos);
  EXPECT_NE(error(export_command, {a, "-o"}).find("needs a value"), std::string::npos);
  EXPECT_NE(help_page(*find_command("export"), HelpLength::brief).find("concord export"),
            std::string::npos);
}

}  // namespace concord::test
