#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "expression/differentiation.hpp"
#include "expression/expression_list.hpp"
#include "expression/expression_scan.hpp"
#include "expression/program.hpp"

namespace concord {
namespace functions_page_test {

/// A row of the table in doc/functions.md.
struct Row {
  std::vector<std::string> functions;
  std::string first, second;
  double from, to;
  std::vector<std::string> kink;  ///< x, first, second
};

/// The cells between bars; \| is a bar in a cell.
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> result(1);
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '|')
      result.emplace_back();
    else if (line.compare(i, 2, "\\|") != 0)
      result.back() += line[i];
    else
      result.back() += line[++i];
  }
  return result;
}

/// What stands in backquotes.
std::vector<std::string> quoted(const std::string& cell) {
  std::vector<std::string> result;
  for (std::size_t begin = cell.find('`'); begin != std::string::npos;) {
    const std::size_t end = cell.find('`', begin + 1);
    result.push_back(cell.substr(begin + 1, end - begin - 1));
    begin = cell.find('`', end + 1);
  }
  return result;
}

std::vector<Row> rows() {
  std::ifstream page(FUNCTIONS_PAGE);
  std::vector<Row> result;
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    const auto all = cells(line);
    result.push_back({quoted(all.at(0)), quoted(all.at(1)).at(0), quoted(all.at(2)).at(0),
                      std::stod(all.at(3)), std::stod(all.at(4)), quoted(all.at(5))});
  }
  return result;
}

constexpr double k = 1.5;
const ExpressionNames names{{{"x", 0}}, {{"k", k}}};

using Evaluated = std::array<double, 3>;

/// Value, first and second derivative by x.
Evaluated evaluated(const std::string& text, double x) {
  ExpressionGraph graph;
  const NodeId root = graph.add(read_expression({text, "page"}, names), names);
  TotalDerivative derivative(graph, {graph.constant(1.0)});
  const NodeId first = derivative.of(root);
  const std::array<NodeId, 3> results = {root, first, derivative.of(first)};
  std::vector<double> constants;
  const auto program = std::make_shared<const Program>(graph, results, 1, constants);
  Evaluation evaluation(program, constants);
  evaluation.variables()[0] = x;
  Evaluated result;
  evaluation.run(result);
  return result;
}

TEST(FunctionsPage, says_what_derivatives_are) {
  ASSERT_GT(rows().size(), 40u);
  for (const Row& row : rows())
    for (const std::string& function : row.functions)
      for (int i = 0; i <= 40; ++i) {
        const double x = row.from + (row.to - row.from) * (i + 0.37) / 41.0;
        const double first = evaluated(row.first, x)[0], second = evaluated(row.second, x)[0];
        const auto found = evaluated(function, x);
        EXPECT_NEAR(found[1], first, 1e-12 * std::abs(first)) << function << " at " << x;
        EXPECT_NEAR(found[2], second, 1e-12 * std::abs(second)) << function << " at " << x;
      }
}

TEST(FunctionsPage, says_what_derivatives_are_at_kinks) {
  std::size_t count = 0;
  for (const Row& row : rows())
    for (const std::string& function : row.functions) {
      if (row.kink.empty()) continue;
      ++count;
      const auto found = evaluated(function, evaluated(row.kink.at(0), 0.0)[0]);
      EXPECT_EQ(found[1], evaluated(row.kink.at(1), 0.0)[0]) << function;
      EXPECT_EQ(found[2], evaluated(row.kink.at(2), 0.0)[0]) << function;
    }
  EXPECT_GT(count, 20u);
}

TEST(FunctionsPage, has_every_function) {
  std::set<std::string> told;
  for (const Row& row : rows())
    for (const std::string& function : row.functions)
      for (const NameUse& use : names_used(function))
        if (use.called) told.insert(use.name);
  for (const std::string& name : function_names()) EXPECT_TRUE(told.contains(name)) << name;
}

}  // namespace functions_page_test
}  // namespace concord
